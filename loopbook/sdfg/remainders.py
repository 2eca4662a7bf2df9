"""Remainders of indices that need none: neighbours in a row whose ends meet.

Before::

    for j in range(n): b[j] = a[(j + 1) % n] - a[(j - 1) % n]

and after::

    for j in range(min(1, n)):          b[j] = a[(j + 1) % n] - a[(j - 1) % n]
    for j in range(1, n - 1):           b[j] = a[j + 1] - a[j - 1]
    for j in range(max(1, n - 1), n):   b[j] = a[(j + 1) % n] - a[(j - 1) % n]

(Index-set splitting: Banerjee 1979; Griebl, Feautrier and Lengauer, IJPP 2000.) docc divides twice
for each remainder, as Python's sign wants it, and what is divided is loaded by itself, not in
vectors. That is done last, to what is served: what the book knows sees one loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.dataflow import AccessNode, Block, Constant, Statement
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.inside import Around, is_inside, within
from loopbook.program.tree import (
    SEQUENTIAL,
    Assignment,
    Assignments,
    Case,
    Loop,
    Program,
)
from loopbook.program.walk import Inner, children, preorder, with_new
from loopbook.sdfg.modulo import modulos

FARTHEST = 4
"""How many elements beyond an end an index may be, for its loop to be split."""


def with_plain_remainders(program: Program) -> Program:
    """A finished program in which remainders are left out where they change nothing, with
    innermost loops split for that; itself if there are none such."""
    if not any(isinstance(node, Block) and _taken(node) for node in preorder(program)):
        return program
    work = _Remainders(program)
    body = with_new(program.body, work.below(program.body.children, ()))
    return program if body is program.body else replace(work.program, body=body)


@dataclass(frozen=True)
class _Remainder:
    """``result = value % size`` as Python has it."""

    value: str
    size: Expr
    result: str


@dataclass
class _Remainders:
    """The program, whose loops are counted on the way through it."""

    program: Program

    def below(self, nodes: Sequence[Inner], around: Around) -> list[Inner]:
        """Nodes beside each other, with plain remainders in them and between them."""
        done: list[Inner] = []
        for node, value in zip(nodes, _values(nodes), strict=True):
            if isinstance(node, Block):
                done += [node, *_plain(node, value, around)]
            elif isinstance(node, Loop) and (ends := _ends(node)):
                done += [self._inside(part, around) for part in self._split(node, *ends)]
            else:
                done.append(self._inside(node, around))
        return done

    def _inside(self, node: Inner, around: Around) -> Inner:
        if isinstance(node, Loop | Case):
            try:
                around = within(around, node)
            except SdfgError:
                return node
        return with_new(node, self.below(children(node), around))

    def _split(self, loop: Loop, low: int, high: int) -> list[Loop]:
        """A loop's first iterations, those between and its last ones, so many of each."""
        (end,) = (expr.text(one) for one in loop.bounds.highs)
        name, last = loop.variable, f"{end} - {high}"
        parts = [replace(loop, init=Expr(str(low)), condition=Expr(f"({name} < {last})"))]
        if low:
            condition = expr.conjunction(f"{name} < {low}", f"{name} < {end}")
            parts.insert(0, self._edge(loop, loop.init, condition))
        if high:
            parts.append(self._edge(loop, Expr(f"max({low}, {last})"), loop.condition))
        return parts

    def _edge(self, loop: Loop, init: Expr, condition: Expr) -> Loop:
        number = self.program.counter + 1
        self.program = replace(self.program, counter=number)
        return replace(loop, id=number, init=init, condition=condition, schedule=SEQUENTIAL)


def _values(nodes: Sequence[Inner]) -> list[dict[str, Expr]]:
    """In front of each node, the symbols that the nodes before it have set, and to what."""
    known: dict[str, Expr] = {}
    found = []
    for node in nodes:
        found.append(dict(known))
        if isinstance(node, Assignments):
            for one in node.assignments:
                known = {n: e for n, e in known.items() if one.symbol not in {n, *e.symbols}}
                if one.symbol not in one.expression.symbols:
                    known[one.symbol] = one.expression
        elif isinstance(node, Block):
            ends = (node.nodes[m.target] for m in node.memlets)
            stored = {end.container for end in ends if isinstance(end, AccessNode)}
            known = {n: e for n, e in known.items() if not stored & {n, *e.symbols}}
        else:  # loops and branches: what they set is not looked for
            known = {}
    return found


def _plain(block: Block, values: dict[str, Expr], around: Around) -> list[Inner]:
    """Assignments of what remains, as it was divided, where it lies between nought and the size."""
    found: list[Inner] = []
    for one in _taken(block):
        value = values.get(one.value, Expr(one.value))
        try:
            if is_inside(value, one.size.polynomial, around):
                found.append(Assignments((Assignment(one.result, value),)))
        except SdfgError:
            continue
    return found


def _taken(block: Block) -> list[_Remainder]:
    """The remainders that a block takes, each in docc's three steps: ``(a % n + n) % n``."""
    if type(block) is not Statement:
        return []
    found = []
    for one in modulos(block):
        value = block.nodes[one.dividend.source]
        size = _size(block, one.divisor.source)
        if one.dividend.subset or one.divisor.subset or not size:
            continue
        if not isinstance(value, AccessNode):
            continue
        for out in block.outputs[one.last]:
            result = block.nodes[out.target]
            if isinstance(result, AccessNode) and not out.subset:
                found.append(_Remainder(value.container, Expr(size), result.container))
    return found


def _size(block: Block, place: int) -> str:
    node = block.nodes[place]
    if isinstance(node, Constant):
        return node.text
    return node.container if isinstance(node, AccessNode) else ""


def _ends(loop: Loop) -> tuple[int, int] | None:
    """How many iterations at both ends of an innermost loop need remainders by its length; None if
    the others would need some, too, or no iteration needs any."""
    try:
        bounds = loop.bounds
    except SdfgError:
        return None
    nodes = children(loop)
    if bounds.step != 1 or bounds.lows != ({},) or len(bounds.highs) != 1:
        return None
    if loop.schedule.is_shared or any(
        isinstance(node, Loop) for n in nodes for node in preorder(n)
    ):
        return None
    low = high = 0
    for node, values in zip(nodes, _values(nodes), strict=True):
        for one in _taken(node) if isinstance(node, Block) else ():
            shift = _shift(values.get(one.value), one.size, loop.variable, bounds.highs[0])
            low, high = max(low, -shift), max(high, shift)
    return (low, high) if (low or high) and max(low, high) <= FARTHEST else None


def _shift(value: Expr | None, size: Expr, variable: str, length: Polynomial) -> int:
    """By how much an index differs from a loop's variable that is divided by the loop's length; 0
    for other numbers."""
    if value is None:
        return 0
    try:
        rest = expr.plus(value.polynomial, {(variable,): -1})
        return rest.get((), 0) if set(rest) <= {()} and size.polynomial == length else 0
    except SdfgError:
        return 0
