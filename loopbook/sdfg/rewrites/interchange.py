"""How `interchange` is done where docc refuses.

docc's own interchange takes two accesses of one array for dependent unless they are equal, and
wants bounds that do not depend on each other; this one looks at the dependences exactly and turns
triangles round. The inner loop may hold anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence import check_order
from loopbook.errors import IllegalStepError
from loopbook.sdfg import affine
from loopbook.sdfg.affine import Linear
from loopbook.sdfg.looptree import LoopNode
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.region import Region, serialise
from loopbook.steps.interchange import Interchange


@rewriting(Interchange)
def interchange(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``for i: for j: S`` becomes ``for j: for i: S``.

    Raises:
        IllegalStepError: the loops are not perfectly nested, a dependence forbids it, or the bounds
            cannot be turned round.
    """
    outer_id, inner_id = loops
    region = Region.of(draft, outer_id)
    outer = region.tree(outer_id)
    inner = outer.children[0]
    if (
        len(outer.children) != 1
        or not isinstance(inner, LoopNode)
        or inner.element["element_id"] != inner_id
    ):
        raise IllegalStepError("the second loop is not all that the first one holds")
    lifted, sunk = turned(outer, inner)
    check_order([outer], [lifted], {}, region.around)
    region.tighten(lifted)
    # A map's iterations do not need each other, wherever it stands; those of the inner one only
    # within one iteration of the outer one, unless that is a map itself.
    maps = [loop.element.get("sub_type") == "map" for loop in (outer, inner)]
    if not maps[0]:
        serialise(sunk)
    if not all(maps):
        serialise(lifted)
    region.put(region.place(outer_id), 1, [lifted])


def turned(outer: LoopNode, inner: LoopNode) -> tuple[LoopNode, LoopNode]:
    """The two loops with bounds for the other order: the new outer one, holding the new inner one.

    Raises:
        IllegalStepError: a bound has the outer variable with a factor, or steps are in the way.
    """
    depending = any(outer.variable in bound for bound in (*inner.lows, *inner.highs))
    if depending and (outer.step != 1 or inner.step != 1):
        raise IllegalStepError("bounds that depend on a loop with a step cannot be turned round")
    lows: list[Linear] = []
    highs: list[Linear] = []
    inner_lows, inner_highs = list(outer.lows), list(outer.highs)
    value = {inner.variable: 1}
    for bound, is_low in [(b, True) for b in inner.lows] + [(b, False) for b in inner.highs]:
        factor = bound.get(outer.variable, 0)
        into = lows if is_low else highs
        if factor == 0:
            into.append(bound)
            continue
        if abs(factor) != 1:
            raise IllegalStepError("a bound has the outer variable with a factor")
        rest = {name: f for name, f in bound.items() if name != outer.variable}
        # The outer variable's own range gives the bound for all of its values …
        ends = outer.lows if is_low == (factor == 1) else [_last(high) for high in outer.highs]
        into += [affine.plus(rest, end, factor) for end in ends]
        # … and the bound, solved for it, says which of them remain.
        solved = affine.minus(value, rest)
        if factor == -1:
            (inner_lows if is_low else inner_highs).append({n: -f for n, f in solved.items()})
        else:
            (inner_highs if is_low else inner_lows).append(affine.shifted(solved, 1))
    sunk = LoopNode(
        outer.element, outer.variable, inner_lows, inner_highs, outer.step, inner.children
    )
    return LoopNode(inner.element, inner.variable, lows, highs, inner.step, [sunk]), sunk


def _last(high: Linear) -> Linear:
    return affine.shifted(high, -1)
