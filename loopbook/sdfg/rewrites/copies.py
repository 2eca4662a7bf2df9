"""Copies of loops, with element ids, loop variables and names of their own."""

from __future__ import annotations

import copy
from typing import Any

from loopbook.sdfg.rewrites.document import Draft, Json, elements
from loopbook.sdfg.rewrites.region import put_for


def duplicate(draft: Draft, element: Json) -> Json:
    """A copy of a loop. Its loops are called like those that they are copies of, with ``.rest``."""
    twin = copy.deepcopy(element)
    names = {e["element_id"]: draft.names.get(e["element_id"]) for e in elements(twin)}
    fresh: dict[int, int] = {}
    _renumber(twin, draft, fresh)
    for old, name in names.items():
        if name is not None:
            draft.made[fresh[old]] = f"{name}.rest"
    variables = [e["indvar"] for e in elements(twin) if "indvar" in e]
    put_for([twin], {name: draft.fresh_variable(name, name) for name in variables})
    return twin


def _renumber(value: Any, draft: Draft, fresh: dict[int, int]) -> None:
    """New ids for all below `value`; edges follow the nodes that they connect."""
    for key, part in list(value.items()) if isinstance(value, dict) else enumerate(value):
        if key in ("element_id", "src", "dst"):
            if part not in fresh:
                fresh[part] = draft.fresh_id()
            value[key] = fresh[part]
        elif isinstance(part, dict | list):
            _renumber(part, draft, fresh)
