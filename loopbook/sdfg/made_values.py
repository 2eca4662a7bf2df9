"""Values for arrays that come without any, of a few kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Reals = Literal["positive", "signed", "dominant", "small"]

Indices = Literal["repeated", "permuted", "sorted"]

MOST_WHOLE = 9
"""Whole numbers that are no indices have no greater magnitude: products of them stay in range."""

MOST_SHIFT = 5

Random = np.random.Generator


@dataclass(frozen=True)
class Kind:
    """What made-up data look like.

    Attributes:
        reals: about 1, so that nothing overflows: "positive" from 0.5 to 1.5; "signed", with random
            signs, so that comparisons go both ways; "dominant", with a large diagonal, as
            factorisations need it; "small", so that sums of them are about 1.
        indices: in random order, "repeated" some and others not at all, "permuted", or "sorted".
    """

    reals: Reals = "positive"
    indices: Indices = "repeated"


@dataclass(frozen=True)
class Place:
    """What is known of an array that gets values.

    Attributes:
        count: of its elements.
        index: the least and the greatest value it may hold, if its elements come to indices.
        ordered: its elements never fall, as they bound rows.
        divisor: nothing in it may be 0, since something is divided by it.
        shift: numbers are shifted by it.
        rows: elements from row to row, for a matrix.
        about: a size of the program.
    """

    count: int
    index: tuple[int, int] | None = None
    ordered: bool = False
    divisor: bool = False
    shift: bool = False
    rows: Sequence[int] = ()
    about: int = 1


def values(place: Place, dtype: np.dtype[Any], kind: Kind, rng: Random) -> np.ndarray:
    """An array's elements."""
    if dtype.kind == "b":
        return rng.random(place.count) < 0.5
    if place.index is not None:
        return _indices(place, dtype, kind, rng)
    if dtype.kind == "f":
        return _reals(place, kind, rng).astype(dtype)
    if place.shift:
        return rng.integers(0, MOST_SHIFT + 1, place.count).astype(dtype)
    found = rng.integers(1 if place.divisor else 0, MOST_WHOLE + 1, place.count)
    if dtype.kind == "i" and kind.reals == "signed":
        found *= rng.choice((-1, 1), place.count)
    return found.astype(dtype)


def _reals(place: Place, kind: Kind, rng: Random) -> np.ndarray:
    found = rng.uniform(0.5, 1.5, place.count)
    if kind.reals == "signed":
        found *= rng.choice((-1.0, 1.0), place.count)
    elif kind.reals == "small":
        found /= place.about
    elif kind.reals == "dominant":
        for row in place.rows:
            found[:: row + 1] += 2 * row
    return found


def _indices(place: Place, dtype: np.dtype[Any], kind: Kind, rng: Random) -> np.ndarray:
    assert place.index is not None
    low, high = place.index
    if dtype.kind == "f":
        found = rng.uniform(low, high, place.count)
    elif kind.indices == "permuted" and not place.ordered:
        several = -(-place.count // (high - low + 1))
        turns = [rng.permutation(np.arange(low, high + 1)) for _ in range(several)]
        found = np.concatenate(turns)[: place.count] if turns else np.empty(0)
    else:
        found = rng.integers(low, high + 1, place.count)
    if place.ordered or kind.indices == "sorted":
        found = np.sort(found)
        if place.count > 1:
            found[0], found[-1] = low, high
    return found.astype(dtype)
