"""Whether there are values of loops' variables for which some forms are 0 or more, as a condition
on sizes and arguments.

::

    0 <= i,  i <= n - 1,  i - y.shape[0] >= 0        n - 1 >= 0,  n - 1 - y.shape[0] >= 0

Variables are eliminated one after the other (Fourier and Motzkin's way). For whole numbers that is
exact where one of the two bounds that are added has the variable without a factor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from loopbook.frontend.symbols import ONE, ZERO, Int

MOST_ROWS = 64
"""Forms beyond which nothing is said."""

_SIZE = re.compile(r"\w+\.shape\[\d+\]")


def eliminated(rows: Iterable[Int], variables: Sequence[str]) -> tuple[Int, ...] | None:
    """What is 0 or more just where some values of variables make all rows so.

    Args:
        variables: outermost first.

    Returns:
        Forms in what is left, none of which says what another one does; None if there never are
        such values, or if it cannot be told. A variable may have sizes and arguments as a factor:
        there are such values then if the forms are 0 or more, and there may be others.
    """
    left = without_implied(rows)
    for name in reversed(variables):
        lower, upper, others = [], [], []
        for row in left:
            factor = _factor(row, name)
            if factor is None:
                return None
            if factor.constant is None:  # taken to be positive or 0, which is one more condition
                others.append(factor)
                lower.append((row, factor))
            elif factor.constant:
                (lower if factor.constant > 0 else upper).append((row, factor))
            else:
                others.append(row)
        for low, rising in lower:
            for high, falling in upper:
                if ONE not in (rising, -falling):
                    return None
                others.append(low * -falling + high * rising)
        left = without_implied(others)
        if len(left) > MOST_ROWS:
            return None
    return None if any(map(never, left)) else left


def _factor(row: Int, name: str) -> Int | None:
    """What a variable is multiplied with in a form; None where it has a power."""
    total = ZERO
    for monomial, factor in row.terms:
        if name in monomial:
            rest = [*monomial]
            rest.remove(name)
            if name in rest:
                return None
            total = total + Int(((tuple(rest), factor),))
    return total


def without_implied(rows: Iterable[Int]) -> tuple[Int, ...]:
    """Forms without those that are 0 or more because another one is, or always."""
    kept: list[Int] = []
    for row in rows:
        if not always(row) and not any(always(row - other) for other in kept):
            kept = [other for other in kept if not always(other - row)]
            kept.append(row)
    return tuple(kept)


def always(form: Int) -> bool:
    """Whether a form is 0 or more for all sizes of 1 and more."""
    return all(c > 0 and _of_sizes(m) for m, c in form.terms if m) and _at_ones(form) >= 0


def never(form: Int) -> bool:
    """Whether a form is less than 0 for all such sizes."""
    return all(c < 0 and _of_sizes(m) for m, c in form.terms if m) and _at_ones(form) < 0


def _at_ones(form: Int) -> int:
    return sum(factor for _, factor in form.terms)


def _of_sizes(monomial: Sequence[str]) -> bool:
    return all(map(_SIZE.fullmatch, monomial))
