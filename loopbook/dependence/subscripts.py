"""Where an access may be, as one linear index for each dimension.

Arrays are often flattened: ``A[i, j + 1]`` of N columns is ``A[1 + j + i*N]``. Such an index is
taken apart into one for each stride (Maslov's delinearisation, PLDI 1992) where the loops' bounds
prove that no index reaches into the next row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

from loopbook.dependence.model import Linear, Monomial, Polynomial, minus, plus, shifted, words
from loopbook.dependence.sets import holds

WINDOWS = (0, -1, 1)
"""Rows, counted from the one that the index seems to be in, where an index may really be."""

Parts = dict[Monomial, Linear]
"""Stride to index."""


def strides(indices: Iterable[Polynomial], variables: Collection[str]) -> frozenset[Monomial]:
    """What loop variables are multiplied with, and 1."""
    return frozenset({()}) | {
        tuple(symbol for symbol in monomial if symbol not in variables)
        for index in indices
        for monomial in index
        if any(symbol in variables for symbol in monomial)
    }


def apart(
    index: Polynomial,
    along: frozenset[Monomial],
    variables: Collection[str],
    rows: Sequence[Linear] | None,
    values: Mapping[str, Linear],
) -> Parts | None:
    """The index along each stride, or nothing if it may be anything.

    Args:
        along: strides of all accesses that are compared.
        rows: what is 0 or more where the access happens; None if every index is to be taken for
            one that stays in its row.
        values: of variables in terms of which the rows are not.
    """
    if rows is None or len(along) == 1:
        return _apart(index, along, variables, rows, values)
    found = _proved(
        _key(index),
        along,
        frozenset(variables),
        frozenset(map(_key, rows)),
        frozenset((name, _key(value)) for name, value in values.items()),
    )
    return found and dict(found)


Items: TypeAlias = frozenset[tuple[Any, Any]]


def _key(items: Mapping[Any, int]) -> Items:
    return frozenset(items.items())


@lru_cache(maxsize=4096)
def _proved(
    index: Items,
    along: frozenset[Monomial],
    variables: frozenset[str],
    rows: frozenset[Items],
    values: Items,
) -> Parts | None:
    """`apart`, remembered: a step changes few of the loops, and other orders of loops have the same
    rows."""
    known = {name: dict(value) for name, value in values}
    return _apart(dict(index), along, variables, list(map(dict, rows)), known)


def _apart(
    index: Polynomial,
    along: frozenset[Monomial],
    variables: Collection[str],
    rows: Sequence[Linear] | None,
    values: Mapping[str, Linear],
) -> Parts | None:
    order = sorted(along, key=lambda stride: (len(stride), stride))
    parts: Parts = {stride: {} for stride in order}
    for monomial, factor in index.items():
        inner = tuple(symbol for symbol in monomial if symbol in variables)
        own = tuple(symbol for symbol in monomial if symbol not in variables)
        if len(inner) > 1 or any(_hides(symbol, variables) for symbol in own):
            return None
        within = [own] if inner else [s for s in order if _over(own, s) is not None]
        stride = max(within, key=len)
        name = "*".join((*inner, *(_over(own, stride) or ())))
        value = values.get(name, {name: 1})
        parts[stride] = plus(parts[stride], value, factor)
    for small, large in pairwise(order):
        width = _over(large, small)
        if width is None:
            return None
        if rows is None:
            continue
        row = {"*".join(width): 1}
        for window in WINDOWS:
            inside = plus(parts[small], row, -window)
            if holds(rows, inside) and holds(rows, shifted(minus(row, inside), -1)):
                parts[small] = inside
                parts[large] = shifted(parts[large], window)
                break
        else:
            return None
    return parts


def rows_apart(parts: Parts) -> list[Parts]:
    """The ways to write the same index as if it were in this row, the last or the next one, along
    each stride."""
    order = sorted(parts, key=lambda stride: (len(stride), stride))
    found = [parts]
    for small, large in pairwise(order):
        row = {"*".join(_over(large, small) or ()): 1}
        found = [
            {
                **same,
                small: plus(same[small], row, -window),
                large: shifted(same[large], window),
            }
            for same in found
            for window in WINDOWS
        ]
    return found


def _hides(symbol: str, variables: Collection[str]) -> bool:
    """Whether a symbol that is no name, such as a call, has a variable in it."""
    return not symbol.isidentifier() and any(word in variables for word in words(symbol))


@lru_cache(maxsize=4096)
def _over(large: Monomial, small: Monomial) -> Monomial | None:
    """``large / small`` if that is a monomial."""
    rest = Counter(large)
    rest.subtract(small)
    if any(count < 0 for count in rest.values()):
        return None
    return tuple(sorted(rest.elements()))
