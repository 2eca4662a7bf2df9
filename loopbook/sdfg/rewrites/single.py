"""How `single` is done: loops get the schedules that docc gives them for one thread."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from loopbook.sdfg.rewrites.document import SEQUENTIAL, VECTORISED, Draft, elements, rewriting
from loopbook.steps.single import Single


@rewriting(Single)
def single(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Schedule the nest's loops as docc does where there is but one thread.

    That is: parallel loops and reductions that hold no other loop are vectorised, the others run in
    order. Loops that a step has scheduled stay what they are. Always legal.
    """
    for loop in elements(draft.document["root"]):
        if loop.get("element_id") not in draft.names or "indvar" not in loop:
            continue
        if loop["schedule_type"] != SEQUENTIAL or loop["sub_type"] not in ("map", "reduce"):
            continue
        if any("indvar" in inside for inside in elements(loop["root"])):
            loop["type"] = loop["sub_type"] = "for"
            loop.pop("reductions", None)
        else:
            loop["schedule_type"] = copy.deepcopy(VECTORISED)
