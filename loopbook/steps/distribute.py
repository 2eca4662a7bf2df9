from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopbook.dependence import check_order
from loopbook.dependence.apart import taken_apart
from loopbook.dependence.body import Body, LoopNode, Statement, write_loop
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import put_for, read_in_place, serialise


class Distribute(Step):
    """A loop for each part of a loop's body, as far as dependences allow.

    Before ``distribute L0``::

        for i: S(i); T(i)

    and after it, ``L0`` and ``L0.part1``::

        for i: S(i)
        for i: T(i)
    """

    name = "distribute"
    textbook = "loop distribution, fission"
    source = "Kennedy and McKinley, LCPC 1993"
    example = "distribute L0"
    makes = ("{loop}.part",)
    frees = True
    traits = {"distribute": 0.5}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal as often as dependences allow; it is refused if they forbid all of it.

        docc's own refuses where two accesses of one array are not equal. Here whatever runs around
        in a circle stays in one loop with what lies between (a coarse form of the typed fusion of
        Kennedy and McKinley). Of a body that is one run of statements, pieces without common
        results are the elements.
        """
        region, whole = read_in_place(editor, self.loop)
        waiting: Sequence[Body] = whole.children
        if len(waiting) == 1 and isinstance(waiting[0], Statement):
            waiting = taken_apart(waiting[0], whole.variable, editor.program)
        parts = _parts(replace(whole, children=[*waiting]), region.around)
        if len(parts) < 2:
            raise IllegalStepError("dependences hold the loop's body together")
        if whole.loop.kind == "reduce":
            serialise(parts[0])
        for place, part in enumerate(parts[1:], start=1):
            variable = editor.variable(whole.variable, whole.variable)
            name = f"{editor.name_of(whole.loop)}.part{place}"
            loop = editor.new_loop(name, variable, "0", "0", like=whole.loop)
            old = {whole.variable: variable}
            nodes = [put_for(node, old) for node in write_loop(part).body.children]
            parts[place] = replace(part, loop=loop, variable=variable, children=[Statement(nodes)])
        region.put(whole, *parts)


def _parts(whole: LoopNode, around: Sequence[LoopNode]) -> list[LoopNode]:
    """The loop once for each part of its body, each as small as dependences allow.

    Each cut is a question about the whole loop with all cuts so far: its dependences are worked out
    once.
    """
    parts: list[LoopNode] = []
    begin, children = 0, whole.children
    for end in range(1, len(children)):
        head = replace(whole, children=children[begin:end])
        tail = replace(whole, children=children[end:])
        if _allowed(whole, [*parts, head, tail], around):
            parts.append(head)
            begin = end
    return [*parts, replace(whole, children=children[begin:])]


def _allowed(whole: LoopNode, parts: Sequence[LoopNode], around: Sequence[LoopNode]) -> bool:
    try:
        check_order([whole], parts, {}, around)
    except IllegalStepError:
        return False
    return True
