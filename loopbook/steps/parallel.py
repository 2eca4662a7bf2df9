from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Made


class Parallel(Step):
    """The iterations of a parallel loop shared among threads.

    Before ``parallel L0``::

        for i: S(i)

    and after it::

        #pragma omp parallel for
        for i: S(i)
    """

    name = "parallel"
    textbook = "parallel loop, DOALL"
    source = "OpenMP Application Programming Interface"
    example = "parallel L0.tile"
    reorders = True
    refines = True
    traits = {"threads": 1.0}

    loop = Loop()

    def check(self, bench: Bench) -> None:
        super().check(bench)
        for one in bench.each(self):
            bench.keep_values(one.loop)

    def transformations(self, bench: Bench) -> Made:
        yield bench.docc.OMPTransform(bench.loop(self.loop)), self.loop
