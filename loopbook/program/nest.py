"""A loop nest numbered through: loops, blocks, operations, memory accesses, and how they hang
together.

A `Nest` is a view of one outermost loop of a program tree, made by `loopbook.program.nests`. It
names its loops ``L0``, ``L1``… in preorder and its arrays ``A0``, ``A1``… by first access, and does
not depend on how the program names its variables.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

from loopbook.program import tree
from loopbook.program.bounds import Bounds, bounds
from loopbook.program.expr import Expr
from loopbook.program.shape import ancestries

NodeRef = tuple[str, int]
"""A node of the nest: its kind ("loop", "branch", "block", "operation", "access") and its index."""


CANONICAL_VERSION = 1
"""Raised when the canonical text changes, so that old and new fingerprints never collide."""


class Stride(IntEnum):
    """How far an access moves when one enclosing loop advances by one iteration variable."""

    ZERO = 0
    UNIT = 1
    CONSTANT = 2
    SYMBOLIC = 3
    NON_AFFINE = 4


class Bound(IntEnum):
    """What a loop's bounds depend on."""

    CONSTANT = 0
    SYMBOLIC = 1
    ENCLOSING = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop.

    Attributes:
        index: preorder position in the nest; the loop is called ``L<index>``.
        kind: "map" (parallel), "reduce", "for" or "while".
        parent: index of the enclosing loop, -1 for the outermost.
        depth: 0 for the outermost loop.
        step: constant increment, or None.
        trip: constant trip count, or None.
        bound: what the trip count depends on.
        schedule: docc's schedule type, such as "SEQUENTIAL".
        element_id: docc's id in the SDFG it was read from.
    """

    index: int
    kind: str
    parent: int
    depth: int
    indvar: str
    init: str
    condition: str
    update: str
    step: int | None
    trip: int | None
    bound: Bound
    schedule: str
    element_id: int

    @property
    def name(self) -> str:
        return f"L{self.index}"

    @property
    def bounds(self) -> Bounds:
        """What its header says; nothing of a while loop.

        Raises:
            SdfgError: if that cannot be read.
        """
        if not self.indvar:
            return Bounds((), (), (), None, ends=False)
        return bounds(self.indvar, *map(Expr, (self.init, self.condition, self.update)))


@dataclass(frozen=True, slots=True)
class Container:
    """An array ("A0"…), or a scalar ("S0"…), by first access.

    Attributes:
        data: what the program calls it.
        dtype: element type, one of `loopbook.program.types.DTYPES`.
        is_array: False for scalars and symbols.
        written: whether the nest writes it.
    """

    index: int
    name: str
    data: str
    dtype: str
    is_array: bool
    written: bool


@dataclass(frozen=True, slots=True)
class Branch:
    """One case of an if-else. `parent` is the innermost enclosing loop."""

    index: int
    parent: int
    condition: str
    element_id: int


@dataclass(frozen=True, slots=True)
class Block:
    """Straight-line code. `parent` is the innermost loop around it, `guards` the branches."""

    index: int
    parent: int
    guards: tuple[int, ...]
    element_id: int


@dataclass(frozen=True, slots=True)
class Operation:
    """A tasklet ("fp_add"), a mathematical function ("cmath:sqrt"), a library node ("lib:GEMM"),
    a symbol assignment ("symbol") or a jump ("break", "continue", "return")."""

    index: int
    block: int
    op: str
    dtype: str
    inputs: int


@dataclass(frozen=True, slots=True)
class Access:
    """One memlet: `operation` reads or writes `container`.

    Attributes:
        subset: docc's index expressions, one for each dimension (flat arrays have one).
        strides: one class for each enclosing loop, outermost first.
    """

    index: int
    block: int
    operation: int
    container: int
    write: bool
    connector: str
    subset: tuple[str, ...]
    strides: tuple[Stride, ...]


@dataclass(frozen=True)
class Nest:
    """One outermost loop of an SDFG with all that it contains.

    Attributes:
        position: place among the outermost loops of its SDFG, from 0.
        contains: parent to child: loops, branches, blocks, operations.
        order: one sibling to the next in program order.
        flows: dataflow: access to operation (read), operation to access (write), and a write to the
            reads that take its value inside the same block.
        symbols: free integer symbols (sizes) by canonical number: ``N0``, ``N1``…
        canonical: text that is the same for all nests that differ only by names and element ids.
        loop: the outermost loop itself, in the program tree.
    """

    position: int
    loops: tuple[Loop, ...]
    containers: tuple[Container, ...]
    branches: tuple[Branch, ...]
    blocks: tuple[Block, ...]
    operations: tuple[Operation, ...]
    accesses: tuple[Access, ...]
    contains: tuple[tuple[NodeRef, NodeRef], ...]
    order: tuple[tuple[NodeRef, NodeRef], ...]
    flows: tuple[tuple[NodeRef, NodeRef], ...]
    symbols: tuple[str, ...]
    canonical: str
    loop: tree.Loop | tree.While = field(repr=False, compare=False)

    @property
    def element_id(self) -> int:
        """docc's id of the outermost loop."""
        return self.loops[0].element_id

    def __repr__(self) -> str:
        loops = " ".join(loop.indvar for loop in self.loops[:9])[:80]
        return f"<Nest {self.position}: {len(self.loops)} loops ({loops}), {self.fingerprint[:12]}>"

    @cached_property
    def arrays(self) -> tuple[Container, ...]:
        """The containers that recipes can name: ``A0``, ``A1``…"""
        return tuple(c for c in self.containers if c.is_array)

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits: 128 bits of SHA-256 of `canonical`. One for all nests that differ
        only by names and element ids."""
        return hashlib.sha256(f"{CANONICAL_VERSION}\n{self.canonical}".encode()).hexdigest()[:32]

    def children(self, loop: int) -> tuple[Loop, ...]:
        """The loops directly inside loop number `loop`."""
        return tuple(other for other in self.loops if other.parent == loop)

    def ancestry(self, loop: int) -> tuple[Loop, ...]:
        """The loops around and including loop number `loop`, outermost first."""
        return self._ancestries[loop] if loop >= 0 else ()

    @cached_property
    def _ancestries(self) -> tuple[tuple[Loop, ...], ...]:
        return ancestries(self.loops)

    @cached_property
    def notes(self) -> dict[str, Any]:
        """What has been worked out from this nest alone, kept for the next who asks. By name."""
        return {}
