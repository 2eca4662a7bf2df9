"""Intervals of whole numbers, and what expressions make of them."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import NamedTuple

from loopbook.errors import SdfgError
from loopbook.program import expr
from loopbook.program.expr import Polynomial


class Interval(NamedTuple):
    """All numbers from `low` to `high`, both ends among them."""

    low: float
    high: float

    def joined(self, other: Interval) -> Interval:
        """The smallest interval around both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    @property
    def known(self) -> bool:
        """Whether it ends on both sides."""
        return math.isfinite(self.low) and math.isfinite(self.high)


ANYTHING = Interval(-math.inf, math.inf)

TRUTH = Interval(0, 1)


def exactly(value: float) -> Interval:
    return Interval(value, value)


def plus(a: Interval, b: Interval) -> Interval:
    return Interval(a.low + b.low, a.high + b.high)


def minus(a: Interval, b: Interval) -> Interval:
    return Interval(a.low - b.high, a.high - b.low)


def times(a: Interval, b: Interval) -> Interval:
    ends = [_product(x, y) for x in a for y in b]
    return Interval(min(ends), max(ends))


def divided(a: Interval, b: Interval) -> Interval:
    """The whole quotient, whether it is rounded down or towards zero; anything where the divisor
    may be zero."""
    if b.low <= 0 <= b.high:
        return ANYTHING
    ends = [_quotient(x, y) for x in a for y in b]
    low, high = min(ends), max(ends)
    return Interval(
        math.floor(low) if math.isfinite(low) else low,
        (math.floor(high) if high >= 0 else math.ceil(high)) if math.isfinite(high) else high,
    )


def rest(a: Interval, b: Interval) -> Interval:
    """What C's division leaves."""
    if not b.known or b.low <= 0 <= b.high:
        return ANYTHING
    most = max(abs(b.low), abs(b.high)) - 1
    return Interval(-min(most, -a.low) if a.low < 0 else 0, min(most, max(a.high, 0)))


def least(a: Interval, b: Interval) -> Interval:
    return Interval(min(a.low, b.low), min(a.high, b.high))


def greatest(a: Interval, b: Interval) -> Interval:
    return Interval(max(a.low, b.low), max(a.high, b.high))


def absolute(a: Interval) -> Interval:
    ends = abs(a.low), abs(a.high)
    return Interval(0 if a.low <= 0 <= a.high else min(ends), max(ends))


def _product(x: float, y: float) -> float:
    return 0 if not x or not y else x * y


def _quotient(x: float, y: float) -> float:
    if math.isinf(x):
        return x if y > 0 else -x
    return 0 if math.isinf(y) else x / y


def value(text: str, known: Mapping[str, Interval]) -> Interval:
    """What an expression may be; anything where that cannot be told.

    Raises:
        SdfgError: it cannot be read.
    """
    return total(expr.polynomial(text), known)


def total(polynomial: Polynomial, known: Mapping[str, Interval]) -> Interval:
    """What a polynomial may be."""
    found = exactly(0)
    for monomial, factor in polynomial.items():
        term = exactly(factor)
        for symbol in monomial:
            term = times(term, _symbol(symbol, known))
        found = plus(found, term)
    return found


def _symbol(text: str, known: Mapping[str, Interval]) -> Interval:
    """What a polynomial takes for one symbol."""
    if text in known:
        return known[text]
    if text.isidentifier():
        return ANYTHING
    node = expr.parse(text)
    match node:
        case ast.Call(func=ast.Name(id=name), args=args):
            parts = [value(ast.unparse(one), known) for one in args]
            match name.lower().removeprefix("__daisy_"), parts:
                case "min", [first, *others]:
                    for one in others:
                        first = least(first, one)
                    return first
                case "max", [first, *others]:
                    for one in others:
                        first = greatest(first, one)
                    return first
                case "idiv", [a, b]:
                    return divided(a, b)
                case "imod" | "irem", [a, b]:
                    return rest(a, b)
                case "abs" | "iabs", [a]:
                    return absolute(a)
                case "zext_i64" | "trunc_i32", [a]:
                    return a if a.low >= 0 and a.high < 2**31 else ANYTHING
                case "and" | "or" | "not", _:
                    return TRUTH
        case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv(), right=right):
            return divided(value(ast.unparse(left), known), value(ast.unparse(right), known))
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            return rest(value(ast.unparse(left), known), value(ast.unparse(right), known))
        case ast.Compare():
            return TRUTH
    return ANYTHING


def narrowed(
    name: str, own: Interval, polynomial: Polynomial, known: Mapping[str, Interval]
) -> Interval:
    """What a symbol may be where a polynomial is 0 or more."""
    factor = polynomial.get((name,), 0)
    others = {key: number for key, number in polynomial.items() if key != (name,)}
    if not factor or name in expr.mentioned(others):
        return own
    try:
        most = total(others, known).high
    except SdfgError:
        return own
    if not math.isfinite(most):
        return own
    if factor < 0:
        return Interval(own.low, min(own.high, math.floor(most / -factor)))
    return Interval(max(own.low, math.ceil(-most / factor)), own.high)
