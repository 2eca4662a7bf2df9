"""Lists of Python's numbers as arrays: what `loopbook.frontend.filled` has found to be such.

Before::

    best = [i + 1] + [0] * n

After::

    best_0[0] = i + 1
    for i0 in range(n):
        best_0[i0 + 1] = 0
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import nests, types
from loopbook.frontend.constructs.joining import part
from loopbook.frontend.filled import copied, counted, listed
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.tabular import tabled
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Tup, Value, whole


@lowers(listed)
def listed_(t: Translator, key: Value, *parts: Value) -> Value:
    code = t.code
    items = [given.items for given in parts if isinstance(given, Tup)]
    numbers = [code.let(t.number(number)) for number, _ in items]
    counts = [t.integer(count) for _, count in items]
    size = sum(counts[1:], counts[0])
    array = _new(t, key, (size,), types.promote(*(number.kind for number in numbers))[0])
    start = ZERO
    for number, count in zip(numbers, counts, strict=True):
        nests.assign(code, part(array, 0, start, count), number)
        start = start + count
    return array


@lowers(tabled)
def tabled_(t: Translator, key: Value, number: Value, *counts: Value) -> Value:
    filled = t.code.let(t.number(number))
    array = _new(t, key, tuple(t.integer(count) for count in counts), filled.dtype)
    nests.assign(t.code, array, filled)
    return array


@lowers(copied)
def copied_(t: Translator, key: Value, source: Value) -> Value:
    given = t.array(source)
    array = _new(t, key, (given.shape[0],), given.dtype)
    nests.assign(t.code, array, given)
    return array


@lowers(counted)
def counted_(t: Translator, key: Value, *ends: Value) -> Value:
    return copied_(t, key, FUNCTIONS[np.arange](t, *ends))


def _new(t: Translator, key: Value, sizes: tuple[Int, ...], dtype: np.dtype) -> Array:
    """An array that stands for a list, or for lists in it."""
    shape = tuple(map(t.code.bounded, sizes))
    made = t.python(key)
    kind = types.FLOAT if made in t.code.floats else dtype
    buffer = t.code.temporary(shape, kind, "list")
    buffer.listed = made
    return whole(buffer, shape)
