"""No threads for a nest but those that its recipe asked for, whatever docc would do for OpenMP.

docc gives threads to every outermost parallel loop that a recipe leaves alone. Inside of serial
loops that means to start and stop them anew in every iteration, and a short loop is not worth it.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from loopbook.sdfg.rewrites.document import SEQUENTIAL, VECTORISED, Draft, elements


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
