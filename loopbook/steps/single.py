from __future__ import annotations

from dataclasses import replace

from loopbook.program.tree import SEQUENTIAL, VECTORISED, Loop
from loopbook.program.walk import Inner, has_loops, rebuilt
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor


class Single(Step):
    """No threads but those that the recipe asks for, whatever docc would do.

    docc gives threads to every outermost parallel loop that a recipe leaves alone. Inside of serial
    loops that means to start and stop them anew in every iteration, and a short loop is not worth
    it. Before ``single``::

        for t:
            #pragma omp parallel for
            for i: S(t, i)

    and after it::

        for t:
            for i: S(t, i)
    """

    name = "single"
    textbook = "serial schedule"
    source = "docc's own, where there is but one thread"
    example = "single"
    refines = True
    traits = {"single": 0.1}

    def apply(self, editor: Editor) -> None:
        """Always legal: loops get the schedules that docc gives them where there is but one thread.

        That is: parallel loops and reductions that hold no other loop are vectorised, the others
        run in order. Loops that a step has scheduled stay what they are.
        """

        def scheduled(node: Inner) -> Inner:
            if not isinstance(node, Loop) or node.id not in editor.known:
                return node
            if node.schedule != SEQUENTIAL or node.kind == "for":
                return node
            if has_loops(node):
                return replace(node, kind="for", reductions=None)
            return replace(node, schedule=VECTORISED)

        editor.program = rebuilt(editor.program, scheduled)
