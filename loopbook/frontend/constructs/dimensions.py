"""Axes: more of them, others, and the same for several arrays.

Before::

    a, b = np.broadcast_arrays(x, y[:, None])       A = np.atleast_2d(x)        s = x.sum().item()

After: other indices, no copies.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.constructs.written import written
from loopbook.frontend.indexing import load_at
from loopbook.frontend.registry import FUNCTIONS, attribute, lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Scalar, Tup, Value


@written(np.atleast_1d)
def atleast_1d(ary):
    return np.full((1,), ary) if np.ndim(ary) == 0 else np.asarray(ary)


@written(np.atleast_2d)
def atleast_2d(ary):
    if np.ndim(ary) == 0:
        return np.full((1, 1), ary)
    line = np.asarray(ary)
    return line[None, :] if line.ndim == 1 else line


@written(np.atleast_3d)
def atleast_3d(ary):
    if np.ndim(ary) == 0:
        return np.full((1, 1, 1), ary)
    flat = np.asarray(ary)
    if flat.ndim == 1:
        return flat[None, :, None]
    return flat[:, :, None] if flat.ndim == 2 else flat


@written(np.rollaxis)
def rollaxis(a, axis, start=0):
    source = axis + a.ndim if axis < 0 else axis
    before = start + a.ndim if start < 0 else start
    return np.moveaxis(a, source, before - 1 if before > source else before)


@lowers(np.broadcast_arrays)
def broadcast_arrays(t: Translator, *args: Value) -> Value:
    arrays = [t.array(value) for value in args]
    shape = nests.broadcast(t.code, [array.shape for array in arrays])
    return Tup(tuple(nests.fit(t.code, array, shape) for array in arrays))


@lowers(np.broadcast_shapes)
def broadcast_shapes(t: Translator, *args: Value) -> Value:
    shapes = [
        tuple(map(t.integer, size.items if isinstance(size, Tup) else (size,))) for size in args
    ]
    return Tup(tuple(map(arith.whole, nests.broadcast(t.code, shapes))))


@lowers(method="item")
def item(t: Translator, a: Value, *places: Value) -> Value:
    """One element, as Python's number."""
    found = a
    if places and isinstance(a, Array):
        array = t.array(a)
        if len(places) == 1 and array.rank != 1 and not isinstance(places[0], Tup):
            array = FUNCTIONS[np.ravel](t, array)
        first = places[0]
        indices = first.items if len(places) == 1 and isinstance(first, Tup) else places
        found = load_at(t, array, list(indices))
    number = t.number(found)
    if number.dtype.kind in "iuf":  # Python's have as many bits as there are
        return FUNCTIONS[float if number.dtype.kind == "f" else int](t, number)
    return replace(number, weak=True) if type(number) is Scalar else number


@attribute("itemsize")
def itemsize(t: Translator, a: Value) -> Value:
    return arith.constant(t.array(a).dtype.itemsize)


@attribute("nbytes")
def nbytes(t: Translator, a: Value) -> Value:
    array = t.array(a)
    count = t.integer(FUNCTIONS[np.size](t, array)) * array.dtype.itemsize
    return arith.whole(count)


__all__ = ["broadcast_arrays", "broadcast_shapes", "item", "itemsize", "nbytes"]
