"""Makes docc's OpenMP loops fit for clang: values of their own for threads, and balanced work.

clang moves the body of a parallel loop into a function, which reaches the variables around it by
reference. It must then take every store through a pointer for a change of sizes, scalars and the
pointers themselves: it loads them again in the innermost loops, and neither vectorises these nor
keeps sums in registers. Copies that are made in the body, what OpenMP calls ``firstprivate``, have
no address that anybody else could know. docc's OpenMP loops have no such clause.

docc deals iterations out in equal parts, of which one has three quarters of a triangle. And it lets
threads share the temporaries that another part of the program uses as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from docc.sdfg import StructuredSDFG

from loopbook.sdfg.names import mentioned, rename
from loopbook.sdfg.nest import DTYPES
from loopbook.sdfg.program import parse
from loopbook.sdfg.rewrites.document import Draft, elements

Json = dict[str, Any]

_THREADS = "CPU_PARALLEL"
_ASSIGN = 0
"""docc's code for the tasklet that copies."""

_DYNAMIC = "1"
"""docc's number for OpenMP's schedule(dynamic)."""

_PREFIX = "own_"


def improve_threads(sdfg: StructuredSDFG) -> StructuredSDFG:
    """The scheduled SDFG with copies of what its parallel loops only read, made in their bodies.

    Scalars, and pointers to arrays, are copied where there is a loop in the body. Iterations of
    unequal length are dealt out one by one. An SDFG without such loops is given back as it is;
    element ids stay the same.
    """
    draft = Draft(json.loads(sdfg.to_json()), {})
    loops = [loop for loop in _outermost_parallel(draft.document["root"]) if _has_loop(loop)]
    for loop in loops:
        _balance(loop)
        _separate(draft, loop)
        _capture(draft, loop)
    return parse(json.dumps(draft.document)) if loops else sdfg


def _outermost_parallel(element: Json) -> Iterator[Json]:
    if element.get("schedule_type", {}).get("value") == _THREADS:
        yield element
        return
    if "root" in element:
        yield from _outermost_parallel(element["root"])
    for case in element.get("branches", ()):
        yield from _outermost_parallel(case["root"])
    for child in element.get("children", ()):
        yield from _outermost_parallel(child)


def _has_loop(loop: Json) -> bool:
    """Whether a copy for each iteration is outweighed by what the iteration does."""
    return any("root" in element for element in elements(loop["root"]))


def _balance(loop: Json) -> None:
    """Deal iterations out as threads get free, if one end of a loop inside moves with them.

    Both ends of a loop over the points of a tile move: it is as long in every iteration.
    """
    own = {loop["indvar"]}
    for inside in elements(loop["root"]):
        ends = [mentioned(inside.get(end, ""), own) for end in ("init", "condition")]
        if "init" in inside and ends[0] != ends[1]:
            loop["schedule_type"]["properties"].setdefault("omp_schedule", _DYNAMIC)
            return


def _separate(draft: Draft, loop: Json) -> None:
    """Give scalars that are set in the body and occur elsewhere too other names there.

    docc makes those private to a thread that occur in no other place (seen with 0.8.1). The rest,
    which copies of a loop have in common say, all threads would share.
    """
    body, root = loop["root"], draft.document["root"]
    containers = draft.document["containers"]
    scalars = {n for n in _changed(body, containers) if containers[n]["type"] == "scalar"}
    loop["root"] = {"children": []}
    shared = mentioned(root, scalars)
    loop["root"] = body
    rename(body, {name: draft.fresh_variable(_PREFIX + name, name) for name in sorted(shared)})


def _capture(draft: Draft, loop: Json) -> None:
    """Copy what the loop's body only reads."""
    body, containers = loop["root"], draft.document["containers"]
    constant = set(containers) - {loop["indvar"]} - _changed(body, containers)
    reached = _reached(body)
    copies: list[Json] = []
    symbols: list[tuple[str, str]] = []
    names: dict[str, str] = {}
    for name in sorted(mentioned(body, constant)):
        kind = containers[name]
        if kind["type"] == "scalar":
            own = draft.fresh_variable(_PREFIX + name, name)
            if DTYPES[int(kind["primitive_type"])].startswith(("int", "uint")):
                symbols.append((own, name))
            else:
                copies.append(draft.copy_block((name, ()), (own, ())))
        elif name in reached:
            own = draft.fresh_pointer(_PREFIX + name, reached[name])
            copies.append(draft.pointer_block(name, own))
        else:
            continue
        names[name] = own
    rename(body, names)
    if symbols:
        copies.append(draft.assignment_block(symbols))
    body["children"][:0] = copies


def _changed(body: Json, containers: Json) -> set[str]:
    """Scalars and pointers that the body itself sets, and all that its library nodes are given."""
    found: set[str] = set()
    for element in elements(body):
        if "indvar" in element:
            found.add(element["indvar"])
        found.update(a["symbol"] for a in element.get("assignments", ()))
        for edge, source, target in _edges(element):
            ends = {end["data"] for end in (source, target) if "data" in end}
            if "library_node" in (source["type"], target["type"]):
                found |= ends
            elif "data" in target and (
                edge["dst_conn"] == "ref" or containers[target["data"]]["type"] == "scalar"
            ):
                found.add(target["data"])
    return found


def _reached(body: Json) -> dict[str, Json]:
    """Containers that the body reaches as pointers, and the type that it takes them for."""
    found: dict[str, Json] = {}
    for element in elements(body):
        for edge, *ends in _edges(element):
            kind = edge.get("base_type", {})
            if kind.get("type") == "pointer" and "pointee_type" in kind:
                found |= {end["data"]: kind for end in ends if "data" in end}
    return found


def _edges(element: Json) -> Iterator[tuple[Json, Json, Json]]:
    """The edges of a block, each with the nodes at its ends."""
    flow = element.get("dataflow", {})
    nodes = {node["element_id"]: node for node in flow.get("nodes", ())}
    for edge in flow.get("edges", ()):
        yield edge, nodes[edge["src"]], nodes[edge["dst"]]
