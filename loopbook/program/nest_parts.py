"""Collects the parts of a nest as a reader meets them, and numbers them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from loopbook.errors import SdfgError
from loopbook.program import strides, tree
from loopbook.program.nest import Access, Block, Branch, Loop, Nest, NodeRef, Operation
from loopbook.program.types import Type
from loopbook.program.vocabulary import Vocabulary

MAX_LOOPS = 512
MAX_NODES = 50_000

Pair = tuple[NodeRef, NodeRef]


@dataclass(eq=False)
class Parts:
    """The parts of one nest so far; see `Nest`.

    Attributes:
        types: of all that the program declares.
        changing: symbols that get their values inside the nest.
        text: the lines of the canonical text.
    """

    types: Mapping[str, Type]
    changing: Collection[str]
    names: Vocabulary = field(init=False)
    loops: list[Loop] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    contains: list[Pair] = field(default_factory=list)
    order: list[Pair] = field(default_factory=list)
    flows: list[Pair] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = Vocabulary(self.types, self.changing)

    def nest(self, position: int, loop: tree.Loop | tree.While) -> Nest:
        """The nest that they make."""
        return Nest(
            position=position,
            loops=tuple(self.loops),
            containers=tuple(self.names.containers.values()),
            branches=tuple(self.branches),
            blocks=tuple(self.blocks),
            operations=tuple(self.operations),
            accesses=tuple(self.accesses),
            contains=tuple(self.contains),
            order=tuple(self.order),
            flows=tuple(self.flows),
            symbols=tuple(self.names.symbols),
            canonical="\n".join(self.text),
            loop=loop,
        )

    def loop(self, loop: Loop) -> NodeRef:
        """Take in a loop, the next in preorder."""
        if loop.index >= MAX_LOOPS:
            raise SdfgError(f"a nest of more than {MAX_LOOPS} loops is too large")
        self.loops.append(loop)
        return "loop", loop.index

    def block(self, loop: int, guards: tuple[int, ...], element_id: int) -> int:
        """Number of a new block in a loop, under some branches."""
        self.blocks.append(Block(len(self.blocks), loop, guards, element_id))
        return len(self.blocks) - 1

    def operation(self, block: int, op: str, dtype: str, inputs: int) -> int:
        """Number of a new operation in a block."""
        index = len(self.operations)
        if index >= MAX_NODES:
            raise SdfgError(f"a nest of more than {MAX_NODES} operations is too large")
        self.operations.append(Operation(index, block, op, dtype, inputs))
        self.contains.append((("block", block), ("operation", index)))
        return index

    def read(self, operation: int, data: str, connector: str, subset: tuple[str, ...]) -> int:
        """Number of a new access, from which an operation takes a value."""
        access = self._access(operation, data, False, connector, subset)
        self.flows.append((("access", access), ("operation", operation)))
        return access

    def write(self, operation: int, data: str, connector: str, subset: tuple[str, ...]) -> int:
        """Number of a new access, to which an operation gives a value."""
        access = self._access(operation, data, True, connector, subset)
        self.flows.append((("operation", operation), ("access", access)))
        return access

    def _access(
        self, operation: int, data: str, write: bool, connector: str, subset: tuple[str, ...]
    ) -> int:
        container = self.names.container(data, write)
        block = self.operations[operation].block
        classes = tuple(
            strides.stride(subset, loop.indvar, self.names.scope, self.changing)
            for loop in self._around(block)
        )
        index = len(self.accesses)
        self.accesses.append(
            Access(index, block, operation, container.index, write, connector, subset, classes)
        )
        return index

    def _around(self, block: int) -> list[Loop]:
        """The loops around a block, outermost first."""
        loop, chain = self.blocks[block].parent, []
        while loop >= 0:
            chain.append(self.loops[loop])
            loop = self.loops[loop].parent
        return chain[::-1]

    def described(self, access: int) -> str:
        """The canonical text of an access."""
        found = self.accesses[access]
        name = self.names.names[found.container]
        if not found.subset:
            return name
        return f"{name}[{','.join(self.names.canonical(text) for text in found.subset)}]"
