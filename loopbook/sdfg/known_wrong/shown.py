"""Faults of docc's front end that an SDFG shows by itself, without the function that it is of.

Few do. A transpose that is lost, a slice of a slice in the wrong place, a sum that docc takes for
its first value: they are programs like any other, which somebody may have meant. What nobody can
have meant:

- a product that is written over one of its operands, ``x[:] = a @ x``: BLAS reads and writes them
  in any order;
- an assignment to a slice that reads what it has written before, ``a[1:] = a[:-1]``: NumPy reads
  all of it first;
- an assignment to a slice with a step, ``a[::2] = 1.0``: docc counts as many elements as there
  are without the step, and the last ones lie behind the array.

docc calls the loops of such assignments ``_slice_iter_0_0``; all others are left alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any

from loopbook.errors import SdfgError
from loopbook.program import expr

Json = Mapping[str, Any]

SLICE = re.compile(r"_slice_iter_\d+_\d+")
"""Variables of the loops that docc makes for an assignment to a slice."""


def shown(document: Json, own: Mapping[str, str] | None = None) -> str:
    """What shows that docc misunderstood a function; empty if nothing does.

    Args:
        document: its SDFG, expanded or not.
        own: what the containers were called by docc, where they have got other names.
    """
    return next(_Reading(document, own or {}).faults(document["root"], ()), "")


class _Reading:
    def __init__(self, document: Json, own: Mapping[str, str]) -> None:
        self._arguments = frozenset(document["arguments"])
        self._own = own

    def faults(self, element: Json, loops: tuple[Json, ...]) -> Iterator[str]:
        """Faults in an element, within these loops over slices."""
        flow = element.get("dataflow") or {}
        nodes = {node["element_id"]: node for node in flow.get("nodes", ())}
        yield from self._products(flow, nodes)
        if loops:
            yield from self._assignments(flow, nodes, loops)
        if "indvar" in element:
            is_slice = SLICE.fullmatch(self._told(element["indvar"])) is not None
            loops = (*loops, element) if is_slice else ()
        for key in ("root", "children", "branches"):
            inner = element.get(key)
            for child in inner if isinstance(inner, list) else [inner] if inner else ():
                yield from self.faults(child, loops)

    def _told(self, name: str) -> str:
        return self._own.get(name, name)

    def _products(self, flow: Json, nodes: Mapping[int, Json]) -> Iterator[str]:
        given: dict[tuple[int, str], tuple[str, tuple[str, ...]]] = {}
        for edge in flow.get("edges", ()):
            source, target = nodes[edge["src"]], nodes[edge["dst"]]
            if str(target.get("code", "")).startswith("GEMM") and source["type"] == "access_node":
                place = source["data"], tuple(edge["subset"])
                given[target["element_id"], edge["dst_conn"]] = place
        for (node, connector), place in given.items():
            if connector == "__C" and place in (given.get((node, "__A")), given.get((node, "__B"))):
                yield f"a product is written over its operand '{self._told(place[0])}'"

    def _assignments(
        self, flow: Json, nodes: Mapping[int, Json], loops: tuple[Json, ...]
    ) -> Iterator[str]:
        counters = frozenset(loop["indvar"] for loop in loops)
        read: list[tuple[str, expr.Polynomial]] = []
        written: list[tuple[str, expr.Polynomial]] = []
        for edge in flow.get("edges", ()):
            for end, places in (("src", read), ("dst", written)):
                node = nodes[edge[end]]
                if node["type"] == "access_node" and len(edge["subset"]) == 1:
                    try:
                        places.append((node["data"], expr.polynomial(edge["subset"][0])))
                    except SdfgError:
                        continue
        for name, target in written:
            told = self._told(name)
            if name in self._arguments and any(_skips(target, loop) for loop in loops):
                yield f"the assignment to a slice of '{told}' with a step goes on behind its end"
            for other, source in read:
                if other == name and _reads_later(target, source, loops, counters):
                    yield f"the assignment to a slice of '{told}' reads what it has written"


def _skips(target: expr.Polynomial, loop: Json) -> bool:
    """Whether an index leaves elements out while a loop counts all of them.

    Extents of arguments are symbols, so only a step makes a whole number of the factor."""
    factors = [abs(n) for monomial, n in target.items() if loop["indvar"] in monomial]
    if not factors or gcd(*factors) == 1 or not _counts_by_one(loop):
        return False
    return _length(loop) is None and not re.search(r"div|/", str(loop["condition"]))


def _reads_later(
    target: expr.Polynomial,
    source: expr.Polynomial,
    loops: tuple[Json, ...],
    counters: frozenset[str],
) -> bool:
    """Whether what is written at `target` is read at `source` some iterations later."""
    ahead = Counter(target)
    ahead.subtract(source)
    distance = {monomial: n for monomial, n in ahead.items() if n}
    if not distance or any(counters & set(monomial) for monomial in distance):
        return False
    for loop in loops:
        # Of one iteration: what an index grows by.
        step = {
            tuple(part for part in monomial if part != loop["indvar"]): n
            for monomial, n in target.items()
            if loop["indvar"] in monomial
        }
        if distance.keys() != step.keys() or not _counts_by_one(loop):
            continue
        times = {divmod(n, step[monomial]) for monomial, n in distance.items()}
        (whole, rest), *others = times
        length = _length(loop)
        if not others and not rest and whole > 0 and (length is None or whole < length):
            return True
    return False


def _counts_by_one(loop: Json) -> bool:
    try:
        return expr.polynomial(loop["update"]) == {(loop["indvar"],): 1, (): 1}
    except SdfgError:
        return False


def _length(loop: Json) -> int | None:
    """How often a loop that begins at 0 runs, where that is a plain number."""
    bound = str(loop["condition"]).rpartition("<")[2].strip(" ()")
    return int(bound) if bound.isdecimal() else None
