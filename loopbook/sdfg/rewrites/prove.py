"""How `prove` is done: by the dependences that the loop carries."""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.dependence import carries_nothing
from loopbook.errors import IllegalStepError
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.region import Region
from loopbook.steps.prove import Prove


@rewriting(Prove)
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
