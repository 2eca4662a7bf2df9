from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopbook.steps.arguments import Container, Keyword, Loop
from loopbook.steps.base import Step
from loopbook.steps.boxes import Use
from loopbook.steps.editor import Editor
from loopbook.steps.staging import staged


class Stage(Step):
    """What a loop uses of an array, in a local buffer while it runs.

    Before ``stage L2 A0 out``::

        for k: C[i, j] += A[i, k] * B[k, j]

    and after it, the copies being ``L2.load`` and ``L2.store``::

        c = C[i, j]
        for k: c += A[i, k] * B[k, j]
        C[i, j] = c

    It copies before the loop, and what the loop writes also back after it. Of an array that the
    loop both reads and writes, in different places, ``in`` takes what is only read and ``out`` what
    is written.
    """

    name = "stage"
    textbook = "data copying; packing; accumulation in registers"
    source = "Lam, Rothberg and Wolf, ASPLOS 1991"
    example = "stage L2 A2 out"
    makes = ("{loop}.load", "{loop}.store")
    refines = True
    traits = {"hold": 1.5}

    loop = Loop()
    container = Container()
    direction = Keyword("in", "out", "auto", default="auto")

    def known_by(self) -> Mapping[str, float]:
        # A sum held in a buffer is something else than an operand copied to one.
        return {**self.traits, "sums": 1.0} if self.direction == "out" else self.traits

    def apply(self, editor: Editor) -> None:
        """Legal if nothing else that the loop does touches what the copies stand for, one of them
        writing; accesses beside each other, whose indices differ by constants, are held together.

        What is written back is the box, which may be more than the loop uses of it. Nothing else in
        the loop may write then, and loops around are parallel only if that is still so.
        """
        number, container = editor.id_of(self.loop), editor.container(self.container)
        staged(editor, number, self.loop, container, self._is_other)

    def _is_other(self, members: Sequence[Use]) -> bool:
        """Whether the direction speaks of other accesses than these."""
        written = any(use.touch.write for use in members)
        return self.direction not in ("auto", "out" if written else "in")
