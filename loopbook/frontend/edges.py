"""Loops of which the first and the last iterations are others: they get loops of their own.

Before::

    for i in range(n):
        if i == 0 or i == n - 1:
            y[i] = x[i]
        else:
            y[i] = x[i - 1] + x[i + 1]

or ``y[i] = x[max(i - 1, 0)] + x[min(i + 1, n - 1)]``. After, for calls in which n is large enough::

    for i in range(1):
        ...
    for i in range(1, n - 1):
        y[i] = x[i - 1] + x[i + 1]
    for i in range(n - 1, n):
        ...

(Index-set splitting: Griebl, Feautrier and Lengauer, IJPP 28, 2000.) What is left in the middle is
what the book knows, and what is computed in vectors.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loopbook.frontend.desugar import breaks
from loopbook.frontend.liveness import stores
from loopbook.frontend.loops import Range
from loopbook.frontend.swapping import located
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.tested import whole
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Thing
from loopbook.syntax import mentioned, walk

FARTHEST = 8
"""Iterations at an end that get a loop of their own, at most."""

LEAST = 16
"""Iterations in all from which that is worth the code."""

MOST_CODE = 400
"""Nodes of the body's tree that are written three times."""


def without_edges(t: Translator, node: ast.For, start: Int, stop: Int) -> list[ast.stmt] | None:
    """The statements that stand for an innermost loop over whole numbers from `start` to `stop`;
    None if it is the same in all iterations, or that cannot be said."""
    if not isinstance(node.target, ast.Name) or not is_plain_body(node, MOST_CODE):
        return None
    facts, count = t.code.facts, stop - start
    number = facts.known(count)
    if number is None or number < LEAST:
        return None
    low, high = _edges(t, node, start, stop)
    if not (low or high) or not facts.nonnegative(count - max(LEAST, low + high)):
        return None
    parts = [(start + low, stop - high)]
    if low:
        parts.insert(0, (start, start + low))
    if high:
        parts.append((stop - high, stop))
    made: list[ast.stmt] = []
    for place, (begin, end) in enumerate(parts):
        name = f"part_{place}_{node.lineno}_{node.col_offset}"
        t.frame.env[name] = Thing(Range(begin, end, 1))
        loop = ast.For(copy.deepcopy(node.target), ast.Name(name, ast.Load()), [], [])
        loop.body = copy.deepcopy(node.body)
        located(loop, node)
        made.append(loop)
    t.frame.live.replaced(node, made)
    return made


def is_plain_body(node: ast.For, most: int) -> bool:
    """Whether a loop's body is small, goes through all that it begins, and leaves the count.

    Args:
        most: nodes of its tree.
    """
    assert isinstance(node.target, ast.Name)
    inner = list(parts_of(node))
    if len(inner) > most or breaks(node.body) or node.target.id in stores(node.body):
        return False
    return not any(
        isinstance(part, ast.While | ast.Return | ast.FunctionDef | ast.Lambda) for part in inner
    )


@dataclass(frozen=True)
class _Linear:
    """``factor * count + something from low to high``."""

    factor: int
    low: Int
    high: Int

    def plus(self, other: _Linear, sign: int) -> _Linear:
        ends = (other.low, other.high) if sign > 0 else (-other.high, -other.low)
        return _Linear(self.factor + sign * other.factor, self.low + ends[0], self.high + ends[1])


def _edges(t: Translator, node: ast.For, start: Int, stop: Int) -> tuple[int, int]:
    """How many of the first and of the last iterations differ in what is tested."""
    known = _inside(t, node)
    low = high = 0
    if known is None:
        return 0, 0
    for operators, compared in filter(None, map(_compared, parts_of(node))):
        sides = [_linear(t, side, known) for side in compared]
        for operator, left, right in zip(operators, sides, sides[1:], strict=False):
            if left is None or right is None:
                continue
            gap = left.plus(right, -1)
            if abs(gap.factor) == 1:
                first, last = _changes(gap, operator)
                low = max(low, _distance(last - start))
                high = max(high, _distance(stop - first))
    return low, high


def parts_of(node: ast.For) -> Iterator[ast.AST]:
    """All that a loop's body consists of."""
    return (part for statement in node.body for part in walk(statement))


def _compared(node: ast.AST) -> tuple[Sequence[ast.cmpop], Sequence[ast.expr]] | None:
    """What an expression compares with what, as ``max(i - 1, 0)`` does."""
    match node:
        case ast.Compare(left=left, ops=operators, comparators=others):
            return operators, (left, *others)
        case ast.Call(func=ast.Name(id="max" | "min"), args=[left, right], keywords=[]):
            return (ast.GtE(),), (left, right)
    return None


def _changes(gap: _Linear, operator: ast.cmpop) -> tuple[Int, Int]:
    """Between which values of the count, the first of them and the last, the truth of ``gap
    operator 0`` changes: it is the same below the first, and from the last on."""
    at = (-gap.high, -gap.low) if gap.factor == 1 else (gap.low, gap.high)
    upwards = isinstance(operator, ast.Lt | ast.GtE)
    if isinstance(operator, ast.Eq | ast.NotEq):
        return at[0], at[1] + 1
    return at if upwards == (gap.factor == 1) else (at[0] + 1, at[1] + 1)


def _distance(value: Int) -> int:
    """A small number of iterations; 0 for all others."""
    number = value.constant
    return number if number is not None and 0 < number <= FARTHEST else 0


def _inside(t: Translator, node: ast.For) -> Mapping[str, _Linear | ast.expr | None] | None:
    """What is known of the names that a loop's body sets; None if it has loops that are long."""
    assert isinstance(node.target, ast.Name)
    known: dict[str, _Linear | ast.expr | None] = {}
    for part in parts_of(node):
        match part:
            case ast.For(target=ast.Name(id=name)):
                if (numbers := _numbers(t, part.iter)) is None:
                    return None
                ends = Int.of(min(numbers, default=0)), Int.of(max(numbers, default=0))
                known[name] = None if name in known else _Linear(0, *ends)
            case ast.For():
                return None
            case ast.Assign(targets=[ast.Name(id=name)]):
                known[name] = None if name in known else part.value
            case ast.Name(id=name, ctx=ast.Store()) if name not in known:
                known[name] = None
    known[node.target.id] = _Linear(1, ZERO, ZERO)
    return known


def _numbers(t: Translator, node: ast.expr) -> Sequence[int] | None:
    """What a short loop over numbers goes through."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]):
            ends = [one and one.constant for one in (whole(t, arg) for arg in args)]
            if None in ends or 0 in ends[2:]:
                return None
            numbers = range(*(end for end in ends if end is not None))
        case ast.Tuple(elts=items) | ast.List(elts=items):
            found = [one and one.constant for one in (whole(t, item) for item in items)]
            if None in found:
                return None
            numbers = [one for one in found if one is not None]
        case _:
            return None
    return numbers if len(numbers) <= 2 * FARTHEST + 1 else None


def _linear(
    t: Translator, node: ast.expr, known: Mapping[str, _Linear | ast.expr | None], depth: int = 0
) -> _Linear | None:
    """An expression in terms of the count, if it is linear; names are looked up 4 times deep."""
    match node:
        case ast.Name(id=name) if name in known:
            value = known[name]
            if isinstance(value, ast.expr):
                return _linear(t, value, known, depth + 1) if depth < 4 else None
            return value
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right):
            one, other = (_linear(t, side, known, depth) for side in (left, right))
            if one is None or other is None:
                return None
            return one.plus(other, 1 if isinstance(operator, ast.Add) else -1)
    names = mentioned(node)
    value = None if names & known.keys() else whole(t, node)
    return None if value is None else _Linear(0, value, value)
