"""How `delay` is done, where the dependences allow the order."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence import check_order
from loopbook.errors import IllegalStepError
from loopbook.sdfg.looptree import LoopNode
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.region import Region, child_loop
from loopbook.steps.delay import Delay


@rewriting(Delay)
def delay(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``delay L2``: run ``L2`` as the last thing in the loop around it.

    Raises:
        IllegalStepError: nothing is around it, or a dependence forbids it.
    """
    (loop_id,) = loops
    around = Region.of(draft, loop_id).around
    if not around:
        raise IllegalStepError("no loop is around it")
    parent_id = around[-1].element["element_id"]
    region = Region.of(draft, parent_id)
    parent = region.tree(parent_id)
    moving = child_loop(parent, loop_id)
    children = [*(child for child in parent.children if child is not moving), moving]
    after = LoopNode(
        parent.element, parent.variable, parent.lows, parent.highs, parent.step, children
    )
    check_order([parent], [after], {}, region.around)
    region.put(region.place(parent_id), 1, [after])
