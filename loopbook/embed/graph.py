"""The graph of a nest: what the neural network sees.

Nodes are the nest's loops, branches, blocks, operations, accesses and containers. Each edge has one
of `RELATIONS`: nesting, program order, loop bounds, dataflow, which container an access touches,
and how far an access moves with every enclosing loop. No name, element id or number of a container
enters, so nests that differ only by those have the same graph.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log1p, log2

import numpy as np

from loopbook.embed.operations import OPERATIONS, operation_class
from loopbook.embed.strides import STRIDES, stride_classes
from loopbook.program import expr
from loopbook.program.canonical_form import canonical_form
from loopbook.program.nest import Access, Container, Loop, Nest, NodeRef, Operation, Stride

KINDS = ("loop", "branch", "block", "operation", "access", "container")
"""The kinds of nodes."""

GROUPS = ("down", "up", "beside", "forward", "backward", "storage", "stride")
"""Relations of one group are summed together by the network."""

_RELATION_GROUPS = {
    "contains": "down",
    "inside": "up",
    "next": "beside",
    "previous": "beside",
    "bounds": "beside",
    "bounded by": "beside",
    "flow": "forward",
    "flow back": "backward",
    "reads": "storage",
    "writes": "storage",
    "read by": "storage",
    "written by": "storage",
    **{f"moves {name}": "stride" for name in STRIDES},
    **{f"moved {name}": "stride" for name in STRIDES},
}

RELATIONS = tuple(_RELATION_GROUPS)
"""Kinds of edges, from source to target: "moves …" leads from an access to a loop."""

RELATION_GROUP = np.array([GROUPS.index(group) for group in _RELATION_GROUPS.values()])
"""Shape ``(len(RELATIONS),)``: the group of each relation, an index into `GROUPS`."""

_LOOP_KINDS = ("map", "reduce", "for", "while")
_DTYPE_GROUPS = ("double", "float", "half", "long", "integer", "other")
FEATURES = (
    *(f"kind {kind}" for kind in KINDS),
    *(f"loop {kind}" for kind in _LOOP_KINDS),
    *(f"bound {bound}" for bound in range(4)),
    *("loop trip", "loop depth", "loop step", "loop innermost", "loop scheduled", "loop children"),
    *(f"dtype {group}" for group in _DTYPE_GROUPS),
    *(f"operation {op}" for op in OPERATIONS),
    "operation inputs",
    *("access write", "access scalar", "access same", "access others", "access moving"),
    *("container array", "container written", "container read", "container accesses"),
    *("container places", "container shifts", "container rows"),
)
"""The columns of a node's features; what does not fit its kind is 0. Counts are log(1 + count)."""

WIDTH = len(FEATURES)
"""Features of a node."""

SCHEMA = {
    "meaning": 2,
    "features": list(FEATURES),
    "groups": list(GROUPS),
    "relations": _RELATION_GROUPS,
}
"""What there is in a graph, by name, as weights keep it (see `loopbook.embed.schema`). The number
is raised when a name gets another meaning: weights that have learnt the old one are of no use."""

_COLUMN = {name: column for column, name in enumerate(FEATURES)}
_RELATION = {name: number for number, name in enumerate(RELATIONS)}
_MOVES = _RELATION[f"moves {STRIDES[0]}"]
_MOVED = _RELATION[f"moved {STRIDES[0]}"]

_DTYPE_COLUMN = {
    **dict.fromkeys(("half", "bfloat"), _COLUMN["dtype half"]),
    **dict.fromkeys(("x86_fp80", "fp128", "ppc_fp128"), _COLUMN["dtype long"]),
    **{f"{sign}int{bits}": _COLUMN["dtype integer"] for sign in ("", "u") for bits in (8, 16)},
    **{f"{sign}int{bits}": _COLUMN["dtype integer"] for sign in ("", "u") for bits in (32, 64)},
    "double": _COLUMN["dtype double"],
    "float": _COLUMN["dtype float"],
}


@dataclass(frozen=True, eq=False)
class NestGraph:
    """One nest's graph, or several side by side.

    Attributes:
        features: ``(n, WIDTH)`` float32.
        kind: ``(n,)`` index into `KINDS`.
        source: ``(e,)`` node that each edge starts from.
        target: ``(e,)`` node that it leads to.
        relation: ``(e,)`` index into `RELATIONS`.
        loops: ``(l,)`` the loops' nodes, in preorder.
        containers: ``(a,)`` the arrays' nodes, in the order of their names.
        owner: ``(n,)`` number of the nest that each node belongs to, never falling.
        count: number of nests.
    """

    features: np.ndarray
    kind: np.ndarray
    source: np.ndarray
    target: np.ndarray
    relation: np.ndarray
    loops: np.ndarray
    containers: np.ndarray
    owner: np.ndarray
    count: int

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.kind)


def nest_graph(nest: Nest) -> NestGraph:
    """The graph of `nest`."""
    return _Builder(nest).build()


def canonical_graph(nest: Nest) -> NestGraph:
    """The graph of the nest's canonical form, which its vector is made of. Its loops and
    containers are not those of the nest, and none are named."""
    nothing = np.zeros(0, np.int64)
    return replace(nest_graph(canonical_form(nest)), loops=nothing, containers=nothing)


def side_by_side(graphs: Sequence[NestGraph]) -> NestGraph:
    """One graph without edges between its parts; nest i is the i-th of `graphs`."""
    if len(graphs) == 1:
        return graphs[0]
    sizes = [graph.nodes for graph in graphs]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def shifted(name: str) -> np.ndarray:
        return np.concatenate(
            [getattr(graph, name) + start for graph, start in zip(graphs, starts, strict=True)]
        )

    return NestGraph(
        features=np.concatenate([graph.features for graph in graphs]),
        kind=np.concatenate([graph.kind for graph in graphs]),
        source=shifted("source"),
        target=shifted("target"),
        relation=np.concatenate([graph.relation for graph in graphs]),
        loops=shifted("loops"),
        containers=shifted("containers"),
        owner=np.repeat(np.arange(len(graphs)), sizes),
        count=len(graphs),
    )


def heard(graph: NestGraph, relations: np.ndarray) -> NestGraph:
    """The graph without edges of other relations.

    Args:
        relations: for each of `RELATIONS` whether it stays.
    """
    kept = relations[graph.relation]
    edges = {name: getattr(graph, name)[kept] for name in ("source", "target", "relation")}
    return replace(graph, **edges)


def signature(graph: NestGraph, rounds: int = 4) -> str:
    """Equal for graphs that differ only by the order of nodes and edges (colours refined as by B.
    Weisfeiler and A. Leman, 1968), and for few others."""
    colours = [row.tobytes() for row in graph.features]
    edges = list(zip(graph.source, graph.target, graph.relation, strict=True))
    for _ in range(rounds):
        around: list[list[bytes]] = [[] for _ in colours]
        for source, target, relation in edges:
            around[target].append(bytes([relation]) + colours[source])
        colours = [
            hashlib.sha256(b"".join([colour, *sorted(near)])).digest()
            for colour, near in zip(colours, around, strict=True)
        ]
    return hashlib.sha256(b"".join(sorted(colours))).hexdigest()


class _Builder:
    """Collects features and edges; nodes are numbered kind by kind."""

    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        self._rows: list[int] = []
        self._columns: list[int] = []
        self._values: list[float] = []
        self._edges: list[tuple[int, int, int]] = []
        self._counts = (
            len(nest.loops),
            len(nest.branches),
            len(nest.blocks),
            len(nest.operations),
            len(nest.accesses),
            len(nest.containers),
        )
        start = 0
        self._start: dict[str, int] = {}
        for kind, count in zip(KINDS, self._counts, strict=True):
            self._start[kind] = start
            start += count
        self._nodes = start

    def build(self) -> NestGraph:
        nest = self._nest
        self._loops()
        for operation in nest.operations:
            self._operation(operation)
        self._accesses()
        self._pairs(nest.contains, "contains", "inside")
        self._pairs(nest.order, "next", "previous")
        self._pairs(nest.flows, "flow", "flow back")
        kind = np.repeat(np.arange(len(KINDS)), self._counts)
        features = np.zeros((self._nodes, WIDTH), np.float32)
        features[np.arange(self._nodes), kind] = 1.0
        features[self._rows, self._columns] = self._values
        edges = np.array(self._edges, np.int64).reshape(-1, 3).T
        containers = self._start["container"]
        return NestGraph(
            features=features,
            kind=kind,
            source=edges[0],
            target=edges[1],
            relation=edges[2],
            loops=np.arange(len(nest.loops)),
            containers=np.array([containers + c.index for c in nest.arrays], np.int64),
            owner=np.zeros(self._nodes, np.int64),
            count=1,
        )

    def _set(self, node: int, feature: str, value: float = 1.0) -> None:
        self._rows.append(node)
        self._columns.append(_COLUMN[feature])
        self._values.append(value)

    def _dtype(self, node: int, dtype: str) -> None:
        self._rows.append(node)
        self._columns.append(_DTYPE_COLUMN.get(dtype, _COLUMN["dtype other"]))
        self._values.append(1.0)

    def _pairs(self, pairs: Sequence[tuple[NodeRef, NodeRef]], forward: str, backward: str) -> None:
        there, back, start = _RELATION[forward], _RELATION[backward], self._start
        for (kind, index), (other_kind, other_index) in pairs:
            a, b = start[kind] + index, start[other_kind] + other_index
            self._edges.append((a, b, there))
            self._edges.append((b, a, back))

    # -- loops ----------------------------------------------------------------------------------

    def _loops(self) -> None:
        nest = self._nest
        children = [0] * len(nest.loops)
        for loop in nest.loops:
            if loop.parent >= 0:
                children[loop.parent] += 1
        for loop in nest.loops:
            node = loop.index
            if loop.kind in _LOOP_KINDS:
                self._set(node, f"loop {loop.kind}")
            self._set(node, f"bound {int(loop.bound)}")
            if loop.trip is not None:
                self._set(node, "loop trip", log2(loop.trip + 1) / 10)
            self._set(node, "loop depth", loop.depth / 4)
            self._set(node, "loop step", float(loop.step != 1))
            self._set(node, "loop innermost", float(children[node] == 0))
            self._set(node, "loop scheduled", float(loop.schedule not in ("", "SEQUENTIAL")))
            self._set(node, "loop children", log1p(children[node]))
            self._bounds(loop)

    def _bounds(self, loop: Loop) -> None:
        """Edges from the enclosing loops that `loop`'s trip count depends on."""
        if loop.parent < 0:
            return
        names = {*expr.symbols(loop.init), *expr.symbols(loop.condition)}
        for outer in self._nest.ancestry(loop.parent):
            if outer.indvar in names and outer.indvar != loop.indvar:
                self._edges.append((outer.index, loop.index, _RELATION["bounds"]))
                self._edges.append((loop.index, outer.index, _RELATION["bounded by"]))

    # -- operations -----------------------------------------------------------------------------

    def _operation(self, operation: Operation) -> None:
        node = self._start["operation"] + operation.index
        self._set(node, f"operation {operation_class(operation.op)}")
        if operation.op.startswith("int_"):
            self._set(node, "operation integer")
        self._set(node, "operation inputs", operation.inputs / 4)
        self._dtype(node, operation.dtype)

    # -- accesses and containers ----------------------------------------------------------------

    def _accesses(self) -> None:
        nest = self._nest
        by_container: dict[int, list[Access]] = {c.index: [] for c in nest.containers}
        for access in nest.accesses:
            by_container[access.container].append(access)
        for container in nest.containers:
            accesses = by_container[container.index]
            places: dict[tuple[str, ...], int] = {}
            for access in accesses:
                places[access.subset] = places.get(access.subset, 0) + 1
            self._container(container, accesses, places)
            for access in accesses:
                self._access(access, container, places)
        for access in nest.accesses:
            if access.subset:
                self._strides(access)

    def _container(
        self, container: Container, accesses: list[Access], places: dict[tuple[str, ...], int]
    ) -> None:
        node = self._start["container"] + container.index
        self._dtype(node, container.dtype)
        self._set(node, "container array", float(container.is_array))
        self._set(node, "container written", float(container.written))
        self._set(node, "container read", float(not all(a.write for a in accesses)))
        self._set(node, "container accesses", log1p(len(accesses)))
        self._set(node, "container places", log1p(len(places)))
        if container.is_array and len(places) > 1:
            shifts, rows = _neighbourhood(places)
            self._set(node, "container shifts", log1p(shifts))
            self._set(node, "container rows", log1p(rows))

    def _access(
        self, access: Access, container: Container, places: dict[tuple[str, ...], int]
    ) -> None:
        node = self._start["access"] + access.index
        home = self._start["container"] + container.index
        self._dtype(node, container.dtype)
        self._set(node, "access write", float(access.write))
        self._set(node, "access scalar", float(not access.subset))
        self._set(node, "access same", log1p(places[access.subset] - 1))
        self._set(node, "access others", log1p(len(places) - 1))
        self._set(node, "access moving", sum(s != Stride.ZERO for s in access.strides) / 4)
        there, back = ("writes", "written by") if access.write else ("reads", "read by")
        self._edges.append((node, home, _RELATION[there]))
        self._edges.append((home, node, _RELATION[back]))

    def _strides(self, access: Access) -> None:
        node = self._start["access"] + access.index
        loops = self._nest.ancestry(self._nest.blocks[access.block].parent)
        classes = stride_classes(access, loops)
        for loop, stride in zip(loops, classes, strict=True):
            self._edges.append((node, loop.index, _MOVES + stride))
            self._edges.append((loop.index, node, _MOVED + stride))


def _neighbourhood(places: dict[tuple[str, ...], int]) -> tuple[int, int]:
    """How many constant shifts, and how many places apart from those, a container is touched at."""
    shifts, rows = set(), set()
    for subset in places:
        terms = [expr.polynomial(text) for text in subset]
        shifts.add(tuple(polynomial.get((), 0) for polynomial in terms))
        rows.add(
            tuple(frozenset(item for item in polynomial.items() if item[0]) for polynomial in terms)
        )
    return len(shifts), len(rows)
