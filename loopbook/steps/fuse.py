from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Drawing, Made


class Fuse(Step):
    """One loop for two neighbours over the same range.

    Before ``fuse L0 L1``::

        for i: S(i)
        for j: T(j)

    and after it::

        for i: S(i); T(i)
    """

    name = "fuse"
    textbook = "loop fusion"
    source = "Kennedy and McKinley, LCPC 1993"
    example = "fuse L1 L2"
    reorders = True
    traits = {"fuse": 0.5}

    first_loop = Loop()
    second_loop = Loop()

    def transformations(self, bench: Bench) -> Made:
        first, second = bench.loop(self.first_loop), bench.loop(self.second_loop)
        yield bench.docc.MapFusion(first, second), self.first_loop

    def draw(self, drawing: Drawing) -> bool:
        return drawing.fuse(self.first_loop, self.second_loop)
