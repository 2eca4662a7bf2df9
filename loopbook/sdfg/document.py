"""Questions about an SDFG's JSON."""

from __future__ import annotations

from typing import Any

from loopbook.program import expr
from loopbook.program.json_element import NOWHERE


def words(value: Any) -> set[str]:
    """All identifiers in the strings of a JSON value."""
    if isinstance(value, str):
        return set(expr.symbols(value))
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(words, parts))


def without_positions(value: Any) -> Any:
    """`value` with docc's source positions blanked: they name the user's files."""
    if isinstance(value, dict):
        return {k: NOWHERE if k == "debug_info" else without_positions(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_positions(v) for v in value]
    return value
