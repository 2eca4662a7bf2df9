"""The names that an SDFG's JSON computes with: where they stand, and other ones for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopbook.program import expr

Json = dict[str, Any]

UNTOUCHED = {"debug_info", "type", "sub_type", "code", "function_stem", "base_type", "data_type"}
"""Keys of docc's elements whose texts are no expressions."""


def written(element: Json) -> Iterator[str]:
    """What the element itself assigns; a loop's body may change its induction variable."""
    for assignment in element.get("assignments", ()):
        yield assignment["symbol"]
    flow = element.get("dataflow")
    if flow:
        data = {node["element_id"]: node.get("data") for node in flow["nodes"]}
        for edge in flow["edges"]:
            if data.get(edge["dst"]):
                yield data[edge["dst"]]


def mentioned(value: Any, names: set[str]) -> set[str]:
    """Which of the names occur in expressions below an element, or as data."""
    if isinstance(value, str):
        return names.intersection(expr.symbols(value))
    if isinstance(value, dict):
        parts = [mentioned(v, names) for k, v in value.items() if k not in UNTOUCHED]
    elif isinstance(value, list):
        parts = [mentioned(v, names) for v in value]
    else:
        return set()
    return set().union(*parts)


def identifiers(value: Any) -> Iterator[str]:
    """Names in all expressions below an element, and data; each as often as it occurs."""
    if isinstance(value, str):
        yield from expr.symbols(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in UNTOUCHED:
                yield from identifiers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from identifiers(inner)


def rename(value: Any, names: dict[str, str]) -> None:
    """Replace names, or put expressions for them, in all expressions below an element, in place."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        if isinstance(inner, str):
            if key not in UNTOUCHED:
                value[key] = expr.substitute(inner, names)
        elif isinstance(inner, dict | list) and key not in UNTOUCHED:
            rename(inner, names)
