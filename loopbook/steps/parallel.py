from __future__ import annotations

from dataclasses import replace

from loopbook.errors import IllegalStepError
from loopbook.program import tree, walk
from loopbook.program.tree import SEQUENTIAL, THREADS
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor


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
    refines = True
    traits = {"threads": 1.0}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal for a parallel loop that shares nothing with what is around it but arrays in
        memory.

        Every variable that the loop writes is private to its threads, local buffers included; what
        it was given before the loop is not handed over, and nothing is after it. There are no
        threads within threads: those of a loop around have all cores already, and those of loops
        inside make way.
        """
        loop = editor.loop(self.loop)
        if loop.kind != "map" or loop.schedule != SEQUENTIAL:
            raise IllegalStepError(f"{self.loop} is no parallel loop")
        if any(_is_shared(node) for node in editor.around(self.loop)):
            return
        editor.put(self.loop, replace(_without_threads(loop), schedule=THREADS))


def _is_shared(node: object) -> bool:
    return isinstance(node, tree.Loop) and node.schedule.is_shared


def _without_threads(loop: tree.Loop) -> tree.Loop:
    """A loop of whose iterations each is one thread's."""

    def alone(node: walk.Inner) -> walk.Inner:
        if isinstance(node, tree.Loop) and node.schedule.is_shared:
            return replace(node, schedule=SEQUENTIAL)
        return node

    return walk.rebuilt(loop, alone) if any(map(_is_shared, walk.preorder(loop))) else loop
