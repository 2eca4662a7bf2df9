"""Whether an index stays inside an array, by the loops and conditions around it.

The index is written as a polynomial of the loops' variables. Each variable, innermost first, is
replaced by what it is at most, or at least where it counts against: what is left speaks of sizes
alone, of which each is 1 or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from loopbook.errors import SdfgError
from loopbook.program import bounds, expr
from loopbook.program.expr import Expr, Monomial, Polynomial
from loopbook.program.extent_names import NAME
from loopbook.program.tree import Case, Loop

WAYS = 16
"""How many of the bounds around an index are combined."""


@dataclass(frozen=True)
class Range:
    """What is known of a variable.

    Attributes:
        lows: polynomials that it is not less than, each of them.
        highs: polynomials that it is not greater than.
    """

    variable: str
    lows: tuple[Polynomial, ...]
    highs: tuple[Polynomial, ...]


Around = tuple[Range, ...]
"""What is known in a place of variables, those that others depend on first."""


def within(around: Around, node: Loop | Case) -> Around:
    """What is known in a loop, or in a case of a branch, which is in such a place.

    Raises:
        SdfgError: if an expression cannot be read.
    """
    if isinstance(node, Loop):
        known = node.bounds
        lows = known.lows if known.step is not None and known.step > 0 else ()
        highs = tuple(expr.plus(high, {(): -1}) for high in known.highs)
        return (*around, Range(node.variable, lows, highs))
    gaps = bounds.inequalities(node.condition)
    return tuple(_narrowed(one, gaps) for one in around)


def _narrowed(one: Range, gaps: Sequence[Polynomial]) -> Range:
    """What is known of a variable besides where polynomials are 0 or more."""
    lows, highs = list(one.lows), list(one.highs)
    for gap in gaps:
        factor = gap.get((one.variable,), 0)
        rest = expr.plus(gap, {(one.variable,): -factor})
        if one.variable in expr.mentioned(rest):
            continue
        if factor == -1:
            highs.append(rest)
        elif factor == 1:
            lows.append(expr.plus({}, rest, -1))
    return Range(one.variable, tuple(lows), tuple(highs))


def is_element(
    index: Sequence[Expr], container: str, sizes: Mapping[str, Polynomial], around: Around
) -> bool:
    """Whether an index is one of a plain array's, as far as all of that can be read.

    Args:
        sizes: how many elements arrays have.
    """
    size = sizes.get(container)
    try:
        return len(index) == 1 and size is not None and is_inside(index[0], size, around)
    except SdfgError:
        return False


def is_inside(index: Expr, size: Polynomial, around: Around) -> bool:
    """Whether an index is 0 or more, and less than a size, wherever it is computed.

    Args:
        size: of sizes that docc names (``_s0``), each of them 1 or more.

    Raises:
        SdfgError: if an expression cannot be read.
    """
    room = expr.plus(expr.plus(size, index.polynomial, -1), {(): -1})
    return is_never_negative(index.polynomial, around) and is_never_negative(room, around)


def is_never_negative(a: Polynomial, around: Around) -> bool:
    """Whether a polynomial of such sizes and of variables is 0 or more."""
    return any(_is_positive(least) for least in islice(_least(a, around), WAYS))


def _least(a: Polynomial, around: Around) -> Iterator[Polynomial]:
    """What a polynomial is not less than, in terms of sizes: one for each choice of bounds."""
    if not around:
        yield a
        return
    *outer, last = around
    factor: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, value in a.items():
        if monomial.count(last.variable) == 1:
            others = list(monomial)
            others.remove(last.variable)
            factor[tuple(others)] = value
        else:
            rest[monomial] = value
    if last.variable in expr.mentioned(rest):
        return
    if not factor:
        yield from _least(a, tuple(outer))
    elif _is_positive(factor):
        for low in last.lows:
            yield from _least(expr.plus(rest, expr.product(factor, low)), tuple(outer))
    elif _is_positive({monomial: -value for monomial, value in factor.items()}):
        for high in last.highs:
            yield from _least(expr.plus(rest, expr.product(factor, high)), tuple(outer))


def _is_positive(a: Polynomial) -> bool:
    """Whether a polynomial of sizes is 0 or more."""
    plain = all(NAME.fullmatch(name) for monomial in a for name in monomial)
    return plain and all(factor >= 0 for factor in expr.over_one(a).values())
