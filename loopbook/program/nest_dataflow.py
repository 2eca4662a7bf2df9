"""Reads a nest's blocks of dataflow, in an order that depends on what they compute alone."""

from __future__ import annotations

from functools import cached_property

from loopbook.errors import SdfgError
from loopbook.program import expr, tree
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Constant,
    MathsCall,
    Memlet,
    Node,
    Operation,
)
from loopbook.program.nest_parts import Parts
from loopbook.program.order import container_roles, program_order
from loopbook.program.types import type_of
from loopbook.program.walk import preorder


class DataflowReader:
    """Reads the blocks of one nest into its parts.

    Args:
        body: the nest's outermost loop.
    """

    def __init__(self, parts: Parts, body: tree.Loop | tree.While) -> None:
        self._parts = parts
        self._names = parts.names
        self._body = body

    def read(self, flow: Block, block: int) -> None:
        """Take in what a block does; `block` is its number."""
        writers: dict[int, int] = {}
        for place in program_order(flow, self._describe, self._index):
            node = flow.nodes[place]
            if isinstance(node, AccessNode):
                self._references(flow, place, node, block, writers)
            elif isinstance(node, Operation):
                self._operation(flow, place, node, block, writers)

    def _operation(
        self, flow: Block, place: int, node: Operation, block: int, writers: dict[int, int]
    ) -> None:
        inputs = sorted(flow.inputs[place], key=lambda memlet: memlet.target_connector)
        outputs = sorted(flow.outputs[place], key=lambda memlet: memlet.source_connector)
        dtype = self._computes_in(flow, place, node)
        operation = self._parts.operation(block, node.op, dtype, len(inputs))
        reads = [self._read(flow, memlet, operation, writers) for memlet in inputs]
        writes = []
        for memlet in outputs:
            target = _container(flow.nodes[memlet.target])
            access = self._parts.write(operation, target, memlet.source_connector, _texts(memlet))
            writers[memlet.target] = access
            writes.append(self._parts.described(access))
        self._parts.text.append(f"{','.join(writes)} = {node.op}:{dtype}({','.join(reads)})")

    def _computes_in(self, flow: Block, place: int, node: Operation) -> str:
        """The type that an operation computes in: its own, or that of what it is connected to."""
        if isinstance(node, MathsCall):
            return node.dtype
        ends = [memlet.target for memlet in flow.outputs[place]]
        ends += [memlet.source for memlet in flow.inputs[place]]
        for end in ends:
            if isinstance(data := flow.nodes[end], AccessNode):
                return type_of(data.container, self._parts.types).element
        return "void"

    def _read(self, flow: Block, memlet: Memlet, operation: int, writers: dict[int, int]) -> str:
        """Take in what an operation reads; its canonical text."""
        source = flow.nodes[memlet.source]
        if isinstance(source, Constant):
            return source.text
        data = _container(source)
        access = self._parts.read(operation, data, memlet.target_connector, _texts(memlet))
        written = writers.get(memlet.source)
        if written is not None:
            self._parts.flows.append((("access", written), ("access", access)))
        return self._parts.described(access)

    def _references(
        self, flow: Block, place: int, target: AccessNode, block: int, writers: dict[int, int]
    ) -> None:
        """Memlets from container to container: pointer arithmetic and dereferences."""
        for memlet in flow.inputs[place]:
            source = flow.nodes[memlet.source]
            if not isinstance(source, AccessNode):
                continue
            dtype = type_of(source.container, self._parts.types).element
            operation = self._parts.operation(block, "reference", dtype, 1)
            read = self._read(flow, memlet, operation, writers)
            access = self._parts.write(operation, target.container, "_out", ())
            writers[place] = access
            self._parts.text.append(f"{self._parts.described(access)} = reference({read})")

    @cached_property
    def _roles(self) -> dict[str, int]:
        """What tells containers without a name apart: the part that each plays in the nest."""
        blocks = [node for node in preorder(self._body) if isinstance(node, Block)]
        names = {n.container for b in blocks for n in b.nodes if isinstance(n, AccessNode)}
        types = {name: type_of(name, self._parts.types) for name in names}
        return container_roles(blocks, {n: f"{t.element} {t.is_array}" for n, t in types.items()})

    def _describe(self, node: Node) -> str:
        """What is known of a node so far, free of the program's names."""
        if isinstance(node, Constant):
            return f"={node.text}"
        if isinstance(node, Operation):
            return node.op
        data = node.container
        if data in self._names.containers:
            return self._names.containers[data].name
        if data in self._names.scope:
            return self._names.scope[data]
        return f"?{self._roles[data]}"

    def _index(self, memlet: Memlet) -> str:
        """A memlet's subset, free of the program's names."""
        rename = self._names.marked("")
        return ",".join(expr.normal_form(index.text, rename) for index in memlet.subset)


def _container(node: Node) -> str:
    if isinstance(node, AccessNode):
        return node.container
    raise SdfgError("the SDFG has an operation that takes its value from no container, or to none")


def _texts(memlet: Memlet) -> tuple[str, ...]:
    return tuple(index.text for index in memlet.subset)
