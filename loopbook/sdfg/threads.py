"""Makes docc's OpenMP loops fit for clang: values of their own for threads, and balanced work.

clang moves the body of a parallel loop into a function, which reaches the variables around it by
reference. It must then take every store through a pointer for a change of sizes, scalars and the
pointers themselves: it loads them again in the innermost loops, and neither vectorises these nor
keeps sums in registers. Copies that are made in the body, what OpenMP calls ``firstprivate``, have
no address that anybody else could know. docc's OpenMP loops have no such clause. Loops that stay
with one thread suffer with them: in a function that tells another one where its variables are,
those are no longer its own.

docc deals iterations out in equal parts, of which one has three quarters of a triangle. And it lets
threads share the temporaries that another part of the program uses as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from loopbook.program.types import DTYPES
from loopbook.sdfg.names import mentioned, rename
from loopbook.sdfg.rewrites.document import Draft, elements

Json = dict[str, Any]

_THREADS = "CPU_PARALLEL"
_ASSIGN = 0
"""docc's code for the tasklet that copies."""

_GUIDED = "2"
"""docc's number for OpenMP's schedule(guided). Dealt out one by one, the rows of a small triangle
take up to six times as long."""

_PREFIX = "own_"


def improve_threads(document: Json) -> bool:
    """Copy, in a scheduled SDFG's document, what its loops only read: of parallel ones in their
    bodies, of others before them.

    Scalars, and pointers to arrays, are copied where there is a loop in the body. Iterations of
    unequal length are dealt out in ever smaller portions. Element ids stay the same.

    Returns:
        Whether there are parallel loops; the document is as it was if not.
    """
    draft = Draft(document, {})
    root = document["root"]
    shared = list(_outermost_parallel(root))
    if not shared:
        return False
    for loop in filter(_has_loop, shared):
        _balance(loop)
        _separate(draft, loop)
        body = loop["root"]
        body["children"][:0] = _captured(draft, body, {loop["indvar"]})
    for sequence, loop in list(_outermost_serial(root)):
        place = next(n for n, child in enumerate(sequence) if child is loop)
        sequence[place:place] = _captured(draft, loop, {loop["indvar"]})
    return True


def _outermost_parallel(element: Json) -> Iterator[Json]:
    if _is_parallel(element):
        yield element
        return
    if "root" in element:
        yield from _outermost_parallel(element["root"])
    for case in element.get("branches", ()):
        yield from _outermost_parallel(case["root"])
    for child in element.get("children", ()):
        yield from _outermost_parallel(child)


def _outermost_serial(element: Json) -> Iterator[tuple[list[Json], Json]]:
    """Loops without threads, not in each other, with the sequences that they stand in."""
    children = element.get("children", [])
    for child in children:
        if "indvar" in child and not any(_outermost_parallel(child)):
            yield children, child
        elif not _is_parallel(child):
            yield from _outermost_serial(child.get("root", child))
    for case in element.get("branches", ()):
        yield from _outermost_serial(case["root"])


def _is_parallel(element: Json) -> bool:
    return element.get("schedule_type", {}).get("value") == _THREADS


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
            loop["schedule_type"]["properties"].setdefault("omp_schedule", _GUIDED)
            return


def _separate(draft: Draft, loop: Json) -> None:
    """Give scalars that are set in the body and occur elsewhere too other names there.

    docc makes those private to a thread that occur in no other place (seen with 0.8.1). The rest,
    which copies of a loop have in common say, all threads would share.
    """
    body, root = loop["root"], draft.document["root"]
    containers = draft.document["containers"]
    scalars = {n for n in _set(body) if containers[n]["type"] == "scalar"}
    loop["root"] = {"children": []}
    shared = mentioned(root, scalars)
    loop["root"] = body
    rename(body, {name: draft.fresh_variable(_PREFIX + name, name) for name in sorted(shared)})


def _captured(draft: Draft, code: Json, own: set[str]) -> list[Json]:
    """Blocks that copy what a loop or body only reads; it reads the copies from now on.

    Args:
        own: variables that change with it.
    """
    containers = draft.document["containers"]
    constant = set(containers) - own - _changed(code, containers)
    reached = _reached(code)
    copies: list[Json] = []
    symbols: list[tuple[str, str]] = []
    names: dict[str, str] = {}
    for name in sorted(mentioned(code, constant)):
        kind = containers[name]
        if kind["type"] == "scalar":
            fresh = draft.fresh_variable(_PREFIX + name, name)
            if DTYPES[int(kind["primitive_type"])].startswith(("int", "uint")):
                symbols.append((fresh, name))
            else:
                copies.append(draft.copy_block((name, ()), (fresh, ())))
        elif name in reached:
            fresh = draft.fresh_pointer(_PREFIX + name, reached[name])
            copies.append(draft.pointer_block(name, fresh))
        else:
            continue
        names[name] = fresh
    rename(code, names)
    if symbols:
        copies.append(draft.assignment_block(symbols))
    return copies


def _set(body: Json) -> set[str]:
    """What the body itself gives values to: variables of loops, symbols, and ends of edges."""
    found: set[str] = set()
    for element in elements(body):
        if "indvar" in element:
            found.add(element["indvar"])
        found.update(a["symbol"] for a in element.get("assignments", ()))
        found.update(target["data"] for _, _, target in _edges(element) if "data" in target)
    return found


def _changed(body: Json, containers: Json) -> set[str]:
    """Scalars and pointers that the body itself sets, and all that its library nodes are given."""
    found = {name for name in _set(body) if containers[name]["type"] == "scalar"}
    for element in elements(body):
        for edge, source, target in _edges(element):
            ends = {end["data"] for end in (source, target) if "data" in end}
            if "library_node" in (source["type"], target["type"]):
                found |= ends
            elif "data" in target and edge["dst_conn"] == "ref":
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
