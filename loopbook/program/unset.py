"""Scalars that are read before anything has given them a value."""

from __future__ import annotations

from collections.abc import Iterable

from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.expr import Expr
from loopbook.program.tree import Assignments, Branch, Loop, Program, Scalar
from loopbook.program.walk import Inner, children


def unset(program: Program) -> set[str]:
    """Scalars of a program that some path reads, though nothing before has stored into them: what
    stood there at first is lost. A store that may not happen counts."""
    own = {name for name, kind in program.containers.items() if isinstance(kind, Scalar)}
    found: set[str] = set()
    _after(program, own - program.public, found)
    return found


def _after(node: Program | Inner, left: set[str], found: set[str]) -> set[str]:
    """Those of some scalars that have no value after a node either; `found` gets those it reads."""
    match node:
        case Block():
            return _after_block(node, left, found)
        case Assignments():
            for one in node.assignments:
                found |= _mentioned([one.expression], left)
                left = left - {one.symbol}
            return left
        case Branch():
            found |= _mentioned((case.condition for case in node.cases), left)
            return set.intersection(left, *(_after(case, left, found) for case in node.cases))
        case Loop():
            found |= _mentioned([node.init], left)
            left = left - {node.variable}
            found |= _mentioned([node.condition], left)
    for child in children(node):
        left = _after(child, left, found)
    return left


def _after_block(block: Block, left: set[str], found: set[str]) -> set[str]:
    stored = set()
    for place, node in enumerate(block.nodes):
        if isinstance(node, AccessNode):
            if block.inputs[place]:
                stored.add(node.container)
            elif node.container in left and block.outputs[place]:
                found.add(node.container)
    for memlet in block.memlets:
        found |= _mentioned(memlet.subset, left)
    return left - stored


def _mentioned(expressions: Iterable[Expr], names: set[str]) -> set[str]:
    return {name for expression in expressions for name in expression.symbols if name in names}
