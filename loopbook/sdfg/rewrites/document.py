"""Editing an SDFG's JSON document: finding loops, making new ones, and new variables."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loopbook.program import expr
from loopbook.program.json_element import NOWHERE
from loopbook.steps.base import Step

Json = dict[str, Any]


@dataclass
class Draft:
    """An SDFG document on its way to a new one.

    Attributes:
        document: the SDFG's JSON, changed in place.
        names: element id to name of the loops that recipes know.
        made: element id to wanted name of each loop made so far.
    """

    document: Json
    names: Mapping[int, str]
    made: dict[int, str] = field(default_factory=dict)

    def fresh_id(self) -> int:
        self.document["element_counter"] = int(self.document["element_counter"]) + 1
        return self.document["element_counter"]

    def fresh_variable(self, prefix: str, like: str) -> str:
        """A new transient scalar with the type of the scalar `like`."""
        name = self._free(prefix)
        self.document["containers"][name] = copy.deepcopy(self.document["containers"][like])
        return name

    def copy_block(
        self,
        source: tuple[str, Sequence[str]],
        target: tuple[str, Sequence[str]],
    ) -> Json:
        """``target = source``, each a container and a subset of it."""
        place: dict[str, int] = {}
        nodes: list[Json] = []
        for end, (data, _) in (("from", source), ("to", target)):
            place[end] = self.fresh_id()
            nodes.append({"type": "access_node", "element_id": place[end], "data": data})
        task = {"code": 0, "inputs": ["_in"], "output": "_out"}  # code 0 assigns
        task_id = self.fresh_id()
        nodes.append({"type": "tasklet", "element_id": task_id, **task})
        edges: list[Json] = [
            {"src": place["from"], "src_conn": "void", "dst": task_id, "dst_conn": "_in"},
            {"src": task_id, "src_conn": "_out", "dst": place["to"], "dst_conn": "void"},
        ]
        for edge, (data, subset) in zip(edges, (source, target), strict=True):
            kind = copy.deepcopy(self.document["containers"][data])
            edge |= {"subset": list(subset), "base_type": kind}
        return self._block(nodes, edges)

    def fresh_pointer(self, prefix: str, kind: Json) -> str:
        """A new pointer of the type `kind`, to memory that it does not own."""
        name = self._free(prefix)
        plain = copy.deepcopy(kind["pointee_type"]["storage_type"])
        self.document["containers"][name] = copy.deepcopy(kind) | {"storage_type": plain}
        return name

    def pointer_block(self, source: str, target: str, index: str = "0") -> Json:
        """``target = &source[index]`` for pointers; the target's type is known."""
        kind = copy.deepcopy(self.document["containers"][target])
        start, end = self.fresh_id(), self.fresh_id()
        nodes = [
            {"type": "access_node", "element_id": start, "data": source},
            {"type": "access_node", "element_id": end, "data": target},
        ]
        edge = {"src": start, "src_conn": "void", "dst": end, "dst_conn": "ref"}
        return self._block(nodes, [edge | {"subset": [index], "base_type": kind}])

    def assignment_block(self, assignments: Iterable[tuple[str, str]]) -> Json:
        """Integer scalars, each with the expression that it is set to."""
        return {
            "type": "assignment_block",
            "element_id": self.fresh_id(),
            "debug_info": dict(NOWHERE),
            "assignments": [{"symbol": name, "expression": text} for name, text in assignments],
        }

    def _block(self, nodes: list[Json], edges: list[Json]) -> Json:
        """A block with this dataflow; its edges have no ids yet."""
        for edge in edges:
            edge["element_id"] = self.fresh_id()
        for part in (*nodes, *edges):
            part["debug_info"] = dict(NOWHERE)
        return {
            "type": "block",
            "element_id": self.fresh_id(),
            "debug_info": dict(NOWHERE),
            "dataflow": {"type": "dataflow", "nodes": nodes, "edges": edges},
        }

    def _free(self, prefix: str) -> str:
        number = 0
        while (name := f"{prefix}_{number}") in self.document["containers"]:
            number += 1
        return name

    def renumbered(self, element: Json) -> Json:
        """A deep copy of an element with ids of its own."""
        ids: dict[int, int] = {}

        def visit(value: Any) -> Any:
            if isinstance(value, dict):
                done = {key: visit(inner) for key, inner in value.items()}
                if "element_id" in value:
                    ids[value["element_id"]] = done["element_id"] = self.fresh_id()
                return done
            return [visit(inner) for inner in value] if isinstance(value, list) else value

        result = visit(element)
        for block in elements(result):
            for edge in block.get("dataflow", {}).get("edges", ()):
                edge["src"], edge["dst"] = ids[edge["src"]], ids[edge["dst"]]
        return result


Rewriting = Callable[[Draft, Sequence[int], Sequence[int]], None]
"""Takes the draft, the element ids of the step's loops, and its numbers; changes the draft.

Raises `IllegalStepError` where the nest does not allow it; the draft is of no use then.
"""

REWRITINGS: dict[type[Step], Rewriting] = {}
"""Kind of step to rewriting, filled by the files of this package."""


def rewriting(kind: type[Step]) -> Callable[[Rewriting], Rewriting]:
    """Says that a function does a kind of step. Where docc has a transformation for it, too, the
    function is for nests for which docc refuses it."""

    def register(function: Rewriting) -> Rewriting:
        REWRITINGS[kind] = function
        return function

    return register


def elements(root: Json) -> Iterator[Json]:
    """All control-flow elements from `root` on, in preorder."""
    yield root
    if "root" in root:
        yield from elements(root["root"])
    for case in root.get("branches", ()):
        yield from elements(case["root"])
    for child in root.get("children", ()):
        yield from elements(child)


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
