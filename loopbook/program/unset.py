"""Scalars that are read before anything has given them a value."""

from __future__ import annotations

from collections.abc import Iterable

from loopbook.errors import LoopbookError
from loopbook.program import expr
from loopbook.program.conditions import covers_all
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.expr import Expr
from loopbook.program.tree import Assignments, Branch, Loop, Program, Scalar, While
from loopbook.program.walk import Inner, children


def unset(program: Program, *, sure: bool = False) -> set[str]:
    """Scalars of a program that some path reads, though nothing before has stored into them: what
    stood there at first is lost.

    Args:
        sure: a store that may not happen does not count; by default it does.
    """
    own = {name for name, kind in program.containers.items() if isinstance(kind, Scalar)}
    found: set[str] = set()
    _after(program, own - program.public, found, sure)
    return found


def _after(node: Program | Inner, left: set[str], found: set[str], sure: bool) -> set[str]:
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
            ends = [_after(case, left, found, sure) for case in node.cases]
            if not sure:
                return left.intersection(*ends)
            if not covers_all([case.condition for case in node.cases]):
                ends.append(left)
            return set().union(*ends)
        case Loop():
            found |= _mentioned([node.init], left)
            left = left - {node.variable}
            found |= _mentioned([node.condition], left)
    before = left
    for child in children(node):
        left = _after(child, left, found, sure)
    return before if sure and isinstance(node, Loop | While) and not _runs(node) else left


def _runs(node: Loop | While) -> bool:
    """Whether it is known that a loop's body runs once at least."""
    if isinstance(node, While):
        return False
    try:
        (low,), (high,) = node.bounds.lows, node.bounds.highs
    except (LoopbookError, ValueError):
        return False
    extent = expr.plus(high, low, -1)
    return extent.keys() <= {()} and extent.get((), 0) > 0


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
