"""What goes through several counters at once: ndindex, ndenumerate, product, combinations.

Before::

    for i, j in np.ndindex(A.shape): ...

After: see `loopbook.frontend.counters`.
"""

from __future__ import annotations

import itertools

import numpy as np

from loopbook.frontend import lists
from loopbook.frontend.counters import Counters
from loopbook.frontend.loops import Range, Rows
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ZERO
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Listing, Thing, Tup, Value


@lowers(np.ndindex)
def ndindex(t: Translator, *shape: Value) -> Value:
    """``np.ndindex(n, m)`` or ``np.ndindex(A.shape)``."""
    sizes = shape[0].items if len(shape) == 1 and isinstance(shape[0], Tup) else shape
    return Thing(Counters(tuple(Thing(Range(ZERO, t.integer(size), 1)) for size in sizes)))


@lowers(np.ndenumerate)
def ndenumerate(t: Translator, arr: Value) -> Value:
    array = t.array(arr)
    array = array if array.view is not None else t.stored(array)
    sides = tuple(Thing(Range(ZERO, size, 1)) for size in array.shape)
    return Thing(Counters(sides, elements=array))


@lowers(itertools.product)
def product(t: Translator, *iterables: Value, repeat: Value | None = None) -> Value:
    made = [Thing(lists.rows(t, side)) if isinstance(side, Listing) else side
            for side in iterables]  # fmt: skip
    sides = tuple(made) * (1 if repeat is None else t.python(repeat))
    for side in sides:
        if not _goes_through(side):
            raise t.code.fail("product of what is no range, array, list or tuple")
    return Thing(Counters(sides))


@lowers(itertools.combinations)
def combinations(t: Translator, iterable: Value, r: Value) -> Value:
    count = t.python(r)
    if not (isinstance(iterable, Thing) and isinstance(iterable.value, Range)):
        raise t.code.fail("combinations of what is no range; take them of range(len(…))")
    ends = iterable.value
    if ends.step != 1 or count < 1:
        raise t.code.fail("combinations of a range with a step")
    return Thing(Counters((iterable,) * count, rising=ends.stop))


def _goes_through(value: Value) -> bool:
    if isinstance(value, Thing):
        return isinstance(value.value, Range | Rows)
    return isinstance(value, Tup) or (isinstance(value, Array) and value.rank > 0)
