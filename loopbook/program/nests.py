"""Reads nests from the program tree.

The reader walks one outermost loop in program order and gives out canonical names as it meets
things: loops ``L0…`` in preorder, arrays ``A0…`` and scalars ``S0…`` by first access, size symbols
``N0…`` by first use. The canonical text that comes out along the way is what fingerprints hash.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopbook.errors import SdfgError
from loopbook.program import strides, tree
from loopbook.program.accesses import accesses
from loopbook.program.dataflow import Block
from loopbook.program.members import Json
from loopbook.program.nest import Bound, Branch, Loop, Nest, NodeRef
from loopbook.program.nest_dataflow import DataflowReader
from loopbook.program.nest_parts import Parts
from loopbook.program.read import read
from loopbook.program.types import Type
from loopbook.program.walk import outermost


def nests(program: tree.Program) -> list[Nest]:
    """The nests of a program, in its order.

    Raises:
        SdfgError: if one of them is not understood.
    """
    loops = enumerate(outermost(program))
    return [read_nest(loop, program.containers, place) for place, loop in loops]


def read_nests(document: Json) -> list[Nest]:
    """The nests of an SDFG's JSON document, in program order.

    Raises:
        SdfgError: if the document is no SDFG, is damaged, or holds what is not understood.
    """
    return nests(read(document))


def read_nest(
    loop: tree.Loop | tree.While, containers: Mapping[str, Type], position: int = 0
) -> Nest:
    """The nest of one outermost loop.

    Args:
        containers: the types of all that the program declares.
        position: place among the program's outermost loops.

    Raises:
        SdfgError: if it holds what is not understood.
    """
    stored = (access for access in accesses(loop) if access.write)
    parts = Parts(containers, {access.container for access in stored if not access.subset})
    _Reader(parts, loop).loop(loop, -1, ())
    return parts.nest(position, loop)


class _Reader:
    """Walks over one nest. Its methods take the number of the loop around, and the branches."""

    def __init__(self, parts: Parts, body: tree.Loop | tree.While) -> None:
        self._parts = parts
        self._names = parts.names
        self._dataflow = DataflowReader(parts, body)

    def loop(self, loop: tree.Loop | tree.While, parent: int, guards: tuple[int, ...]) -> NodeRef:
        """Take in a loop and all that is in it."""
        if isinstance(loop, tree.While):
            return self._while(loop, parent, guards)
        name = f"L{len(self._parts.loops)}"
        first = self._names.canonical(loop.init.text)  # evaluated outside the loop
        shadowed = self._names.scope.get(loop.variable)
        self._names.scope[loop.variable] = name
        node = self._parts.loop(self._header(loop, parent))
        header = [first, *map(self._names.canonical, (loop.condition.text, loop.update.text))]
        self._parts.text.append(f"{loop.kind} {name} [{'; '.join(header)}] {loop.schedule.name} {{")
        self._children(loop.body, node, node[1], guards)
        sums = (f"{r.op}:{self._names.container(r.container).name}" for r in loop.reductions or ())
        self._parts.text.append(" ".join(["}", *sorted(sums)]))
        if shadowed is None:
            self._names.scope.pop(loop.variable, None)
        else:
            self._names.scope[loop.variable] = shadowed
        return node

    def _header(self, loop: tree.Loop, parent: int) -> Loop:
        mentioned = (loop.init.symbols | loop.condition.symbols) - {loop.variable}
        declared = {name for name in mentioned if name in self._parts.types}
        bound = strides.bound(declared, self._names.scope, self._parts.changing)
        return Loop(
            index=len(self._parts.loops),
            kind=loop.kind,
            parent=parent,
            depth=self._depth(parent),
            indvar=loop.variable,
            init=loop.init.text,
            condition=loop.condition.text,
            update=loop.update.text,
            step=loop.step,
            trip=loop.bounds.trip() if bound == Bound.CONSTANT else None,
            bound=bound,
            schedule=loop.schedule.name,
            element_id=_number(loop),
        )

    def _while(self, loop: tree.While, parent: int, guards: tuple[int, ...]) -> NodeRef:
        index = len(self._parts.loops)
        node = self._parts.loop(
            Loop(
                index=index,
                kind="while",
                parent=parent,
                depth=self._depth(parent),
                indvar="",
                init="",
                condition="",
                update="",
                step=None,
                trip=None,
                bound=Bound.UNKNOWN,
                schedule="",
                element_id=_number(loop),
            )
        )
        self._parts.text.append(f"while L{index} [; ; ]  {{")
        self._children(loop.body, node, index, guards)
        self._parts.text.append("}")
        return node

    def _depth(self, parent: int) -> int:
        return self._parts.loops[parent].depth + 1 if parent >= 0 else 0

    def _children(
        self, sequence: tree.Sequence, container: NodeRef, loop: int, guards: tuple[int, ...]
    ) -> None:
        previous: NodeRef | None = None
        for child in sequence.children:
            for node in self._node(child, loop, guards):
                self._parts.contains.append((container, node))
                if previous is not None:
                    self._parts.order.append((previous, node))
                previous = node

    def _node(self, node: tree.Node, loop: int, guards: tuple[int, ...]) -> list[NodeRef]:
        match node:
            case tree.Loop() | tree.While():
                return [self.loop(node, loop, guards)]
            case tree.Branch():
                return [self._case(case, loop, guards, _number(node)) for case in node.cases]
            case tree.Sequence():
                return [one for child in node.children for one in self._node(child, loop, guards)]
            case Block() | tree.Assignments() | tree.Jump():
                block = self._parts.block(loop, guards, _number(node))
                self._straight(node, block)
                return [("block", block)]
        raise SdfgError("the SDFG has an element that is not understood")

    def _case(
        self, case: tree.Case, loop: int, guards: tuple[int, ...], element_id: int
    ) -> NodeRef:
        index = len(self._parts.branches)
        condition = case.condition.text
        self._parts.branches.append(Branch(index, loop, condition, element_id))
        self._parts.text.append(f"if {self._names.canonical(condition)} {{")
        self._children(case.body, ("branch", index), loop, (*guards, index))
        self._parts.text.append("}")
        return "branch", index

    def _straight(self, node: Block | tree.Assignments | tree.Jump, block: int) -> None:
        """Take in what a block does; `block` is its number."""
        match node:
            case Block():
                self._dataflow.read(node, block)
            case tree.Assignments():
                for assignment in node.assignments:
                    value = self._names.canonical(assignment.expression.text)
                    operation = self._parts.operation(block, "symbol", "int64", 0)
                    access = self._parts.write(operation, assignment.symbol, "_out", ())
                    self._parts.text.append(f"{self._parts.described(access)} := {value}")
            case tree.Jump(kind=kind):
                self._parts.operation(block, kind, "void", 0)
                self._parts.text.append(kind)


def _number(element: tree.Node) -> int:
    """docc's number of an element; 0 if it has none yet."""
    return element.id or 0
