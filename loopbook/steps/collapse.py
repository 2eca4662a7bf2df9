from __future__ import annotations

from loopbook.steps.arguments import MAX_COLLAPSE, Integer, Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Made


class Collapse(Step):
    """One loop over all iterations of several parallel loops in each other.

    Before ``collapse L0 2``::

        for i in 0 … n:
            for j in 0 … m: S(i, j)

    and after it, ``L0.flat``::

        for k in 0 … n * m: S(k / m, k % m)
    """

    name = "collapse"
    textbook = "loop collapsing, coalescing"
    source = "Polychronopoulos, ICPP 1987"
    example = "collapse L0 2"
    makes = ("{loop}.flat",)
    reorders = True
    refines = True
    traits = {"threads": 0.3}

    loop = Loop()
    loops_together = Integer(2, MAX_COLLAPSE, label="count")

    def transformations(self, bench: Bench) -> Made:
        flat = bench.docc.MapCollapse(bench.loop(self.loop), self.loops_together)
        yield flat, f"{self.loop}.flat"
