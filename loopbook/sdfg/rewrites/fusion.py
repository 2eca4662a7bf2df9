"""How `fuse` is done where docc refuses.

docc fuses maps only; this one looks at the dependences of any two loops: no iteration of the second
loop may need what a later one of the first loop makes.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence import check_order
from loopbook.errors import IllegalStepError
from loopbook.sdfg import affine
from loopbook.sdfg.looptree import LoopNode, statements
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.region import Region, put_for, serialise
from loopbook.steps.fuse import Fuse


@rewriting(Fuse)
def fuse(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``for i: S; for j: T`` becomes ``for i: S; T``.

    Raises:
        IllegalStepError: the loops are no neighbours, or run over different ranges, or a dependence
            forbids it.
    """
    first_id, second_id = loops
    region = Region.of(draft, first_id)
    place = region.place(first_id)
    if region.place(second_id) != place + 1:
        raise IllegalStepError("the second loop does not follow the first one")
    first, second = region.tree(first_id), region.tree(second_id)
    if (first.lows, first.highs, first.step) != (second.lows, second.highs, second.step):
        raise IllegalStepError("the loops run over different ranges")
    fused = LoopNode(
        first.element,
        first.variable,
        first.lows,
        first.highs,
        first.step,
        [*first.children, *second.children],
    )
    old = {second.variable: {first.variable: 1}}
    moved = {s: {first.variable: {second.variable: 1}} for s, _ in statements(second)}
    check_order([first, second], [fused], moved, region.around)
    tail = second.element["root"]["children"]
    serialise(fused)
    region.put(place, 2, [fused])
    put_for(tail, {name: affine.text(form) for name, form in old.items()})
