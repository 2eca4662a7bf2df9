"""Linear forms over integers: read from expressions, and written as such."""

from __future__ import annotations

from collections.abc import Iterable

from loopbook.dependence.model import Linear, plus
from loopbook.errors import SdfgError
from loopbook.program import bounds, expr
from loopbook.program.expr import Expr


def linear(expression: Expr, variables: Iterable[str]) -> dict[str, int]:
    """An index expression as a linear one.

    Args:
        variables: the loop variables. Products and calls without one of them are parameters.

    Raises:
        SdfgError: it is not linear in them.
    """
    return from_polynomial(expression.polynomial, frozenset(variables))


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


def inequalities(condition: Expr, variables: Iterable[str]) -> list[dict[str, int]]:
    """What is 0 or more wherever a condition holds; nothing if that is not linear, and there may be
    more to it.

    Args:
        variables: the loop variables.
    """
    known = frozenset(variables)
    try:
        return [from_polynomial(gap, known) for gap in bounds.inequalities(condition)]
    except SdfgError:
        return []


def text(form: Linear) -> str:
    """The form as docc reads it."""
    terms = [
        str(factor) if not name else (name if factor == 1 else f"{factor}*{name}")
        for name, factor in sorted(form.items(), key=lambda item: (item[0] == "", item[0]))
    ]
    return " + ".join(terms) or "0"


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
