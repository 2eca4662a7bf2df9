"""How `push` is done, where the dependences allow the order."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence import check_order
from loopbook.errors import IllegalStepError
from loopbook.sdfg import affine
from loopbook.sdfg.looptree import LoopNode, statements
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.region import Region, child_loop, put_for, serialise
from loopbook.steps.push import Push


@rewriting(Push)
def push(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Push what the inner loop gathers.

    Raises:
        IllegalStepError: the inner loop does not run from the outer one's start up to its variable,
            or a dependence forbids it.
    """
    outer_id, inner_id = loops
    region = Region.of(draft, outer_id)
    outer = region.tree(outer_id)
    inner = child_loop(outer, inner_id)
    pivot, gathered = outer.variable, inner.variable
    gaps = [affine.minus(high, {pivot: 1}) for high in inner.highs]
    if (
        inner.lows != outer.lows
        or len(gaps) != 1
        or set(gaps[0]) - {""}
        or (outer.step, inner.step) != (1, 1)
    ):
        raise IllegalStepError("the inner loop does not run up to the outer one's variable")
    first = affine.plus({pivot: 1}, {"": 1 - gaps[0].get("", 0)})
    pushed = LoopNode(inner.element, gathered, [first], outer.highs, 1, inner.children)
    rest = [child for child in outer.children if child is not inner]
    after = LoopNode(outer.element, pivot, outer.lows, outer.highs, 1, [*rest, pushed])
    swap = {pivot: {gathered: 1}, gathered: {pivot: 1}}
    moved = {statement: swap for statement, _ in statements(inner)}
    check_order([outer], [after], moved, region.around)
    serialise(after, pushed)
    region.put(region.place(outer_id), 1, [after])
    put_for(inner.element["root"]["children"], {pivot: gathered, gathered: pivot})
