from __future__ import annotations

from dataclasses import replace

from loopbook.dependence import check_order
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import Region, child_loop


class Reorder(Step):
    """A loop moves behind what follows it in the same body.

    Distribution keeps the order in which a body's parts stand. Where a part feeds nothing that
    follows it in the same iteration, but what follows feeds it in later ones, it must stand last.
    Before ``reorder L1``::

        for i:
            for j: S(i, j)
            T(i)

    and after it::

        for i:
            T(i)
            for j: S(i, j)
    """

    name = "reorder"
    recorded_as = "delay"
    textbook = "statement reordering"
    source = "Allen and Kennedy, Optimizing Compilers for Modern Architectures, 2001, chapter 5"
    example = "reorder L2"
    traits = {"expand": 0.3}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if dependences allow the order."""
        number = editor.id_of(self.loop)
        around = Region.of(editor, number).around
        if not around:
            raise IllegalStepError("no loop is around it")
        parent_id = around[-1].loop.id
        assert parent_id is not None
        region = Region.of(editor, parent_id)
        parent = region.read(parent_id)
        moving = child_loop(parent, number)
        children = [*(child for child in parent.children if child is not moving), moving]
        after = replace(parent, children=children)
        check_order([parent], [after], {}, region.around)
        region.put(parent, after)
