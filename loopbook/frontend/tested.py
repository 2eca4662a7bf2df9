"""What tests say of loops' variables, in the branches that stand behind them.

Under ``if i > 0 and i < n - 1`` an index ``i - 1`` is not negative, so it does not count from the
end, and the branch needs no further test for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from loopbook.errors import LoweringError
from loopbook.frontend.symbols import Facts, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Scalar

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


_PARTS = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript,
    ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


@contextmanager
def narrowed(t: Translator, tests: Iterable[ast.expr], holds: bool) -> Iterator[None]:
    """Take for granted in a block that tests hold, or that none does."""
    ranges = t.code.facts.ranges
    before = dict(ranges)
    for test in tests:
        for operator, gap in _differences(t, test, holds):
            _narrow(t.code.facts, operator, gap)
    try:
        yield
    finally:
        ranges |= {name: before[name] for name in before.keys() & ranges.keys()}


def _differences(
    t: Translator, test: ast.expr, holds: bool
) -> Iterator[tuple[type[ast.cmpop], Int]]:
    """How differences of whole numbers compare with 0 if a test holds, or if it does not."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _differences(t, operand, not holds)
        case ast.BoolOp(op=operator, values=values):
            if isinstance(operator, ast.And) == holds:
                for value in values:
                    yield from _differences(t, value, holds)
        case ast.Compare(left=left, ops=operators, comparators=others):
            if all(type(o) in _OPPOSITE for o in operators) and (holds or len(operators) == 1):
                sides = [whole(t, side) for side in (left, *others)]
                for operator, one, other in zip(operators, sides, sides[1:], strict=False):
                    if one is not None and other is not None:
                        kind = type(operator)
                        yield kind if holds else _OPPOSITE[kind], one - other


def whole(t: Translator, node: ast.expr) -> Int | None:
    """A whole number that is known as a polynomial without anything being computed."""
    if not all(isinstance(inner, _PARTS) for inner in ast.walk(node)):
        return None
    try:
        with t.code.captured() as lines:
            value = t.expr(node)
    except LoweringError:  # of a name that has no value yet
        return None
    return value.whole if isinstance(value, Scalar) and not lines else None


def _narrow(facts: Facts, operator: type[ast.cmpop], gap: Int) -> None:
    """Note what ``gap operator 0`` says of the innermost variable in it: ranges speak of variables
    further out alone."""
    order = {name: place for place, name in enumerate(facts.ranges)}
    name = max((atom for atom in gap.atoms if atom in order), key=order.__getitem__, default=None)
    if name is None:
        return
    own = Int.atom(name)
    for factor, rest in ((1, gap - own), (-1, gap + own)):
        if name not in rest.atoms:
            _bound(facts, name, operator, -rest if factor == 1 else rest, turned=factor < 0)


def _bound(facts: Facts, name: str, operator: type[ast.cmpop], end: Int, *, turned: bool) -> None:
    """Note that a variable compares so with `end`, or the other way round."""
    low, high = facts.ranges[name]
    below, above = (ast.Gt, ast.GtE), (ast.Lt, ast.LtE)
    if turned:
        below, above = above, below
    if operator in below:
        low = _tighter(facts, low, end + 1 if operator in (ast.Gt, ast.Lt) else end, 1)
    elif operator in above:
        high = _tighter(facts, high, end - 1 if operator in (ast.Gt, ast.Lt) else end, -1)
    elif operator is ast.Eq:
        low, high = end, end
    elif low is not None and (low - end).constant == 0:
        low = low + 1
    elif high is not None and (high - end).constant == 0:
        high = high - 1
    facts.ranges[name] = low, high


def _tighter(facts: Facts, old: Int | None, new: Int, sign: int) -> Int:
    """Of two ends of a range the one that leaves less, where that is sure; else the old one."""
    if old is None or facts.never_negative((new - old) * sign):
        return new
    return old
