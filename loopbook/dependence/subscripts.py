"""Where an access may be, as one linear index for each dimension.

Arrays are often flattened: ``A[i, j + 1]`` of N columns is ``A[1 + j + i*N]``. Such an index is
taken apart into one for each stride (Maslov's delinearisation, PLDI 1992) where the loops' bounds
prove that no index reaches into the next row. A stride is a product of sizes, or of what no size
is, as that of rows without their ends: ``A[(N - 2)*i + j]``, which is ``A[j + N*i - 2*i]``.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, TypeAlias

from loopbook.dependence.model import Linear, Monomial, Polynomial, minus, plus, shifted, words
from loopbook.dependence.sets import holds
from loopbook.errors import SdfgError
from loopbook.program import expr

WINDOWS = (0, -1, 1)
"""Rows, counted from the one that the index seems to be in, where an index may really be."""

Parts = dict[Monomial, Linear]
"""Stride to index."""

Items: TypeAlias = frozenset[tuple[Any, Any]]


def strides(indices: Iterable[Polynomial], variables: Collection[str]) -> frozenset[Monomial]:
    """What loop variables are multiplied with, and 1."""
    return frozenset({()}) | {
        tuple(symbol for symbol in monomial if symbol not in variables)
        for index in indices
        for monomial in index
        if any(symbol in variables for symbol in monomial)
    }


def strides_with_sums(
    indices: Iterable[Polynomial], variables: Collection[str]
) -> frozenset[Monomial]:
    """`strides` of an array whose rows are no size: what is multiplied with a variable and is a sum
    is one opaque symbol, unless it is made of other strides, as that of a diagonal is. So is a
    multiple of a size, as of rows of pairs, where no index has less of it."""
    found: set[Monomial] = {()}
    sums: Counter[Items] = Counter()
    counts: dict[Monomial, int] = {}
    for index in indices:
        for stride in _factors(index, variables)[0].values():
            if len(stride) > 1:
                sums[_key(stride)] += 1
                continue
            for monomial, factor in stride.items():
                counts[monomial] = math.gcd(counts.get(monomial, 0), factor)
    for monomial, count in counts.items():
        if monomial and count > 1:
            sums[_key({monomial: count})] += 1
        else:
            found.add(monomial)
    for key, _ in sorted(sums.most_common(), key=lambda one: len(one[0])):
        stride = dict(key)
        if not stride.keys() <= found and not _is_made_of(stride, found):
            found.add(_named(stride, found))
    return frozenset(found)


def _is_made_of(stride: Polynomial, known: Collection[Monomial]) -> bool:
    """Whether a sum is one of strides, of which some are sums, too."""
    for other in sorted(known, key=lambda one: (-len(one), one)):
        stride = _multiple(stride, _polynomial(other))[1]
    return not stride


def _factors(
    index: Polynomial, variables: Collection[str]
) -> tuple[Mapping[Monomial, Polynomial], Polynomial]:
    """What each variable, or product of variables, is multiplied with, and what has none."""
    factors: dict[Monomial, dict[Monomial, int]] = {}
    rest: dict[Monomial, int] = {}
    for monomial, factor in index.items():
        inner = tuple(symbol for symbol in monomial if symbol in variables)
        if inner:
            own = tuple(symbol for symbol in monomial if symbol not in variables)
            factors.setdefault(inner, {})[own] = factor
        else:
            rest[monomial] = factor
    return factors, rest


def _named(stride: Polynomial, known: Set[Monomial]) -> Monomial:
    """A sum as a stride: a multiple of a known one, rather of one that is a sum, too, or one
    symbol."""
    largest = sorted(known - {()}, key=lambda one: (not any(map(_is_sum, one)), -len(one), one))
    for other in largest:
        with contextlib.suppress(SdfgError):
            quotient, rest = expr.divided(stride, _polynomial(other))
            if not rest:
                return tuple(sorted((*other, *_symbols(quotient))))
    return _symbols(stride)


def _symbols(value: Polynomial) -> Monomial:
    return next(iter(value)) if [*value.values()] == [1] else (expr.text(value),)


def _is_sum(symbol: str) -> bool:
    return symbol.startswith("(")


@lru_cache(maxsize=4096)
def _polynomial(stride: Monomial) -> Polynomial:
    """A stride multiplied out."""
    total = expr.ONE
    for symbol in stride:
        total = expr.product(total, expr.polynomial(symbol) if _is_sum(symbol) else {(symbol,): 1})
    return total


def _row(width: Monomial) -> Linear:
    """How far it is to the next row."""
    return {"*".join(monomial): factor for monomial, factor in _polynomial(width).items()}


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
    if any(map(_is_sum, chain(*along))):
        index = _without_sums(index, order, variables, values, parts)
    for monomial, factor in index.items():
        inner = tuple(symbol for symbol in monomial if symbol in variables)
        own = tuple(symbol for symbol in monomial if symbol not in variables)
        if len(inner) > 1 or any(_hides(symbol, variables) for symbol in own):
            return None
        within = [own] if inner else [s for s in order if expr.over(own, s) is not None]
        stride = max(within, key=len)
        if stride not in parts:
            return None
        name = "*".join((*inner, *(expr.over(own, stride) or ())))
        value = values.get(name, {name: 1})
        parts[stride] = plus(parts[stride], value, factor)
    for small, large in pairwise(order):
        width = expr.over(large, small)
        if width is None:
            return None
        if rows is None:
            continue
        row = _row(width)
        for window in WINDOWS:
            inside = plus(parts[small], row, -window)
            if holds(rows, inside) and holds(rows, shifted(minus(row, inside), -1)):
                parts[small] = inside
                parts[large] = shifted(parts[large], window)
                break
        else:
            return None
    return parts


def _without_sums(
    index: Polynomial,
    order: Sequence[Monomial],
    variables: Collection[str],
    values: Mapping[str, Linear],
    parts: Parts,
) -> Polynomial:
    """What is left of an index without the multiples of strides that are sums, which become parts
    of it."""
    factors, constant = _factors(index, variables)
    left: dict[Monomial, int] = {}
    multiples = [*factors.items(), ((), constant)]
    for stride in reversed(order):
        if not any(map(_is_sum, stride)):
            continue
        for place, (inner, factor) in enumerate(multiples):
            count, rest = _multiple(factor, _polynomial(stride))
            if count:
                name = "*".join(inner)
                parts[stride] = plus(parts[stride], values.get(name, {name: 1}), count)
                multiples[place] = inner, rest
    for inner, factor in multiples:
        for monomial, value in factor.items():
            left[tuple(sorted((*inner, *monomial)))] = value
    return left


def _multiple(value: Polynomial, of: Polynomial) -> tuple[int, Polynomial]:
    """How often a polynomial goes into another one, by its leading term, and what is left."""
    lead = expr.leading(of)
    count, over = divmod(value.get(lead, 0), of[lead])
    return (0, value) if over else (count, expr.plus(value, of, -count))


def rows_apart(parts: Parts) -> list[Parts]:
    """The ways to write the same index as if it were in this row, the last or the next one, along
    each stride."""
    order = sorted(parts, key=lambda stride: (len(stride), stride))
    found = [parts]
    for small, large in pairwise(order):
        row = _row(expr.over(large, small) or ())
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
