from __future__ import annotations

from dataclasses import replace

from loopbook.errors import IllegalStepError
from loopbook.program.tree import SEQUENTIAL, VECTORISED
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor


class Vectorize(Step):
    """An innermost loop, or all its copies, in vectors of consecutive iterations.

    Before ``vectorize L1*``::

        for j in 0 … n: a[j] += b[j]

    and after it, where vectors have 8 lanes::

        for j in 0 … n by 8: a[j : j + 8] += b[j : j + 8]
    """

    name = "vectorize"
    textbook = "vectorisation"
    source = "Allen and Kennedy, ACM TOPLAS 9(4), 1987"
    example = "vectorize L1*"
    refines = True
    only_orders = True
    vectors = True
    traits = {"vectors": 0.7}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal for a parallel loop or a reduction."""
        loop = editor.loop(self.loop)
        if loop.kind == "for" or loop.schedule != SEQUENTIAL:
            raise IllegalStepError(f"{self.loop} is no parallel loop, and no reduction")
        editor.put(self.loop, replace(loop, schedule=VECTORISED))
