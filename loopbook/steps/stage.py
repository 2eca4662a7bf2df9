from __future__ import annotations

from collections.abc import Mapping

from loopbook.steps.arguments import Container, Keyword, Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Drawing, Made


class Stage(Step):
    """What a loop uses of an array, in a local buffer while it runs.

    Before ``stage L2 A0 out``::

        for k: C[i, j] += A[i, k] * B[k, j]

    and after it, the copies being ``L2.load`` and ``L2.store``::

        c = C[i, j]
        for k: c += A[i, k] * B[k, j]
        C[i, j] = c

    ``in`` copies before the loop, ``out`` also back after it, ``auto`` as the loop needs it.
    """

    name = "stage"
    textbook = "data copying; packing; accumulation in registers"
    source = "Lam, Rothberg and Wolf, ASPLOS 1991"
    example = "stage L2 A2 out"
    makes = ("{loop}.load", "{loop}.store")
    splits = True
    refines = True
    traits = {"hold": 1.5}

    loop = Loop()
    container = Container()
    direction = Keyword("in", "out", "auto", default="auto")

    def known_by(self) -> Mapping[str, float]:
        # A sum held in a buffer is something else than an operand copied to one.
        return {**self.traits, "sums": 1.0} if self.direction == "out" else self.traits

    def check(self, bench: Bench) -> None:
        super().check(bench)
        for one in bench.each(self):
            bench.keep_staged(one.loop, one.container)

    def transformations(self, bench: Bench) -> Made:
        return bench.stagings(self.loop, self.container, self.direction)

    def draw(self, drawing: Drawing) -> bool:
        return drawing.stage(self.loop, self.container, self.direction)
