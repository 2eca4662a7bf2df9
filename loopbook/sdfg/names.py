"""Gives every loop an induction variable of its own.

docc takes a loop for parallel only if nothing else writes its induction variable. Programs use
``i`` again and again, so loops that are parallel stay serial in docc's eyes and most
transformations are refused. Renaming each loop's variable apart, before docc simplifies and
normalises, removes that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from loopbook.program import expr

Json = dict[str, Any]

UNTOUCHED = {"debug_info", "type", "sub_type", "code", "function_stem", "base_type", "data_type"}
"""Keys of docc's elements whose texts are no expressions."""


def separate_loops(sdfg: Json) -> None:
    """Rename induction variables, in place, so that no two loops of the SDFG document share one.

    A variable that is read or written outside the loops that it counts keeps its name: there the
    program depends on it.
    """
    loops = list(_loops(sdfg["root"]))
    shared = {
        name for name, count in Counter(loop["indvar"] for loop in loops).items() if count > 1
    }
    if not shared:
        return
    shared -= _escaping(sdfg["root"], frozenset(), shared) | set(sdfg.get("arguments", ()))
    taken = set(sdfg["containers"])
    numbers: Counter[str] = Counter()
    for loop in loops:
        name = loop["indvar"]
        if name not in shared:
            continue
        numbers[name] += 1
        if numbers[name] == 1:
            continue
        fresh = _fresh(name, numbers[name], taken)
        taken.add(fresh)
        sdfg["containers"][fresh] = sdfg["containers"][name]
        _rename_loop(loop, name, fresh)


def _loops(element: Json) -> Iterator[Json]:
    """Counted loops in preorder."""
    if "indvar" in element:
        yield element
    for child in _inner(element):
        yield from _loops(child)


def _inner(element: Json) -> Iterator[Json]:
    if "root" in element:
        yield element["root"]
    for case in element.get("branches", ()):
        yield case["root"]
    yield from element.get("children", ())


def _escaping(element: Json, counted: frozenset[str], shared: set[str]) -> set[str]:
    """Which of the `shared` names are used where no loop around counts them, or counted twice."""
    found: set[str] = set()
    own = {k: v for k, v in element.items() if k not in ("root", "branches", "children")}
    if "indvar" in element:
        name = element["indvar"]
        if name in counted:
            found.add(name)
        found |= mentioned(own.get("init", ""), shared) - counted
        counted = counted | {name}
        own.pop("init", None)
    for case in element.get("branches", ()):
        found |= mentioned(case.get("condition", ""), shared) - counted
    found |= mentioned(own, shared) - counted
    found |= shared.intersection(written(element))
    for child in _inner(element):
        found |= _escaping(child, counted, shared)
    return found


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


def _rename_loop(loop: Json, name: str, fresh: str) -> None:
    """Rename in place: the loops further inside are known to the caller by reference."""
    init = loop.pop("init")  # evaluated outside the loop
    rename(loop, {name: fresh})
    loop["init"] = init


def rename(value: Any, names: dict[str, str]) -> None:
    """Replace names, or put expressions for them, in all expressions below an element, in place."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        if isinstance(inner, str):
            if key not in UNTOUCHED:
                value[key] = expr.substitute(inner, names)
        elif isinstance(inner, dict | list) and key not in UNTOUCHED:
            rename(inner, names)


def _fresh(name: str, number: int, taken: set[str]) -> str:
    while (candidate := f"{name}_{number}") in taken:
        number += 1
    return candidate
