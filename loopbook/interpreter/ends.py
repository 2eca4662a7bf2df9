"""How large an index gets where ends of loops depend on one another, as those of triangles do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopbook.interpreter.intervals import Interval, total
from loopbook.program import expr
from loopbook.program.accesses import written
from loopbook.program.expr import Polynomial
from loopbook.program.tree import Loop

MOST_TERMS = 64
"""Of a polynomial that ends are put into."""


@dataclass(frozen=True)
class Ends:
    """Between what the variable of a loop stays, as polynomials that do not change in it."""

    variable: str
    lows: tuple[Polynomial, ...]
    highs: tuple[Polynomial, ...]


def ends_of(loop: Loop) -> Ends:
    """The ends of a loop, as far as they are known.

    Raises:
        SdfgError: an expression cannot be read.
    """
    bounds, changed = loop.bounds, written(loop)
    if bounds.step is None or bounds.step < 1:
        return Ends(loop.variable, (), ())

    def lasting(ends: Sequence[Polynomial]) -> tuple[Polynomial, ...]:
        return tuple(end for end in ends if changed.isdisjoint(expr.mentioned(end)))

    highs = [expr.plus(high, {(): -1}) for high in bounds.highs]
    return Ends(loop.variable, lasting(bounds.lows), lasting(highs))


def extremes(
    polynomial: Polynomial, around: Sequence[Ends], known: Mapping[str, Interval]
) -> Interval:
    """What a polynomial may be.

    Args:
        around: the ends of the loops around it, from the outermost on.
        known: what each symbol may be by itself.
    """
    own = total(polynomial, known)
    return Interval(
        max(own.low, _extreme(polynomial, around, known, up=False).low),
        min(own.high, _extreme(polynomial, around, known, up=True).high),
    )


def _extreme(
    polynomial: Polynomial, around: Sequence[Ends], known: Mapping[str, Interval], *, up: bool
) -> Interval:
    """What a polynomial may be where each variable, from the innermost on, is at that end of its
    loop at which the polynomial is greatest, or least; the narrowest that is found on the way."""
    best = total(polynomial, known)
    for ends in reversed(around):
        rest, factor = _split(polynomial, ends.variable)
        if factor is None or not factor:
            continue
        sign = total(factor, known)
        if sign.low < 0 < sign.high:
            break
        several = ends.highs if (sign.low >= 0) == up else ends.lows
        found = [expr.plus(rest, _times(factor, end)) for end in several]
        found = [one for one in found if len(one) <= MOST_TERMS]
        if not found:
            continue
        tried = [(total(one, known), one) for one in found]
        closest, polynomial = min(tried, key=lambda pair: pair[0].high if up else -pair[0].low)
        best = Interval(max(best.low, closest.low), min(best.high, closest.high))
    return best


def _split(polynomial: Polynomial, variable: str) -> tuple[Polynomial, Polynomial | None]:
    """What has not to do with a variable, and what it is multiplied by; None for its powers, and
    for what it is in a function of."""
    rest: dict[tuple[str, ...], int] = {}
    factor: dict[tuple[str, ...], int] = {}
    for monomial, number in polynomial.items():
        count = monomial.count(variable)
        others = tuple(one for one in monomial if one != variable)
        if count > 1 or variable in expr.mentioned({others: 1}):
            return polynomial, None
        (factor if count else rest)[others] = number
    return rest, factor


def _times(a: Polynomial, b: Polynomial) -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for one, first in a.items():
        for other, second in b.items():
            symbols = tuple(sorted((*one, *other)))
            found[symbols] = found.get(symbols, 0) + first * second
    return found
