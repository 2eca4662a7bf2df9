from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Made


class Unroll(Step):
    """All iterations of a loop of constant length, or of its copies, written out.

    Before ``unroll L0``::

        for i in ii … ii + 4: S(i)

    and after it::

        S(ii); S(ii + 1); S(ii + 2); S(ii + 3)
    """

    name = "unroll"
    textbook = "loop unrolling; outside of other loops, unroll-and-jam"
    source = "Carr and Kennedy, ACM TOPLAS 16(6), 1994"
    example = "unroll L0*"
    splits = True
    refines = True
    only_orders = True
    rows = True
    traits = {"unroll": 1.0}

    loop = Loop()

    def transformations(self, bench: Bench) -> Made:
        yield bench.docc.UnrollTransform(bench.loop(self.loop)), self.loop
