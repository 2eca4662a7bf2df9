"""Which scalars carry values from one statement to another."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from loopbook.program import expr, tree
from loopbook.program.accesses import own_accesses, own_symbols
from loopbook.program.dataflow import AccessNode, Block, LibraryNode
from loopbook.program.expr import Expr
from loopbook.program.tree import Assignments, Branch, Loop, Opaque, Program, While
from loopbook.program.walk import children


@dataclass
class _Uses:
    """Attributes:
    exposed: what is read that nothing before it in its statement has written.
    written: what gets a value.
    """

    exposed: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)


_LOOPS: WeakKeyDictionary[tree.Node, _Uses] = WeakKeyDictionary()
"""Of loops that have been looked at: trees share them."""


def private_scalars(program: Program) -> frozenset[str]:
    """Scalars that carry no value from one statement to another one, anywhere in the program."""
    uses = _Uses(exposed={*program.arguments, *program.extra.value.get("externals", ())})
    _sequence(program.body, uses)
    return frozenset(uses.written - uses.exposed)


def _sequence(sequence: tree.Sequence, uses: _Uses) -> None:
    """Note what the statements of a sequence do, and the loops between them."""
    defined: set[str] = set()
    for node in sequence.children:
        if isinstance(node, Block | Assignments | Branch):
            _scan(node, defined, uses)
            continue
        defined = set()
        if node not in _LOOPS:
            _LOOPS[node] = _inside(node)
        uses.exposed |= _LOOPS[node].exposed
        uses.written |= _LOOPS[node].written


def _inside(node: tree.Node) -> _Uses:
    """What a loop does, or anything else that is no statement."""
    uses = _Uses(exposed=set(own_symbols(node)))
    match node:
        case Loop():
            uses.exposed.add(node.variable)
            uses.exposed.update(one.container for one in node.reductions or ())
            _sequence(node.body, uses)
        case While():
            _sequence(node.body, uses)
        case tree.Sequence():
            _sequence(node, uses)
        case Opaque():
            pass
    return uses


def _scan(node: tree.Node, defined: set[str], uses: _Uses) -> None:
    """Note which scalars a statement's node reads that nothing before it has written."""
    match node:
        case Branch():
            _scan_branch(node, defined, uses)
        case Assignments():
            for assignment in node.assignments:
                uses.exposed |= assignment.expression.symbols - defined
                defined.add(assignment.symbol)
                uses.written.add(assignment.symbol)
        case Block():
            _scan_block(node, defined, uses)
        case _:
            uses.exposed |= _everything(node)


def _scan_branch(branch: Branch, defined: set[str], uses: _Uses) -> None:
    ends = []
    for case in branch.cases:
        uses.exposed |= case.condition.symbols - defined
        inside = set(defined)
        for child in case.body.children:
            _scan(child, inside, uses)
        ends.append(inside)
    if len(ends) > 1 and _covers_all([case.condition for case in branch.cases]):
        defined |= set.intersection(*ends)


def _scan_block(block: Block, defined: set[str], uses: _Uses) -> None:
    for memlet in block.memlets:
        for index in memlet.subset:
            uses.exposed |= index.symbols - defined
    for place, node in enumerate(block.nodes):
        if isinstance(node, AccessNode):
            if not block.inputs[place] and node.container not in defined:
                uses.exposed.add(node.container)
        elif isinstance(node, LibraryNode):
            uses.exposed |= node.fields.symbols
    new = {access.container for access in own_accesses(block) if access.write}
    defined |= new
    uses.written |= new


def _everything(node: tree.Node | tree.Case) -> set[str]:
    """All that a node and those below it name."""
    found = set(own_symbols(node)) | {access.container for access in own_accesses(node)}
    if isinstance(node, Loop):
        found.add(node.variable)
        found.update(one.container for one in node.reductions or ())
    for child in children(node):
        found |= _everything(child)
    return found


def _covers_all(conditions: list[Expr]) -> bool:
    """Whether two conditions are each other's opposite: ``a < b`` and ``b <= a``."""
    if len(conditions) != 2:
        return False
    first, second = (condition.text for condition in conditions)
    opposite = _negated(expr.parse(first))
    return bool(opposite) and expr.normal_form(opposite) == expr.normal_form(second)


def _negated(condition: ast.expr) -> str:
    """The opposite of a condition, or nothing if it is of an unusual form."""
    match condition:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            sides = ast.unparse(left), ast.unparse(right)
            match op:
                case ast.Lt():
                    return f"{sides[1]} <= {sides[0]}"
                case ast.LtE():
                    return f"{sides[1]} < {sides[0]}"
                case ast.Eq():
                    return f"{sides[0]} != {sides[1]}"
                case ast.NotEq():
                    return f"{sides[0]} == {sides[1]}"
        case ast.Call(func=ast.Name(id="And" | "Or" as name), args=args):
            parts = [_negated(part) for part in args]
            return f"{'Or' if name == 'And' else 'And'}({', '.join(parts)})" if all(parts) else ""
    return ""
