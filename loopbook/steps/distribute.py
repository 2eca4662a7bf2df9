from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Drawing, Made


class Distribute(Step):
    """A loop for each part of a loop's body, as far as dependences allow.

    Before ``distribute L0``::

        for i: S(i); T(i)

    and after it, ``L0`` and ``L0.part1``::

        for i: S(i)
        for i: T(i)
    """

    name = "distribute"
    textbook = "loop distribution, fission"
    source = "Kennedy and McKinley, LCPC 1993"
    example = "distribute L0"
    makes = ("{loop}.part",)
    reorders = True
    frees = True
    traits = {"distribute": 0.5}

    loop = Loop()

    def transformations(self, bench: Bench) -> Made:
        yield bench.docc.LoopDistribute(bench.loop(self.loop)), f"{self.loop}.part"

    def draw(self, drawing: Drawing) -> bool:
        return drawing.distribute(self.loop)
