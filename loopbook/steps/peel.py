from __future__ import annotations

from loopbook.steps.arguments import Keyword, Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Made


class Peel(Step):
    """Whole tiles apart from incomplete ones, so that their loops have constant bounds.

    Before ``peel L0``, where ``L0`` runs through a tile::

        for i in ii … min(ii + 4, n): S(i)

    and after it; loops inside have copies of their own (``L1.rest``)::

        if ii + 4 <= n:
            for i in ii … ii + 4: S(i)          # L0
        else:
            for i in ii … n: S(i)               # L0.rest

    With ``predicate`` the test stays in the loop.
    """

    name = "peel"
    textbook = "loop peeling, versioning of incomplete tiles"
    source = "Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, section 5.7"
    example = "peel L0"
    makes = ("{loop}.rest", "*.rest")
    splits = True
    refines = True
    only_orders = True
    traits = {"peel": 0.3}

    loop = Loop()
    form = Keyword("predicate", optional=True)

    def check(self, bench: Bench) -> None:
        super().check(bench)
        for one in bench.each(self):
            bench.keep_ends(one.loop)

    def transformations(self, bench: Bench) -> Made:
        predicate = self.form == "predicate"
        yield bench.docc.LoopPeeling(bench.loop(self.loop), predicate), f"{self.loop}.rest"
