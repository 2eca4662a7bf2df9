from __future__ import annotations

from loopbook.steps.arguments import MAX_SKEW, Integer, Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Made


class Skew(Step):
    """A loop counted from where the loop around it is; nothing is reordered.

    Before ``skew L0 L1``::

        for i: for j in a … b: S(i, j)

    and after it::

        for i: for j in a + i … b + i: S(i, j - i)

    An interchange then runs along diagonals, and a triangle ``j < n - i`` stands as ``i <= j < n``.
    """

    name = "skew"
    textbook = "loop skewing"
    source = "Wolfe, IJPP 1986"
    example = "skew L0 L1 1"
    reorders = True  # docc's interchange after it is believed too much
    frees = True
    only_orders = True
    traits = {"skew": 0.4}

    outer_loop = Loop()
    inner_loop = Loop()
    factor = Integer(-MAX_SKEW, MAX_SKEW, default=1)

    def check(self, bench: Bench) -> None:
        if abs(self.factor) > 1:
            # Bounds are divided by the factor, and docc's interchange rounds negative ones towards
            # zero (seen with 0.8.1): iterations are lost. `wavefront` skews by more.
            raise bench.refusal(f"'skew' by {self.factor} would lose iterations when interchanged")
        super().check(bench)

    def transformations(self, bench: Bench) -> Made:
        outer, inner = bench.loop(self.outer_loop), bench.loop(self.inner_loop)
        yield bench.docc.LoopSkewing(outer, inner, self.factor), self.inner_loop
