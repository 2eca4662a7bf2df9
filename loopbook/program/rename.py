"""Gives other names to what a program computes with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from loopbook.program import expr
from loopbook.program.accesses import Part, own_accesses, own_symbols, symbols
from loopbook.program.dataflow import AccessNode, Block, LibraryNode, Memlet
from loopbook.program.dataflow import Node as FlowNode
from loopbook.program.element import like
from loopbook.program.kept import Kept
from loopbook.program.tree import Assignment, Assignments, Case, Jump, Loop, Node, Opaque, Program
from loopbook.program.types import Array, Pointer, Tensor, Type, type_of
from loopbook.program.walk import children, preorder, with_new

Names = Mapping[str, str]
Renamed = TypeVar("Renamed", bound=Node | Case)


def renamed(node: Renamed, names: Names) -> Renamed:
    """A node with other names for containers, loop variables and symbols, everywhere below it.

    What mentions none of them is shared. `Opaque` nodes stay as they are.
    """
    node = with_new(node, [renamed(child, names) for child in children(node)])
    match node:
        case Loop():
            changed: Any = _loop(node, names)
        case Case():
            condition = node.condition.renamed(names)
            changed = node if condition is node.condition else like(node, condition=condition)
        case Block():
            changed = _block(node, names)
        case Assignments():
            changed = _assignments(node, names)
        case Jump(value=value, type=None) if value in names:
            changed = like(node, value=names[value])
        case _:
            changed = node
    return changed


def renamed_type(given: Type, names: Names) -> Type:
    """A type with other names for the sizes in it; itself if it mentions none of them."""
    size = given.storage.size
    if size is not None and (new := size.renamed(names)) is not size:
        given = replace(given, storage=replace(given.storage, size=new))
    match given:
        case Pointer(to=Type() as to) if (new := renamed_type(to, names)) is not to:
            return replace(given, to=new)
        case Array():
            of, count = renamed_type(given.of, names), given.count.renamed(names)
            if of is not given.of or count is not given.count:
                return replace(given, of=of, count=count)
        case Tensor():
            sizes = (*given.shape, *given.strides, given.offset)
            if any(not one.symbols.isdisjoint(names) for one in sizes):
                shape, strides = (
                    tuple(one.renamed(names) for one in many)
                    for many in (given.shape, given.strides)
                )
                offset = given.offset.renamed(names)
                return replace(given, shape=shape, strides=strides, offset=offset)
    return given


def _loop(loop: Loop, names: Names) -> Loop:
    header = {name: getattr(loop, name).renamed(names) for name in ("init", "condition", "update")}
    reductions = loop.reductions
    if reductions is not None and any(one.container in names for one in reductions):
        reductions = tuple(
            replace(one, container=names.get(one.container, one.container)) for one in reductions
        )
    if (
        loop.variable in names
        or reductions is not loop.reductions
        or any(getattr(loop, name) is not new for name, new in header.items())
    ):
        variable = names.get(loop.variable, loop.variable)
        return like(loop, variable=variable, reductions=reductions, **header)
    return loop


def _assignments(node: Assignments, names: Names) -> Assignments:
    targets = {one.symbol for one in node.assignments}
    if names.keys().isdisjoint(targets | own_symbols(node)):
        return node
    return like(
        node,
        assignments=tuple(
            Assignment(names.get(one.symbol, one.symbol), one.expression.renamed(names))
            for one in node.assignments
        ),
    )


def _block(block: Block, names: Names) -> Block:
    nodes = tuple(_flow_node(node, names) for node in block.nodes)
    memlets = tuple(_memlet(memlet, names) for memlet in block.memlets)
    if nodes == block.nodes and memlets == block.memlets:
        return block
    return like(block, nodes=nodes, memlets=memlets)


def _flow_node(node: FlowNode, names: Names) -> FlowNode:
    match node:
        case AccessNode(container=container) if container in names:
            return like(node, container=names[container])
        case LibraryNode(fields=fields) if not names.keys().isdisjoint(fields.symbols):
            return like(node, fields=Kept.of(_value(fields.value, names)))
    return node


def _memlet(memlet: Memlet, names: Names) -> Memlet:
    subset = tuple(index.renamed(names) for index in memlet.subset)
    kind = renamed_type(memlet.type, names)  # of a slice, it may hold a loop's variable
    if subset == memlet.subset and kind is memlet.type:
        return memlet
    return like(memlet, subset=subset, type=kind)


def _value(value: Any, names: Names) -> Any:
    """A JSON value with names replaced in its strings, but not in its keys."""
    if isinstance(value, str):
        return expr.substitute(value, names)
    if isinstance(value, list):
        return [_value(one, names) for one in value]
    if isinstance(value, dict):
        return {key: _value(one, names) for key, one in value.items()}
    return value


def with_own_variables(program: Program) -> Program:
    """The program with a variable of its own for every counted loop.

    docc takes a loop for parallel only if nothing else writes its variable. Programs use ``i``
    again and again, so loops that are parallel stay serial in docc's eyes and most transformations
    are refused. A variable that is read or written outside the loops that it counts keeps its name:
    there the program depends on it.
    """
    counts = Counter(node.variable for node in preorder(program) if isinstance(node, Loop))
    shared = {name for name, count in counts.items() if count > 1} - set(program.arguments)
    shared.difference_update(escaping(program) if shared else ())
    if not shared:
        return program
    renaming = _Renaming(program.containers, shared)
    body = renaming.visit(program.body)
    return like(program, body=body, containers=MappingProxyType(renaming.containers))


class _Renaming:
    """Renames the variables of loops in preorder; the first loop of each name keeps it."""

    def __init__(self, containers: Mapping[str, Type], shared: set[str]) -> None:
        self.containers = dict(containers)
        self._shared = shared
        self._numbers: Counter[str] = Counter()

    def visit(self, node: Renamed) -> Renamed:
        if isinstance(node, Loop) and node.variable in self._shared:
            self._numbers[node.variable] += 1
            if self._numbers[node.variable] > 1:
                node = self._renamed(node)
        return with_new(node, [self.visit(child) for child in children(node)])

    def _renamed(self, loop: Loop) -> Any:
        name = loop.variable
        fresh = self._fresh(name)
        self.containers[fresh] = type_of(name, self.containers)
        return like(renamed(loop, {name: fresh}), init=loop.init)  # evaluated outside the loop

    def _fresh(self, name: str) -> str:
        number = self._numbers[name]
        while (candidate := f"{name}_{number}") in self.containers:
            number += 1
        return candidate


def escaping(node: Part, counted: frozenset[str] = frozenset()) -> Iterator[str]:
    """Names that stand where no loop around counts them, or that are counted twice or written."""
    if isinstance(node, Loop):
        yield from node.init.symbols - counted
        if node.variable in counted:
            yield node.variable
        counted = counted | {node.variable}
        yield from (node.condition.symbols | node.update.symbols) - counted
        yield from (one.container for one in node.reductions or ())
    elif isinstance(node, Opaque):
        yield from symbols(node)
    else:
        yield from own_symbols(node) - counted
        for access in own_accesses(node):
            if access.write or access.container not in counted:
                yield access.container
    for child in children(node):
        yield from escaping(child, counted)
