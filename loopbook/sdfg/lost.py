"""Stores that docc's simplification loses, and how to keep them.

docc fuses neighbouring maps while it simplifies, and sometimes throws away the loop behind the two
(seen with 0.8.1: sums of whole numbers whose result is then read backwards, a chain of which one
part is read transposed), stores an older value last, takes stores of the first loop into the second
one (a copy of an array that the second one reads at several places), or fails (such an array just
after it was computed). What it has lost is seen in the arrays that were written before and no
longer are, what it has taken along in those that are written more often; and loops that it lets run
more often than before in the elements that they touch (`loopbook.sdfg.moved`). Between loops that a
statement keeps apart it fuses nothing::

    for i: s[i] = …                      for i: s[i] = …
    for i: r[i] = s[n - 1 - i] + 1       s[0] = s[0]
                                         for i: r[i] = s[n - 1 - i] + 1
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from docc.sdfg import StructuredSDFG, TaskletCode

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.json_element import NOWHERE
from loopbook.program.read import read
from loopbook.sdfg.moved import moved

Json = dict[str, Any]


def without_loss(
    text: str, simplify: Callable[[str], StructuredSDFG], promote: Callable[[str], Json]
) -> tuple[StructuredSDFG, Json]:
    """What `simplify` makes of an SDFG's text, with statements between the loops if it fails,
    loses stores or moves them otherwise; its document, too. Those that are lost may be for nothing,
    and go however loops are kept apart.

    Args:
        promote: gives the SDFG with indices in terms of loops' variables, and nothing fused.

    Raises:
        SdfgError: if all stores into an array, or a variable, are lost in any case, or some moved,
            or as `simplify`.
    """
    document = json.loads(text)
    try:
        sdfg = simplify(text)
    except SdfgError as error:  # of some readings at several places, say
        try:
            given = stores(document, running=True)
            if not separated(document):
                raise
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            raise error from None  # it is no SDFG
        sdfg, simple, array = _apart(document, simplify, promote)
    else:
        given = stores(document, running=True)
        simple = json.loads(sdfg.to_json())
        array = _moved(text, simple, promote)
        confused = array is not None or _confused(given, simple)
        if (confused or _lost(given, stores(simple))) and separated(document):
            other = _apart(document, simplify, promote)
            if confused or _lost(stores(other[1]), stores(simple)):
                sdfg, simple, array = other
    if array is not None:
        raise SdfgError(f"docc touches elements of {array} that the program does not")
    left = stores(simple)
    gone = sorted(name for name in given if not left[name])
    gone += sorted(_read_in_vain(simple) - _read_in_vain(document))
    if gone:
        raise SdfgError(f"docc loses what is stored into {gone[0]}")
    return sdfg, simple


def _apart(
    document: Json, simplify: Callable[[str], StructuredSDFG], promote: Callable[[str], Json]
) -> tuple[StructuredSDFG, Json, str | None]:
    """What becomes of a document with its loops kept apart, and an array with `_moved` stores."""
    text = json.dumps(document)
    sdfg = simplify(text)
    simple = json.loads(sdfg.to_json())
    return sdfg, simple, _moved(text, simple, promote)


def _moved(text: str, simple: Json, promote: Callable[[str], Json]) -> str | None:
    """An array of which docc touches more elements after it has fused loops, or dropped some."""
    before = _counters(json.loads(text), running=True)
    if before <= _counters(simple):
        return None
    return moved(read(promote(text)), read(simple))


def _counters(document: Json, *, running: bool = False) -> set[str]:
    found = _elements(document["root"], running)
    return {str(element["indvar"]) for element in found if "indvar" in element}


def _confused(before: Counter[str], document: Json) -> bool:
    """Whether docc has fused loops into one that stores into one place twice: the older value may
    come last then (seen with 0.8.1: two updates of one triangle); or has copied stores, or left out
    what a scalar is computed in (a product of whole numbers behind a product of matrices)."""
    if not any(name.startswith("_fused_tmp") for name in document["containers"]):
        return False
    if any(count > before[name] for name, count in stores(document).items()):
        return True
    if _read_in_vain(document):
        return True
    given = set(document["arguments"])
    for element in _elements(document["root"]):
        for body in _bodies(element) if "indvar" in element else ():
            places = [place for child in body for place in _stored_by(child) if place[0] in given]
            if len(places) > len(set(places)):
                return True
    return False


def _read_in_vain(document: Json) -> set[str]:
    """Variables that blocks read and that nothing gives a value."""
    own = set(document["containers"]) - set(document["arguments"])
    read: set[str] = set()
    written: set[str] = set()
    for element in _elements(document["root"]):
        flow = element.get("dataflow") or {}
        data = {n["element_id"]: n.get("data", "") for n in flow.get("nodes", ())}
        for edge in flow.get("edges", ()):
            read.add(data[edge["src"]])
            written.add(data[edge["dst"]])
        written.update(str(one["symbol"]) for one in element.get("assignments", ()))
        written.add(str(element.get("indvar", "")))
    return (read & own) - written


def _stored_by(element: Json) -> Iterator[tuple[str, ...]]:
    """Arrays that a block stores into, each with its subset."""
    flow = element.get("dataflow") or {}
    data = {n["element_id"]: n.get("data", "") for n in flow.get("nodes", ())}
    for edge in flow.get("edges", ()):
        yield data[edge["dst"]], *edge["subset"]


def loses(before: Json, after: Json) -> bool:
    """Whether docc has fused an SDFG so that stores are gone, which may have been for nothing,
    stand in a doubtful order, or at other places."""
    given = stores(before, running=True)
    if _lost(given, stores(after)) or _confused(given, after):
        return True
    if _counters(before, running=True) <= _counters(after):
        return False
    return moved(read(before), read(after)) is not None


def stores(document: Json, *, running: bool = False) -> Counter[str]:
    """How many statements store into each array that the program was given.

    Args:
        running: leave out loops that never run.
    """
    found: Counter[str] = Counter()
    given = set(document["arguments"])
    for element in _elements(document["root"], running):
        flow = element.get("dataflow") or {}
        data = {n["element_id"]: n.get("data", "") for n in flow.get("nodes", ())}
        found.update(data[e["dst"]] for e in flow.get("edges", ()) if data[e["dst"]] in given)
    return found


def _lost(before: Counter[str], after: Counter[str]) -> bool:
    return any(after[name] < count for name, count in before.items())


def separated(document: Json) -> bool:
    """Put a statement between loops that follow each other, in place.

    Returns:
        Whether there are such loops, and a statement that can stand between them.
    """
    stored = next(_stored(document), None)
    if stored is None:
        return False
    found = False
    for element in [document["root"], *_elements(document["root"])]:
        for body in _bodies(element):
            for place in range(len(body) - 1, 0, -1):
                if "indvar" in body[place] and _follows_loop(document, body, place):
                    body.insert(place, _copy(document, *stored))
                    found = True
    return found


def _follows_loop(document: Json, body: list[Json], place: int) -> bool:
    """Whether there is a loop in front of a place, or nothing but scalars between the two: docc
    writes them, such as bounds, into what uses them, and then the loops are neighbours."""
    for child in reversed(body[:place]):
        if "indvar" in child:
            return True
        if "dataflow" not in child or any(len(into) > 1 for into in _stored_by(child)):
            return False
    return False


def _stored(document: Json) -> Iterator[tuple[str, Json, int]]:
    """Arrays that the program was given and stores into, with type and rank of such a memlet."""
    given = set(document["arguments"])
    for element in _elements(document["root"]):
        flow = element.get("dataflow") or {}
        data = {n["element_id"]: n.get("data", "") for n in flow.get("nodes", ())}
        for edge in flow.get("edges", ()):
            if data[edge["dst"]] in given and edge["subset"]:
                yield data[edge["dst"]], edge["base_type"], len(edge["subset"])


def _copy(document: Json, name: str, memlet: Json, rank: int) -> Json:
    """A block that copies an array's first element to where it is."""
    first = int(document["element_counter"]) + 1
    document["element_counter"] = first + 5
    source, tasklet, target, into, out, block = range(first, first + 6)

    def access(number: int) -> Json:
        return {"type": "access_node", "element_id": number, "data": name, "debug_info": NOWHERE}

    def edge(number: int, src: int, dst: int, ends: tuple[str, str]) -> Json:
        return {
            "element_id": number, "src": src, "dst": dst, "src_conn": ends[0], "dst_conn": ends[1],
            "subset": ["0"] * rank, "base_type": memlet, "debug_info": NOWHERE,
        }  # fmt: skip

    copying = {
        "type": "tasklet", "element_id": tasklet, "code": int(TaskletCode.assign),
        "inputs": ["_in"], "output": "_out", "debug_info": NOWHERE,
    }  # fmt: skip
    return {
        "type": "block",
        "element_id": block,
        "debug_info": NOWHERE,
        "dataflow": {
            "type": "dataflow",
            "nodes": [access(source), copying, access(target)],
            "edges": [
                edge(into, source, tasklet, ("void", "_in")),
                edge(out, tasklet, target, ("_out", "void")),
            ],
        },
    }


def _bodies(element: Json) -> list[list[Json]]:
    if "branches" in element:
        return [case["root"]["children"] for case in element["branches"]]
    if "children" in element:
        return [element["children"]]
    return [element["root"]["children"]] if "root" in element else []


def _elements(element: Json, running: bool = False) -> Iterator[Json]:
    """All that is in a sequence, loop or branch, in program order.

    Args:
        running: leave out loops that never run.
    """
    for body in _bodies(element):
        for child in body:
            if not (running and _is_empty(child)):
                yield child
                yield from _elements(child, running)


def _is_empty(element: Json) -> bool:
    """Whether an element is a loop that is known to end before it begins."""
    condition = re.fullmatch(r"\(?\w+ < (.+?)\)?", str(element.get("condition", "")))
    if condition is None or "init" not in element:
        return False
    try:
        count = expr.polynomial(f"({condition[1]}) - ({element['init']})")
    except SdfgError:
        return False
    return not count or (set(count) == {()} and count[()] <= 0)
