"""Editing an SDFG's JSON document: finding loops, making new ones, and new variables."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.json_element import NOWHERE
from loopbook.program.nest import Loop, Nest
from loopbook.program.nests import read_nest
from loopbook.program.read import read_containers, read_loop
from loopbook.program.types import DTYPES
from loopbook.steps.base import Step

Json = dict[str, Any]


SEQUENTIAL = {"category": 3, "properties": {}, "value": "SEQUENTIAL"}
"""docc's schedule of a loop that nobody has scheduled."""

VECTORISED = {"category": 2, "properties": {}, "value": "VECTORIZE"}
"""docc's schedule of a loop that clang is to vectorise."""


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

    def nest_with(self, element_id: int) -> tuple[Nest, Loop]:
        """The nest, as it is now, that holds a loop, and the loop."""

        def holds(outermost: Json) -> bool:
            return any(element["element_id"] == element_id for element in elements(outermost))

        for nest in nests_of(self.document, holds):
            for loop in nest.loops:
                if loop.element_id == element_id:
                    return nest, loop
        raise IllegalStepError("the loop is gone")

    def element(self, element_id: int) -> Json:
        """A control-flow element by its id."""
        for element in elements(self.document["root"]):
            if element["element_id"] == element_id:
                return element
        raise IllegalStepError("the loop is gone")

    def fresh_id(self) -> int:
        self.document["element_counter"] = int(self.document["element_counter"]) + 1
        return self.document["element_counter"]

    def fresh_variable(self, prefix: str, like: str) -> str:
        """A new transient scalar with the type of the scalar `like`."""
        name = self._free(prefix)
        self.document["containers"][name] = copy.deepcopy(self.document["containers"][like])
        return name

    def fresh_array(self, prefix: str, like: str, count: int) -> tuple[str, Json]:
        """A new array of `count` elements on the stack, and the type that memlets to it have.

        docc sees no loops that carry values in local arrays of fixed size, and takes stores to
        them for dead (seen with 0.8.1). Behind a pointer it keeps them.

        Args:
            like: scalar whose type the elements have.

        Raises:
            IllegalStepError: if their size is not known.
        """
        element = copy.deepcopy(self.document["containers"][like])
        bytes_each = _BYTES.get(DTYPES[int(element["primitive_type"])])
        if bytes_each is None:
            raise IllegalStepError(f"{like} has a type that no array is made of")
        name = self._free(prefix)
        plain = element["storage_type"]
        managed = {
            "value": "CPU_Stack",
            "allocation": 1,
            "deallocation": 1,
            "allocation_size": str(bytes_each * count),
        }
        pointer = {"type": "pointer", "alignment": 0, "initializer": ""}
        self.document["containers"][name] = pointer | {"storage_type": managed}
        return name, pointer | {"storage_type": plain, "pointee_type": element}

    def fresh_buffer(self, prefix: str, element: Json, extents: Sequence[int]) -> str:
        """A new array of fixed size on the stack, of elements of the type `element`."""
        kind = copy.deepcopy(element)
        for extent in reversed(extents):
            outer = {"type": "array", "alignment": 0, "initializer": ""}
            kind = outer | {
                "storage_type": copy.deepcopy(element["storage_type"]),
                "num_elements": str(extent),
                "element_type": kind,
            }
        name = self._free(prefix)
        self.document["containers"][name] = kind
        return name

    def fresh_heap(self, prefix: str, element: Json, extents: Sequence[str]) -> tuple[str, Json]:
        """A new array on the heap for the whole program, and the type that memlets to it have.

        docc frees memory that it manages at the program's end, but what it writes to allocate it is
        no C++ (seen with 0.8.1): that is done by a block of the program.

        Args:
            element: type of its elements.
            extents: sizes known when the program begins; the array is the product of them long.
        """
        name = self._free(prefix)
        size = _BYTES[DTYPES[int(element["primitive_type"])]]
        plain = copy.deepcopy(element["storage_type"])
        pointer: Json = {"type": "pointer", "alignment": 0, "initializer": ""}
        pointer["pointee_type"] = copy.deepcopy(element)
        managed = plain | {"value": "CPU_Heap", "deallocation": 1}
        self.document["containers"][name] = copy.deepcopy(pointer) | {"storage_type": managed}
        kind = pointer | {"storage_type": plain}
        call, target = self.fresh_id(), self.fresh_id()
        nodes: list[Json] = [
            {
                "type": "library_node",
                "element_id": call,
                "code": "Malloc",
                "implementation_type": "",
                "size": "*".join([str(size), *extents]),
            },
            {"type": "access_node", "element_id": target, "data": name},
        ]
        edge = {"src": call, "src_conn": "_ret", "dst": target, "dst_conn": "void"}
        block = self._block(nodes, [edge | {"subset": [], "base_type": copy.deepcopy(kind)}])
        self.document["root"]["children"].insert(0, block)
        return name, kind

    def copy_block(
        self,
        source: tuple[str, Sequence[str]],
        target: tuple[str, Sequence[str]],
        *,
        source_kind: Json | None = None,
    ) -> Json:
        """``target = source``, each a container and a subset of it.

        Args:
            source_kind: what memlets from the source have as type, if not the container's own.
        """
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
        kinds = (source_kind, None)
        for edge, (data, subset), kind in zip(edges, (source, target), kinds, strict=True):
            kind = copy.deepcopy(kind or self.document["containers"][data])
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

    def loop(
        self, name: str, indvar: str, bounds: tuple[str, str], body: Iterable[Json], *, by: int = 1
    ) -> Json:
        """A serial loop ``for (indvar = bounds[0]; indvar < bounds[1]; indvar += by)``.

        Args:
            name: what recipes are to call it.
        """
        element_id = self.fresh_id()
        self.made[element_id] = name
        return {
            "type": "for",
            "sub_type": "for",
            "element_id": element_id,
            "debug_info": dict(NOWHERE),
            "indvar": indvar,
            "init": bounds[0],
            "condition": f"({indvar} < {bounds[1]})",
            "update": f"{by} + {indvar}",
            "schedule_type": copy.deepcopy(SEQUENTIAL),
            "root": self.sequence(body),
        }

    def sequence(self, children: Iterable[Json]) -> Json:
        return {
            "type": "sequence",
            "element_id": self.fresh_id(),
            "debug_info": dict(NOWHERE),
            "children": list(children),
        }

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


_BYTES = {"int32": 4, "int64": 8, "float": 4, "double": 8}


def elements(root: Json) -> Iterator[Json]:
    """All control-flow elements from `root` on, in preorder."""
    yield root
    if "root" in root:
        yield from elements(root["root"])
    for case in root.get("branches", ()):
        yield from elements(case["root"])
    for child in root.get("children", ()):
        yield from elements(child)


def nests_of(document: Json, wanted: Callable[[Json], bool]) -> Iterator[Nest]:
    """The nests of some of the outermost loops, in program order."""
    containers = read_containers(document)
    for element in outermost(document["root"]):
        if wanted(element):
            yield read_nest(read_loop(element), containers)


def outermost(element: Json) -> Iterator[Json]:
    """The loops from `element` on that stand in no other loop."""
    if element["type"] in ("for", "map", "while"):
        yield element
    for case in element.get("branches", ()):
        yield from outermost(case["root"])
    for child in element.get("children", ()):
        yield from outermost(child)


def replace(root: Json, old: Json, new: Sequence[Json]) -> None:
    """Put the elements `new` in the place of `old`, a sequence's child somewhere below `root`."""
    for element in elements(root):
        children = element.get("children", [])
        for place, child in enumerate(children):
            if child is old:
                children[place : place + 1] = new
                return
    raise IllegalStepError("the loop is gone")


def lower_bounds(loop: Loop) -> list[expr.Polynomial]:
    """Where the loop's variable begins: at the greatest of these."""
    return list(loop.bounds.lows)


def upper_bounds(loop: Loop) -> list[expr.Polynomial]:
    """What the loop's variable stays under: exclusive bounds that all hold.

    Empty if the condition is of another form.
    """
    return list(loop.bounds.highs)


def render(polynomial: expr.Polynomial) -> str:
    """The polynomial as docc reads it."""
    terms = ["*".join([str(factor), *monomial]) for monomial, factor in sorted(polynomial.items())]
    return f"({' + '.join(terms)})" if terms else "0"


def smallest(texts: Iterable[str]) -> str:
    """The least of some expressions."""
    return _extreme("min", texts)


def largest(texts: Iterable[str]) -> str:
    """The greatest of some expressions."""
    return _extreme("max", texts)


def _extreme(function: str, texts: Iterable[str]) -> str:
    first, *rest = dict.fromkeys(texts)
    for text in rest:
        first = f"{function}({first}, {text})"
    return first


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
