"""How `skew` is done where docc refuses: its own skewing wants bounds that do not depend on each
other. Nothing is reordered, so this is always legal.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import IllegalStepError
from loopbook.sdfg import affine
from loopbook.sdfg.looptree import Statement, read_header, write_loop
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.region import Region, put_for
from loopbook.steps.skew import Skew


@rewriting(Skew)
def skew(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``skew L0 L1 1``: count the inner loop ``L1`` from the variable of ``L0`` on.

    Raises:
        IllegalStepError: the factor is not 1, the second loop is not inside the first one, or its
            bounds are not affine.
    """
    outer_id, inner_id = loops
    if list(numbers) not in ([], [1]):
        raise IllegalStepError("only the factor 1 is known to be right")
    region = Region.of(draft, inner_id)
    outer = next((o for o in region.around if o.element["element_id"] == outer_id), None)
    if outer is None:
        raise IllegalStepError("the first loop is not around the second one")
    element = region.siblings[region.place(inner_id)]
    inner = read_header(element, frozenset(loop.variable for loop in region.around))
    by = {outer.variable: 1}
    inner.lows = [affine.plus(low, by) for low in inner.lows]
    inner.highs = [affine.plus(high, by) for high in inner.highs]
    body = element["root"]["children"]
    put_for(body, {inner.variable: f"({inner.variable} - {outer.variable})"})
    inner.children = [Statement(body)]
    write_loop(inner)
