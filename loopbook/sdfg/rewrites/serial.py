"""How `serial` is done.

docc marks loops that only add up as reductions. It refuses local buffers for what they add to,
because the mark names the array; the loop itself may run in order as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import IllegalStepError
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.steps.serial import Serial


@rewriting(Serial)
def serial(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Run a reduction's iterations in order. Always legal: that is what its program said.

    Raises:
        IllegalStepError: the loop is no reduction.
    """
    element = draft.element(loops[0])
    if element.get("sub_type") != "reduce":
        raise IllegalStepError("the loop is no reduction")
    element["type"] = element["sub_type"] = "for"
    element.pop("reductions", None)
