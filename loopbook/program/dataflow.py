"""Leaves of the program tree that compute: blocks of dataflow.

A block is a small graph. Its nodes are containers, constants and operations; its memlets say what
flows from which node to which. A memlet names its ends by their places among the nodes.
"""

from __future__ import annotations

import heapq
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from loopbook.errors import SdfgError
from loopbook.program.element import NOWHERE, Element, Position
from loopbook.program.expr import Expr
from loopbook.program.kept import Kept
from loopbook.program.types import Type

OPCODES = (
    "assign",
    "fp_neg",
    "fp_add",
    "fp_sub",
    "fp_mul",
    "fp_div",
    "fp_rem",
    "fp_fma",
    "fp_oeq",
    "fp_one",
    "fp_oge",
    "fp_ogt",
    "fp_ole",
    "fp_olt",
    "fp_ord",
    "fp_ueq",
    "fp_une",
    "fp_ugt",
    "fp_uge",
    "fp_ult",
    "fp_ule",
    "fp_uno",
    "int_add",
    "int_sub",
    "int_mul",
    "int_sdiv",
    "int_srem",
    "int_udiv",
    "int_urem",
    "int_and",
    "int_or",
    "int_xor",
    "int_shl",
    "int_ashr",
    "int_lshr",
    "int_smin",
    "int_smax",
    "int_scmp",
    "int_umin",
    "int_umax",
    "int_ucmp",
    "int_eq",
    "int_ne",
    "int_sge",
    "int_sgt",
    "int_sle",
    "int_slt",
    "int_uge",
    "int_ugt",
    "int_ule",
    "int_ult",
    "int_abs",
)
"""docc's tasklet codes by number (``docc.sdfg.TaskletCode``)."""


@dataclass(frozen=True, eq=False)
class AccessNode(Element):
    """A container, where a block reads or writes it."""

    container: str


@dataclass(frozen=True, eq=False)
class Constant(Element):
    """A number, as docc writes it."""

    text: str
    type: Type


@dataclass(frozen=True, eq=False)
class Operation(Element):
    """Something that computes: a `Tasklet`, a `MathsCall` or a `LibraryNode`."""

    @property
    def op(self) -> str:
        """What it computes: "fp_add", "cmath:sqrt", "lib:GEMM"."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Tasklet(Operation):
    """One instruction; `code` is one of `OPCODES`, `inputs` and `output` are its connectors."""

    code: str
    inputs: tuple[str, ...]
    output: str

    @property
    def op(self) -> str:
        return self.code


@dataclass(frozen=True, eq=False)
class MathsCall(Operation):
    """A function of the C library for mathematics.

    Attributes:
        function: docc's name for it, without a suffix for the type, such as "sqrt".
        name: as C calls it.
        dtype: what it computes in.
    """

    function: str
    name: str
    dtype: str
    implementation: str = ""

    @property
    def op(self) -> str:
        return f"cmath:{self.function}"


@dataclass(frozen=True, eq=False)
class LibraryNode(Operation):
    """Any other of docc's library nodes.

    Attributes:
        code: docc's name, such as "GEMM" or "Malloc".
        implementation: "BLAS", or nothing where docc is to choose.
        fields: what else it says, each its own: sizes as expressions, flags.
    """

    code: str
    implementation: str
    fields: Kept

    @property
    def op(self) -> str:
        return f"lib:{self.code}"


Node = AccessNode | Constant | Operation


@dataclass(frozen=True, eq=False)
class Memlet(Element):
    """What flows along one edge.

    Attributes:
        source, target: places of the nodes at its ends.
        source_connector, target_connector: where it leaves and where it enters.
        subset: the element of the container at its end, one index for each dimension.
        type: what the container is taken for.
    """

    source: int
    target: int
    source_connector: str
    target_connector: str
    subset: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True, eq=False)
class Block(Element):
    """A graph of dataflow, run as one."""

    nodes: tuple[Node, ...]
    memlets: tuple[Memlet, ...]

    @cached_property
    def inputs(self) -> tuple[tuple[Memlet, ...], ...]:
        """The memlets into each node."""
        found: list[list[Memlet]] = [[] for _ in self.nodes]
        for memlet in self.memlets:
            found[memlet.target].append(memlet)
        return tuple(map(tuple, found))

    @cached_property
    def outputs(self) -> tuple[tuple[Memlet, ...], ...]:
        """The memlets out of each node."""
        found: list[list[Memlet]] = [[] for _ in self.nodes]
        for memlet in self.memlets:
            found[memlet.source].append(memlet)
        return tuple(map(tuple, found))

    @cached_property
    def by_age(self) -> tuple[Memlet, ...]:
        """The memlets in the order of the nodes that they lead to: docc's own follows addresses in
        its memory, and is another one in every process."""

        def order(memlet: Memlet) -> tuple[int, str, int]:
            target, source = self.nodes[memlet.target], self.nodes[memlet.source]
            return age(target), memlet.target_connector, age(source)

        return tuple(sorted(self.memlets, key=order))

    def operations(self) -> Iterator[Operation]:
        """What computes in it."""
        return (node for node in self.nodes if isinstance(node, Operation))


class Statement(Block):
    """Instructions and mathematical functions on elements of containers."""


class LibraryCall(Block):
    """A call to a library, such as BLAS."""

    @property
    def call(self) -> LibraryNode:
        return next(node for node in self.nodes if isinstance(node, LibraryNode))


class Allocation(LibraryCall):
    """Memory is allocated or freed; `call` says which."""


class Reference(Block):
    """A pointer is set to an address that is computed or loaded."""


def block(
    nodes: tuple[Node, ...],
    memlets: tuple[Memlet, ...],
    *,
    id: int | None = None,
    position: Position = NOWHERE,
) -> Block:
    """A block of the class that its nodes make it."""
    kind: type[Block] = Statement
    calls = [node.code for node in nodes if isinstance(node, LibraryNode)]
    if any(code in ALLOCATING for code in calls):
        kind = Allocation
    elif calls:
        kind = LibraryCall
    else:
        data = {place for place, node in enumerate(nodes) if isinstance(node, AccessNode)}
        if any(memlet.source in data and memlet.target in data for memlet in memlets):
            kind = Reference
    return kind(nodes, memlets, id=id, position=position)


ALLOCATING = ("Malloc", "Free")
"""Library nodes that allocate memory, or free it."""


def part(whole: Block, memlets: Sequence[Memlet]) -> Block:
    """Some of a block's memlets, with the nodes at their ends, as a block of their own."""
    ends = sorted({end for memlet in memlets for end in (memlet.source, memlet.target)})
    place = {old: new for new, old in enumerate(ends)}
    return block(
        tuple(whole.nodes[end] for end in ends),
        tuple(replace(m, source=place[m.source], target=place[m.target]) for m in memlets),
        id=whole.id,
        position=whole.position,
    )


def container_at(whole: Block, place: int) -> str:
    """The container that one of a block's nodes stands for; empty for other nodes."""
    node = whole.nodes[place]
    return node.container if isinstance(node, AccessNode) else ""


def age(node: Node) -> int:
    """A node's number, by which they are ordered: their order in a block follows addresses."""
    return sys.maxsize if node.id is None else node.id


def in_order(block: Block) -> list[int]:
    """The places of a block's nodes, each after those that it takes from, the oldest first: where
    one statement reads what another one changes, nothing flows, and their order in the text is that
    of addresses in docc's memory.

    Raises:
        SdfgError: the block goes in a circle.
    """
    sources = {n: {memlet.source for memlet in into} for n, into in enumerate(block.inputs)}
    found = oldest_first(block, sources)
    if len(found) < len(sources):
        raise SdfgError("a block goes in a circle")
    return found


def oldest_first(block: Block, needs: Mapping[int, Set[int]]) -> list[int]:
    """Places of a block's nodes, each after those that it needs, the oldest first of those that may
    come next. Those that wait in a circle are left out.

    Args:
        needs: the places to put in order, each with those among them that come before it.
    """
    waiting = {place: len(others) for place, others in needs.items()}
    followers: defaultdict[int, list[int]] = defaultdict(list)
    for place, others in needs.items():
        for other in others:
            followers[other].append(place)
    ready = [(age(block.nodes[place]), place) for place, count in waiting.items() if not count]
    heapq.heapify(ready)
    found: list[int] = []
    while ready:
        _, place = heapq.heappop(ready)
        found.append(place)
        for follower in followers[place]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, (age(block.nodes[follower]), follower))
    return found
