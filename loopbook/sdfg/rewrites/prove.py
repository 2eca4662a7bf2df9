"""Shows that a loop's iterations do not depend on each other, and makes it a map.

docc takes two accesses of one array for dependent unless they are equal, so many parallel loops
stay serial in its eyes, and `vectorize` and `parallel` are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import IllegalStepError
from loopbook.sdfg.dependence import carries_nothing
from loopbook.sdfg.rewrites.document import Draft
from loopbook.sdfg.rewrites.region import Region


def prove(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Make a loop a map.

    Raises:
        IllegalStepError: its iterations may depend on each other.
    """
    (loop_id,) = loops
    region = Region.of(draft, loop_id)
    loop = region.tree(loop_id)
    if not carries_nothing(loop, region.around):
        raise IllegalStepError("its iterations may depend on each other")
    loop.element["type"] = loop.element["sub_type"] = "map"
    loop.element.pop("reductions", None)
