"""How memory accesses and loop bounds depend on loop variables."""

from __future__ import annotations

from collections.abc import Collection

from loopbook.program import expr
from loopbook.program.nest import Bound, Stride


def stride(
    subset: tuple[str, ...], indvar: str, loops: Collection[str], changing: Collection[str]
) -> Stride:
    """The class of the step that `indvar` makes in a row-major `subset`.

    Args:
        loops: variables of all loops around the access.
        changing: symbols that get their values inside the nest: an index with one is indirect.
    """
    worst = Stride.ZERO
    for dimension, text in enumerate(subset):
        found = _in_one_dimension(text, indvar, loops, changing)
        if found == Stride.UNIT and dimension < len(subset) - 1:
            found = Stride.CONSTANT
        worst = max(worst, found)
    return worst


def _in_one_dimension(
    text: str, indvar: str, loops: Collection[str], changing: Collection[str]
) -> Stride:
    worst = Stride.ZERO
    coefficient = 0
    for monomial, factor in expr.polynomial(text).items():
        if any(_is_one_of(symbol, changing) for symbol in monomial):
            return Stride.NON_AFFINE
        count = monomial.count(indvar)
        if count == 0:
            if any(indvar in expr.symbols(s) for s in monomial if "(" in s):
                return Stride.NON_AFFINE
            continue
        others = [symbol for symbol in monomial if symbol != indvar]
        if count > 1 or any(symbol in loops for symbol in others):
            return Stride.NON_AFFINE
        if others:
            worst = Stride.SYMBOLIC
        else:
            coefficient = factor
    if worst == Stride.SYMBOLIC or coefficient == 0:
        return worst
    return Stride.UNIT if abs(coefficient) == 1 else Stride.CONSTANT


def _is_one_of(symbol: str, names: Collection[str]) -> bool:
    """Whether a symbol is one of `names`, or an opaque term with one of them inside."""
    if "(" in symbol:
        return any(name in names for name in expr.symbols(symbol))
    return symbol in names


def bound(names: set[str], loops: Collection[str], changing: Collection[str]) -> Bound:
    """What a loop's bounds depend on, by the `names` that occur in them."""
    if names.intersection(loops):
        return Bound.ENCLOSING
    if names.intersection(changing):
        return Bound.UNKNOWN
    return Bound.SYMBOLIC if names else Bound.CONSTANT
