"""Linear constraints over integers, and a proof that no integers satisfy them.

Dependence tests ask whether two iterations can touch the same element. The question becomes a
system of linear equations and inequalities; if it has no solution there is no dependence. `empty`
decides that by Fourier-Motzkin elimination with the integer tightening of the Omega test (Pugh,
Supercomputing 1991), without its exact last stage: it may miss that a system is empty, but never
calls one empty that is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd

from loopbook.errors import SdfgError
from loopbook.sdfg import expr

Linear = Mapping[str, int]
"""Variable to coefficient; the constant term has the key ``""``."""

MAX_CONSTRAINTS = 3000
"""Systems that grow beyond this many inequalities count as not empty."""


def linear(text: str, variables: Iterable[str]) -> dict[str, int]:
    """An index expression as a linear one.

    Args:
        variables: the loop variables. Products and calls without one of them are parameters.

    Raises:
        SdfgError: it is not linear in them.
    """
    return from_polynomial(expr.polynomial(text), frozenset(variables))


def from_polynomial(terms: expr.Polynomial, variables: frozenset[str]) -> dict[str, int]:
    """`linear` for an expression that has been read already."""
    result: dict[str, int] = {}
    for monomial, factor in terms.items():
        name = "*".join(monomial)
        plain = len(monomial) <= 1 and "(" not in name
        if not plain and not variables.isdisjoint(expr.symbols(name)):
            raise SdfgError(f"{name} is not affine")
        result[name] = result.get(name, 0) + factor
    return {name: factor for name, factor in result.items() if factor}


def text(form: Linear) -> str:
    """The expression as docc reads it."""
    terms = [
        str(factor) if not name else (name if factor == 1 else f"{factor}*{name}")
        for name, factor in sorted(form.items(), key=lambda item: (item[0] == "", item[0]))
    ]
    return " + ".join(terms) or "0"


def plus(a: Linear, b: Linear, factor: int = 1) -> dict[str, int]:
    """``a + factor*b``."""
    total = dict(a)
    for name, value in b.items():
        total[name] = total.get(name, 0) + factor * value
    return {name: value for name, value in total.items() if value}


def minus(a: Linear, b: Linear) -> dict[str, int]:
    """``a - b``."""
    return plus(a, b, -1)


def shifted(a: Linear, constant: int) -> dict[str, int]:
    """``a + constant``."""
    return plus(a, {"": constant})


def replaced(form: Linear, values: Mapping[str, Linear]) -> dict[str, int]:
    """The form with variables replaced by other forms, all at once."""
    total: dict[str, int] = {}
    for name, factor in form.items():
        total = plus(total, values.get(name, {name: 1}), factor)
    return total


def projected(rows: Iterable[Linear], name: str) -> list[dict[str, int]]:
    """What inequalities (0 or more) say of all variables but one, whatever value that has.

    Raises:
        SdfgError: it stands with a factor other than 1, and the answer would not be exact.
    """
    lower, upper, others = [], [], []
    for row in rows:
        factor = row.get(name, 0)
        if abs(factor) > 1:
            raise SdfgError(f"{name} has a factor in a bound")
        (others if factor == 0 else lower if factor > 0 else upper).append(dict(row))
    return others + [plus(low, high) for low in lower for high in upper]


def empty(equations: Iterable[Linear], inequalities: Iterable[Linear]) -> bool:
    """Whether no integers make all `equations` 0 and all `inequalities` 0 or more."""
    equal, rest = list(equations), list(inequalities)
    while equal:
        form = equal.pop()
        constant = form.get("", 0)
        factors = {name: factor for name, factor in form.items() if name and factor}
        if not factors:
            if constant:
                return True
            continue
        if constant % gcd(*factors.values()):
            return True
        unit = next((name for name, factor in factors.items() if abs(factor) == 1), None)
        if unit is None:
            rest += [form, {name: -factor for name, factor in form.items()}]
            continue
        sign = -factors[unit]
        value = {n: sign * f for n, f in form.items() if n != unit}
        equal = [replaced(other, {unit: value}) for other in equal]
        rest = [replaced(other, {unit: value}) for other in rest]
    return _eliminate(rest)


_Row = tuple[tuple[str, int], ...]


def _eliminate(inequalities: Iterable[Linear]) -> bool:
    """Fourier-Motzkin: combine away one variable after the other."""
    rows: dict[_Row, int] = {}
    for form in inequalities:
        if not _add(rows, form):
            return True
    while rows:
        counts: dict[str, list[int]] = {}
        for row in rows:
            for name, factor in row:
                counts.setdefault(name, [0, 0])[factor > 0] += 1
        name = min(counts, key=lambda n: counts[n][0] * counts[n][1] - sum(counts[n]))
        lower, upper, others = [], [], {}
        for row, constant in rows.items():
            form = dict(row)
            factor = form.pop(name, 0)
            if factor == 0:
                others[row] = constant
            else:
                (lower if factor > 0 else upper).append((abs(factor), {**form, "": constant}))
        rows = others
        for a, low in lower:
            for b, high in upper:
                scaled = {n: f * b for n, f in low.items()}
                if not _add(rows, plus(scaled, high, a)):
                    return True
        if len(rows) > MAX_CONSTRAINTS:
            return False
    return False


def _add(rows: dict[_Row, int], form: Linear) -> bool:
    """Keep an inequality, tightened to integers; False if it can never hold."""
    factors = sorted((name, factor) for name, factor in form.items() if name and factor)
    constant = form.get("", 0)
    if not factors:
        return constant >= 0
    divisor = gcd(*(factor for _, factor in factors))
    row = tuple((name, factor // divisor) for name, factor in factors)
    bound = constant // divisor
    rows[row] = min(bound, rows.get(row, bound))
    opposite = tuple((name, -factor) for name, factor in row)
    return opposite not in rows or rows[opposite] + rows[row] >= 0
