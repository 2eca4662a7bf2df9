"""How far apart elements lie in memory, and views that are made of that: strides, as_strided.

Before::

    s = x.strides[0]
    windows = np.lib.stride_tricks.as_strided(x, (len(x) - 4, 5), (s, s))

After: a view, as of any other index; the elements of `x` are 8 bytes long::

    windows[i, j]  ->  x[i + j]

The strides of an array in C order are products of its sizes. Those that are asked for are taken
apart into steps along its axes, which any sums and multiples of `x.strides` are; if they are none,
its elements are taken as one line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.code import Code
from loopbook.frontend.constructs.creation import shape_of
from loopbook.frontend.registry import attribute, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import (
    Array,
    Dim,
    Index,
    Tup,
    Value,
    View,
    in_a_line,
    is_none,
    view_of,
)


def _in_memory(t: Translator, value: Value) -> tuple[Array, View]:
    """An array that lies in memory in C order."""
    array = t.array(value)
    if array.view is None:
        array = t.stored(array)
    view = array.view
    assert view is not None
    given = t.code.elements.get(view.buffer.name)
    if given is not None:
        if not given.flags.c_contiguous:
            raise t.code.fail("strides of an argument that is not in C order")
        t.code.facts.guards[f"{view.buffer.name}.flags.c_contiguous"] = None
    return array, view


def _steps(view: View, rank: int) -> list[Int]:
    """How many elements lie from one to the next along each axis of a view."""
    sizes = dict(in_a_line(view.buffer.shape)[1])
    steps = [ZERO] * rank
    for axis, (_, factors) in enumerate(view.dims[: len(view.buffer.shape)]):
        for own, factor in factors:
            steps[own] = steps[own] + factor * sizes[axis]
    return steps


@attribute("strides")
def strides(t: Translator, a: Value) -> Value:
    """How many bytes lie from one element to the next along each axis."""
    array, view = _in_memory(t, a)
    steps = _steps(view, array.rank)
    return Tup(tuple(arith.whole(step * array.dtype.itemsize) for step in steps))


@lowers(np.lib.stride_tricks.as_strided)
def as_strided(
    t: Translator,
    x: Value,
    shape: Value | None = None,
    strides: Value | None = None,
    subok: Value | None = None,
    writeable: Value | None = None,
) -> Value:
    """The elements of an array's memory that lie at multiples of some strides."""
    code = t.code
    array, view = _in_memory(t, x)
    if len(view.dims) > len(view.buffer.shape):
        raise code.fail("as_strided of the parts of complex numbers")
    sizes = array.shape if shape is None or is_none(shape) else shape_of(t, shape)
    steps = _steps(view, array.rank)
    if strides is not None and not is_none(strides):
        steps = [_elements(code, size, array.dtype.itemsize) for size in shape_of(t, strides)]
    if len(steps) != len(sizes):
        raise code.fail("as_strided with a shape and strides of different lengths")
    dims = _dims(view, steps)
    if dims is None:
        raise code.not_in_line(view.buffer)
    return view_of(view.buffer, sizes, dims, array.dtype)


def _elements(code: Code, stride: Int, size: int) -> Int:
    found = stride.divided(size)
    if found is None or found[1]:
        raise code.fail("strides that are no multiples of an element's size")
    return found[0]


def _dims(view: View, steps: Sequence[Int]) -> tuple[Dim, ...] | None:
    """Places along each dimension of the buffer for these steps along new axes; None if they lead
    from one row into another."""
    apart: Index = tuple(size for _, size in in_a_line(view.buffer.shape)[1])
    factors: list[list[tuple[int, Int]]] = [[] for _ in apart]
    for own, step in enumerate(steps):
        left = step
        for axis, size in enumerate(apart):
            count = _multiple(left, size)
            if count:
                factors[axis].append((own, Int.of(count)))
                left = left - size * count
        if left != ZERO:
            if len(apart) > 1:
                return None
            factors[0].append((own, left))
    pairs = zip(view.dims, factors, strict=True)
    return tuple((offset, tuple(found)) for (offset, _), found in pairs)


def _multiple(value: Int, size: Int) -> int:
    """How many times a size is in a stride, as its first term tells."""
    if size == ONE:
        return value.constant or 0
    if size.constant is not None:
        return (value.constant or 0) // size.constant
    monomial, factor = max(size.terms)
    return dict(value.terms).get(monomial, 0) // factor


__all__ = ["as_strided", "strides"]
