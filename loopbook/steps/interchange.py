from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Drawing, Made


class Interchange(Step):
    """Two loops in the other order, also where the inner one's bounds depend on the outer one.

    Before ``interchange L0 L1``::

        for i in 0 … n:
            for j in i … n: S(i, j)

    and after it::

        for j in 0 … n:
            for i in 0 … j + 1: S(i, j)
    """

    name = "interchange"
    textbook = "loop interchange"
    source = "Wolf and Lam, A loop transformation theory, IEEE TPDS 1991"
    example = "interchange L0 L1"
    reorders = True
    only_orders = True
    slow_with_docc = True
    traits = {"order": 0.4}

    outer_loop = Loop()
    inner_loop = Loop()

    def check(self, bench: Bench) -> None:
        super().check(bench)
        bench.keep_tile_order(self)

    def transformations(self, bench: Bench) -> Made:
        outer, inner = bench.loop(self.outer_loop), bench.loop(self.inner_loop)
        yield bench.docc.LoopInterchange(outer, inner), self.outer_loop

    def draw(self, drawing: Drawing) -> bool:
        return drawing.interchange(self.outer_loop, self.inner_loop)
