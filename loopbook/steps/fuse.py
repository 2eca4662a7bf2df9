from __future__ import annotations

from dataclasses import replace

from loopbook.dependence import carries_nothing, check_order
from loopbook.dependence.body import Statement, statements, write_loop
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import neighbours, put_for, serialise


class Fuse(Step):
    """One loop for two neighbours over the same range.

    Before ``fuse L0 L1``::

        for i: S(i)
        for j: T(j)

    and after it::

        for i: S(i); T(i)
    """

    name = "fuse"
    textbook = "loop fusion"
    source = "Kennedy and McKinley, LCPC 1993"
    example = "fuse L1 L2"
    traits = {"fuse": 0.5}

    first_loop = Loop()
    second_loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if no iteration of the second loop needs what a later one of the first makes."""
        region, first, second = neighbours(editor, self.first_loop, self.second_loop)
        if (first.lows, first.highs, first.step) != (second.lows, second.highs, second.step):
            raise IllegalStepError("the loops run over different ranges")
        fused = replace(first, children=[*first.children, *second.children])
        moved = {s: {first.variable: {second.variable: 1}} for s, _ in statements(second)}
        check_order([first, second], [fused], moved, region.around)
        parallel = first.loop.kind == second.loop.kind == "map"
        serialise(fused)
        old = {second.variable: first.variable}
        tail = [put_for(node, old) for node in write_loop(second).body.children]
        whole = replace(fused, children=[*first.children, Statement(tail)])
        region.put(first, whole, count=2)
        number = editor.id_of(self.first_loop)
        if parallel and carries_nothing(region.read(number), region.around):
            editor.put(self.first_loop, replace(editor.at(number), kind="map"))
