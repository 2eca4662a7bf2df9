"""Lets loops count in signed numbers.

docc's library nodes expand to loops with unsigned variables. Rewritings give loops ends such as
``n - 15``, negative where an array is shorter than a strip. C++ takes such an end for an enormous
one if what it is compared with is unsigned: the loop, which should not run at all, runs past its
arrays. Signed variables stop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.types import DTYPES
from loopbook.sdfg.rewrites.document import elements

Json = dict[str, Any]

_SIGNED = DTYPES.index("int64")


def sign_counters(document: Json) -> bool:
    """Make the unsigned variables of loops signed, in an SDFG's JSON, in place.

    Variables stay unsigned where something tells the difference: those of loops that count down
    (and may stop at what is below zero), and those that are arguments or data of a computation.

    Returns:
        Whether there were any.
    """
    containers = document["containers"]
    names = {loop["indvar"] for loop in _loops(document)}
    names |= {
        assignment["symbol"]
        for element in elements(document["root"])
        for assignment in element.get("assignments", ())
    }
    found = unsigned(document, names)
    if not found:
        return False
    found -= set(document["arguments"]) | _data(document)
    found -= {loop["indvar"] for loop in _loops(document) if not _counts_up(loop)}
    for name in found:
        containers[name] = containers[name] | {"primitive_type": _SIGNED}
    return bool(found)


def unsigned(document: Json, names: Iterable[str]) -> set[str]:
    """Those of an SDFG's scalars that are unsigned."""
    containers = document["containers"]
    return {
        name
        for name in names
        if DTYPES[int(containers.get(name, {}).get("primitive_type", 0))].startswith("uint")
    }


def _loops(document: Json) -> Iterable[Json]:
    return (element for element in elements(document["root"]) if "indvar" in element)


def _counts_up(loop: Json) -> bool:
    try:
        step = dict(expr.polynomial(loop["update"]))
    except SdfgError:
        return False
    return step.pop((loop["indvar"],), 0) == 1 and step.keys() == {()} and step[()] > 0


def _data(document: Json) -> set[str]:
    """What dataflow reads or writes as data; indices are none."""
    return {
        node["data"]
        for element in elements(document["root"])
        for node in element.get("dataflow", {}).get("nodes", ())
        if "data" in node
    }
