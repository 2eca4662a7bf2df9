"""How `cut` is done: the loop is doubled, and bounds are added. The order stays what it was."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import IllegalStepError
from loopbook.sdfg import affine
from loopbook.sdfg.rewrites.copies import duplicate
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.region import Region
from loopbook.steps.cut import Cut


@rewriting(Cut)
def cut(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``cut L1 L0.tile``: the iterations of ``L1`` below ``L0.tile``, and the others (``.rest``).

    With a number, the cut lies that much further on: ``cut L2 L1.tile 32`` is where the next tile
    of 32 begins. The order of the iterations stays what it was.

    Raises:
        IllegalStepError: the second loop is not around the first one, or bounds are not affine.
    """
    loop_id, at_id = loops
    region = Region.of(draft, loop_id)
    head = region.tree(loop_id)
    point = next((o for o in region.around if o.element["element_id"] == at_id), None)
    if point is None:
        raise IllegalStepError("the second loop is not around the first one")
    if head.step != 1:
        raise IllegalStepError("a loop with a step cannot be cut")
    where = affine.shifted({point.variable: 1}, numbers[0] if numbers else 0)
    place = region.place(loop_id)
    region.siblings.insert(place + 1, duplicate(draft, head.element))
    rest = region.tree(region.siblings[place + 1]["element_id"])
    head.highs = [where, *head.highs]
    rest.lows = [where, *rest.lows]
    region.tighten(head)
    region.tighten(rest)
    region.put(place, 2, [head, rest])
