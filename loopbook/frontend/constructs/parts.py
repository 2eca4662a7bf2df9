"""Arrays taken apart, and put together of blocks: split, delete, block, dstack, c_, r_, windows.

Before::

    q, k, v = np.split(x, 3, axis=-1)

After (views)::

    q = x[:, :m]; k = x[:, m : 2 * m]; v = x[:, 2 * m :]      # m = x.shape[1] // 3
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.constructs.evenly import arange, linspace
from loopbook.frontend.constructs.joining import (
    column_stack,
    concatenate,
    hstack,
    inside,
    part,
    vstack,
)
from loopbook.frontend.expressions import GRIDS, Grid
from loopbook.frontend.indexing import FULL, load_at
from loopbook.frontend.inline import inline
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Dim, Listing, Slice, Thing, Tup, Value, looked_at


def _split(t: Translator, ary: Value, places: Value, along: Value | None, even: bool) -> Tup:
    array = t.array(ary)
    axis = 0 if along is None else t.python(along) % array.rank
    code, size = t.code, array.shape[axis]
    if isinstance(places, Tup):
        edges = [ZERO, *(t.integer(p) for p in places.items), size]
        for low, high in pairwise(edges):
            if not code.facts.nonnegative(high - low):
                raise code.fail("split at places that are not known to grow, and to be inside")
    else:
        count = t.python(t.number(places))
        one = arith.binary(code, "//", arith.whole(size), arith.constant(count))
        length = t.integer(one)
        rest = code.facts.known(size - length * count)
        if rest is None or (rest and even):
            raise code.fail("split into parts that are not of the same length")
        code.facts.zero(size - length * count - rest)
        edges = [length * n + min(n, rest) for n in range(count)] + [size]
    found = (part(array, axis, low, high - low) for low, high in pairwise(edges))
    return Tup(tuple(found), True)


@lowers(np.split)
def split(
    t: Translator, ary: Value, indices_or_sections: Value, axis: Value | None = None
) -> Value:
    """Views of neighbouring parts."""
    return _split(t, ary, indices_or_sections, axis, even=True)


@lowers(np.array_split)
def array_split(
    t: Translator, ary: Value, indices_or_sections: Value, axis: Value | None = None
) -> Value:
    """The same; the first parts may have one more."""
    return _split(t, ary, indices_or_sections, axis, even=False)


@lowers(np.vsplit)
def vsplit(t: Translator, ary: Value, indices_or_sections: Value) -> Value:
    return split(t, ary, indices_or_sections)


@lowers(np.hsplit)
def hsplit(t: Translator, ary: Value, indices_or_sections: Value) -> Value:
    along = 0 if t.array(ary).rank == 1 else 1
    return split(t, ary, indices_or_sections, arith.constant(along))


@lowers(np.delete)
def delete(t: Translator, arr: Value, obj: Value, axis: Value | None = None) -> Value:
    """A copy without one of the places along an axis."""
    code, array = t.code, t.array(arr)
    if axis is None or isinstance(axis, Thing):
        array = t.array(FUNCTIONS[np.ravel](t, array))
    place = 0 if axis is None or isinstance(axis, Thing) else t.python(axis) % array.rank
    if isinstance(obj, Array | Tup) and t.array(obj).rank:
        return inline(t, _without, [array, t.array(obj), arith.constant(place)], {}, code.origin)
    size, at = array.shape[place], t.integer(obj)
    if code.facts.nonnegative(at) is False:
        at = size + at
    array = array if array.view is not None else t.stored(array)
    if not (code.facts.nonnegative(at) and code.facts.nonnegative(size - 1 - at)):
        at = inside(code, at, size - 1)
    pieces = part(array, place, ZERO, at), part(array, place, at + 1, size - 1 - at)
    return concatenate(t, Tup(pieces), arith.constant(place))


def _without(arr, places, axis):
    kept = np.ones(arr.shape[axis], dtype=bool)
    kept[places] = False
    return np.compress(kept, arr, axis=axis)


@lowers(np.dstack)
def dstack(t: Translator, tup: Value) -> Value:
    """Behind each other along a third axis."""
    if isinstance(tup, Listing) and len(tup.shape) < 3:
        found = FUNCTIONS[np.stack](t, tup, arith.constant(-1))
        return found if len(tup.shape) == 2 else load_at(t, found, [Thing(None)])
    if isinstance(tup, Listing):
        return concatenate(t, tup, arith.constant(2))
    if not isinstance(tup, Tup):
        raise t.code.fail("dstack of what is no tuple")
    raised = []
    for item in tup.items:
        array = t.array(item)
        if array.rank == 1:
            array = load_at(t, array, [Thing(None), FULL, Thing(None)])
        elif array.rank == 2:
            array = load_at(t, array, [FULL, FULL, Thing(None)])
        raised.append(array)
    return concatenate(t, Tup(tuple(raised)), arith.constant(2))


@lowers(np.block)
def block(t: Translator, arrays: Value) -> Value:
    """A matrix of matrices, or a line of lines."""
    if not isinstance(arrays, Tup):
        return t.array(arrays)
    if not all(isinstance(row, Tup) for row in arrays.items):
        return hstack(t, arrays)
    return vstack(t, Tup(tuple(hstack(t, row) for row in arrays.items)))


class _Columns(Grid):
    """``np.c_[a, b]``."""

    def at(self, t: Translator, items: list[Value]) -> Value:
        return column_stack(t, Tup(tuple(_line(t, item) for item in items)))


class _Rows(Grid):
    """``np.r_[a, 0, 1:5]``."""

    def at(self, t: Translator, items: list[Value]) -> Value:
        return hstack(t, Tup(tuple(_line(t, item) for item in items)))


def _line(t: Translator, item: Value) -> Value:
    """An array as it is, or the numbers that a slice stands for."""
    if not isinstance(item, Slice):
        return item
    if item.stop is None:
        raise t.code.fail("r_ of a slice without an end")
    start = item.start or arith.constant(0)
    if item.count is not None:
        return linspace(t, start, item.stop, arith.whole(item.count))
    return arange(t, start, item.stop, *([item.step] if item.step else []))


@lowers(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    t: Translator, x: Value, window_shape: Value, axis: Value | None = None
) -> Value:
    """All windows of a size, as further axes of a view."""
    code, array = t.code, t.array(x)
    array = array if array.view is not None else t.stored(array)
    sizes = window_shape.items if isinstance(window_shape, Tup) else (window_shape,)
    widths = [t.integer(size) for size in sizes]
    if axis is None:
        axes: list[int] = list(range(array.rank))
    else:
        given = t.python(axis)
        axes = [a % array.rank for a in (given if isinstance(given, tuple) else (given,))]
    if len(axes) != len(widths):
        raise code.fail("windows of another rank than the array; give the axis")
    shape: list[Int] = list(array.shape)
    factors: list[list[tuple[int, Int]]] = [[(n, ONE)] for n in range(array.rank)]
    for along, width in zip(axes, widths, strict=True):
        shape[along] = shape[along] - width + 1
        if not code.facts.nonnegative(shape[along] - 1):
            raise code.fail("windows that are not known to be smaller than the array")
        factors[along].append((len(shape), ONE))
        shape.append(width)
    dims: list[Dim] = [(ZERO, tuple(f)) for f in factors]
    return looked_at(array, tuple(shape), tuple(dims))


GRIDS.update({id(np.c_): _Columns(), id(np.r_): _Rows()})
