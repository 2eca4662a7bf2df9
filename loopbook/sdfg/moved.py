"""Whether loops touch elements that they did not touch before docc fused them.

docc fuses a loop with one that runs less often, and lets what was in that one run in all iterations
(seen with 0.8.1)::

    for i in [0, n): v[i] = …               for i in [0, n): v[i] = …
    for i in [0, n - 1): t[i] = v[i + 1]                     t[i - 1] = …
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopbook.dependence import Linear, covered, linear
from loopbook.dependence.model import minus, shifted
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program.bounds import bounds
from loopbook.program.expr import Expr
from loopbook.sdfg.document import subset
from loopbook.sdfg.looptree import LoopNode, Touch, read_header
from loopbook.sdfg.rewrites.document import elements

Json = dict[str, Any]

Loops = tuple[LoopNode, ...]

Places = dict[object, tuple[Loops, Touch]]
"""Accesses to one array, by what two that are written alike have in common."""


def moved(before: Json, after: Json) -> str | None:
    """An array of which the SDFG touches more elements than before, as far as can be told; None if
    there is none.

    Args:
        before: with indices in terms of loops' variables, not of scalars computed from them.
    """
    known, found = _places(before), _places(after)
    for (name, write), places in found.items():
        if name not in before["containers"]:
            continue
        old = known.get((name, write), {})
        new = [place for key, place in places.items() if key not in old]
        if new and not covered(new, old.values()):
            return name
    return None


def _places(document: Json) -> dict[tuple[str, bool], Places]:
    """Where each array is read, and written."""
    found: dict[tuple[str, bool], Places] = {}
    pointed = _pointed(document)
    for loops, touch in _touches(document["root"], ()):
        header = tuple(
            (loop.variable, *(str(loop.element.get(k)) for k in ("init", "condition", "update")))
            for loop in loops
        )
        try:
            key = header, touch.place
        except SdfgError:
            key = header, touch.subset
        name = pointed.get(touch.container, touch.container)
        found.setdefault((name, touch.write), {})[key] = loops, touch
    return found


def _pointed(document: Json) -> dict[str, str]:
    """Pointers to where an array begins, and that array, which docc puts in their place; both are
    set once (programs of PyTorch are made of such)."""
    arguments = set(document["arguments"])
    sources: dict[str, list[str | None]] = {name: [None] for name in arguments}
    for element in elements(document["root"]):
        flow = element.get("dataflow") or {}
        data = {node["element_id"]: node.get("data") for node in flow.get("nodes", ())}
        for edge in flow.get("edges", ()):
            refers = edge["dst_conn"] == "ref"
            if data[edge["dst"]] is not None and (refers or not edge["subset"]):
                begins = refers and edge["subset"] == ["0"]
                sources.setdefault(data[edge["dst"]], []).append(
                    data[edge["src"]] if begins else None
                )
    found: dict[str, str] = {}
    for name in sources:
        end, steps = name, 0
        while len(sources.get(end, ())) == 1 and sources[end][0] and steps < len(sources):
            end, steps = str(sources[end][0]), steps + 1
        if end != name and len(sources.get(end, ())) == 1:
            found[name] = end
    return found


def _touches(element: Json, around: Loops) -> Iterator[tuple[Loops, Touch]]:
    """All accesses to arrays, each with the loops around it; conditions are not looked at."""
    if "indvar" in element:
        around = (*around, _header(element, around))
    if "dataflow" in element:
        flow = element["dataflow"]
        data = {node["element_id"]: node.get("data") for node in flow["nodes"]}
        for edge in flow["edges"]:
            for end, write in (("src", False), ("dst", True)):
                if data[edge[end]] is not None and edge["subset"]:
                    yield around, Touch(data[edge[end]], subset(edge), write)
    for inner in (
        *element.get("children", ()),
        *(case["root"] for case in element.get("branches", ())),
        *([element["root"]] if "root" in element else ()),
    ):
        yield from _touches(inner, around)


def _header(element: Json, around: Loops) -> LoopNode:
    """A loop without what is in it, as if it counted up; without bounds where they are not
    understood."""
    variables = frozenset(loop.variable for loop in around)
    variable = str(element["indvar"])
    try:
        return read_header(element, variables)
    except IllegalStepError:
        pass
    try:
        lows, highs = _downwards(element, variable, variables)
    except SdfgError:
        lows, highs = [], []
    return LoopNode(element, variable, lows, highs, 1, [])


def _downwards(
    element: Json, variable: str, variables: frozenset[str]
) -> tuple[list[Linear], list[Linear]]:
    """The bounds of a loop that counts down by ones; none if it does something else."""
    header = (Expr(str(element[key])) for key in ("init", "condition", "update"))
    found = bounds(variable, *header)
    if found.step != -1 or len(found.lows) != 1:
        return [], []
    room = [linear.from_polynomial(one, variables | {variable}) for one in found.room]
    if any(form.get(variable) != 1 for form in room):
        return [], []
    begin = linear.from_polynomial(found.lows[0], variables)
    return [minus({variable: 1}, form) for form in room], [shifted(begin, 1)]
