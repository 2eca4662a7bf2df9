"""What the header of a counted loop says: from where, to where, in which steps.

A loop runs while its condition holds. Conditions are conjunctions of comparisons, with ``min`` and
``max`` for more than one bound; each becomes a polynomial that is 0 or more where it holds. So
``And(i < n, i < 4 + t)`` is ``n - i - 1`` and ``t - i + 3``.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from loopbook.program import expr
from loopbook.program.expr import Expr, Polynomial


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known of a loop's range.

    Attributes:
        lows: where its variable begins: at the greatest of these.
        room: polynomials that are 0 or more for every value that it runs with.
        highs: what its variable stays below: each of these; empty if the condition is not, or not
            only, that the variable is less than something.
        step: the constant that is added to its variable; None if something else happens to it.
        ends: whether its condition is only that such polynomials are 0 or more that fall with its
            variable: once it is false it stays so, as that of ``2*i < n`` does, which has no highs.
    """

    lows: tuple[Polynomial, ...]
    room: tuple[Polynomial, ...]
    highs: tuple[Polynomial, ...]
    step: int | None
    ends: bool

    def trip(self) -> int | None:
        """How often it runs, if that is always the same."""
        if self.step is None or self.step < 1 or len(self.lows) != 1 or len(self.highs) != 1:
            return None
        low, high = self.lows[0], self.highs[0]
        if (set(low) | set(high)) - {()}:
            return None
        return max(0, -(-(high.get((), 0) - low.get((), 0)) // self.step))

    def width(self) -> int | None:
        """The least constant that an upper bound lies above a lower one, as those of a tile do,
        wherever it is; None if there are no two such."""
        gaps = (expr.plus(high, low, -1) for high in self.highs for low in self.lows)
        return min((gap.get((), 0) for gap in gaps if gap.keys() <= {()}), default=None)


@lru_cache(maxsize=16384)
def bounds(variable: str, init: Expr, condition: Expr, update: Expr) -> Bounds:
    """The bounds of ``for (variable = init; condition; variable = update)``.

    Raises:
        SdfgError: if an expression cannot be read.
    """
    parts = rooms(condition)
    room = [polynomial for part in parts for polynomial in part]
    highs = [_high(polynomial, variable) for polynomial in room]
    plain = all(parts) and None not in highs
    return Bounds(
        lows=tuple(map(expr.expanded, expr.arguments(expr.parse(init.text), "max"))),
        room=tuple(room),
        highs=tuple(high for high in highs if high is not None) if plain else (),
        step=step(variable, update),
        ends=all(parts) and all(_falls(polynomial, variable) for polynomial in room),
    )


def inequalities(condition: Expr) -> list[Polynomial]:
    """Polynomials that are 0 or more wherever a condition holds; there may be more to it.

    Raises:
        SdfgError: if it cannot be read.
    """
    return [polynomial for part in rooms(condition) for polynomial in part]


def rooms(condition: Expr) -> list[list[Polynomial]]:
    """`inequalities` for each of the comparisons that a condition is a conjunction of; none for one
    that says something else."""
    return [_room(part) for part in expr.arguments(expr.parse(condition.text), "and")]


def _room(part: ast.expr) -> list[Polynomial]:
    """What is 0 or more where a comparison holds; nothing if it is none, or no inequality."""
    match part:
        case ast.Compare(left=less, ops=[ast.Lt() | ast.LtE() as sign], comparators=[more]):
            strict = isinstance(sign, ast.Lt)
        case ast.Compare(left=more, ops=[ast.Gt() | ast.GtE() as sign], comparators=[less]):
            strict = isinstance(sign, ast.Gt)
        case _:
            return []
    gaps = (
        expr.plus(expr.expanded(high), expr.expanded(low), -1)
        for high in expr.arguments(more, "min")
        for low in expr.arguments(less, "max")
    )
    return [expr.plus(gap, {(): -strict}) for gap in gaps]


def _high(room: Polynomial, variable: str) -> Polynomial | None:
    """What the variable is less than where `room` is 0 or more."""
    rest = expr.plus(room, {(variable,): 1, (): 1})
    return None if variable in expr.mentioned(rest) else rest


def _falls(room: Polynomial, variable: str) -> bool:
    """Whether a polynomial is the less the greater the variable is."""
    factor = room.get((variable,), 0)
    rest = expr.plus(room, {(variable,): -factor})
    return factor < 0 and variable not in expr.mentioned(rest)


def step(variable: str, update: Expr) -> int | None:
    """The constant that `update` adds to a variable, if that is what it does.

    Raises:
        SdfgError: if it cannot be read.
    """
    rest = expr.plus(update.polynomial, {(variable,): -1})
    return rest.get((), 0) or None if set(rest) <= {()} else None
