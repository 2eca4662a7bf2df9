"""How `distribute` is done where docc refuses.

docc's own distribution refuses where two accesses of one array are not equal; this one looks at the
dependences: whatever runs around in a circle stays in one loop with what lies between (a coarse
form of Kennedy and McKinley's typed fusion, LCPC 1993).
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence import check_order
from loopbook.errors import IllegalStepError
from loopbook.sdfg.looptree import LoopNode, Statement, Tree
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.pieces import pieces
from loopbook.sdfg.rewrites.region import Region, put_for, serialise
from loopbook.steps.distribute import Distribute


@rewriting(Distribute)
def distribute(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``for i: S; T`` becomes ``for i: S; for i: T``, as often as dependences allow.

    Of a body that is one run of statements, pieces without common results are the elements. The
    first loop keeps its name; the others are called ``.part``.

    Raises:
        IllegalStepError: there is nothing to distribute, or dependences forbid all of it.
    """
    (loop_id,) = loops
    region = Region.of(draft, loop_id)
    whole = region.tree(loop_id)
    parts: list[LoopNode] = []
    waiting: list[Tree] = list(whole.children)
    if len(waiting) == 1 and isinstance(waiting[0], Statement):
        waiting = [*pieces(draft, waiting[0], whole.variable)]
    while waiting:
        for count in range(1, len(waiting) + 1):
            head, tail = _with(whole, waiting[:count]), _with(whole, waiting[count:])
            if not tail.children or _allowed(_with(whole, waiting), head, tail, region.around):
                parts.append(head)
                waiting = waiting[count:]
                break
    if len(parts) < 2:
        raise IllegalStepError("dependences hold the loop's body together")
    base = draft.names.get(loop_id, "X")
    for number, part in enumerate(parts[1:], start=1):
        part.variable = draft.fresh_variable(whole.variable, whole.variable)
        part.element = draft.loop(f"{base}.part{number}", part.variable, ("0", "0"), ())
    serialise(*parts)
    region.put(region.place(loop_id), 1, parts)
    for part in parts[1:]:
        put_for(part.element["root"]["children"], {whole.variable: part.variable})


def _with(loop: LoopNode, children: list[Tree]) -> LoopNode:
    return LoopNode(loop.element, loop.variable, loop.lows, loop.highs, loop.step, children)


def _allowed(whole: LoopNode, head: LoopNode, tail: LoopNode, around: Sequence[LoopNode]) -> bool:
    try:
        check_order([whole], [head, tail], {}, around)
    except IllegalStepError:
        return False
    return True
