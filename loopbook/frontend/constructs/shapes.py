"""Shapes: transposes, flips, diagonals, and attributes of arrays.

Before::

    B = np.transpose(A, (1, 0, 2)) * 2

After: indices in another order::

    B[i0, i1, i2] = A[i1, i0, i2] * 2
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.constructs.creation import shape_of
from loopbook.frontend.indexing import FULL, load_at
from loopbook.frontend.registry import FUNCTIONS, attribute, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import (
    Array,
    Dim,
    Scalar,
    Slice,
    Thing,
    Tup,
    Value,
    boxed,
    looked_at,
)


@lowers(method="view")
def view(t: Translator, a: Value, dtype: Value | None = None) -> Value:
    """The same elements; those of an array that is computed are computed once."""
    array = t.array(a)
    if dtype is not None and np.dtype(t.python(dtype)) != array.dtype:
        raise t.code.fail("the bits of numbers as numbers of another type; use .astype")
    return array if array.view is not None else t.stored(array)


@attribute("shape")
def shape(t: Translator, a: Value) -> Value:
    array = a if isinstance(a, Array) and a.mask is None else t.array(a)
    return Tup(tuple(arith.whole(s) for s in array.shape))


@attribute("size")
def size(t: Translator, a: Value) -> Value:
    array = a if isinstance(a, Array) and a.mask is None else t.array(a)
    count = ONE
    for s in array.shape:
        count = count * s
    return arith.whole(count)


@attribute("ndim")
def ndim(t: Translator, a: Value) -> Value:
    return arith.constant(a.rank if isinstance(a, Array) else 0)


@attribute("dtype")
def dtype(t: Translator, a: Value) -> Value:
    if not isinstance(a, Array | Scalar):
        raise t.code.fail("the dtype of this")
    return Thing(a.dtype)


@attribute("T")
def transposed(t: Translator, a: Value) -> Value:
    return transpose(t, a)


@attribute("flat")
def flat(t: Translator, a: Value) -> Value:
    return FUNCTIONS[np.ravel](t, a)


def permuted(array: Array, order: tuple[int, ...]) -> Array:
    """Axes in another order."""
    dims: list[Dim] = [(ZERO, ())] * array.rank
    for own, axis in enumerate(order):
        dims[axis] = (ZERO, ((own, ONE),))
    return looked_at(array, tuple(array.shape[axis] for axis in order), tuple(dims))


@lowers(np.transpose, np.permute_dims, method="transpose")
def transpose(t: Translator, a: Value, *axes: Value) -> Value:
    array = t.array(a)
    if not axes:
        return permuted(array, tuple(range(array.rank))[::-1])
    order = t.python(axes[0] if len(axes) == 1 else Tup(axes))
    if order is None:
        return permuted(array, tuple(range(array.rank))[::-1])
    return permuted(array, tuple(axis % array.rank for axis in order))


_positional = FUNCTIONS[np.transpose]


def _transpose(t: Translator, a: Value, *args: Value, axes: Value | None = None) -> Value:
    return _positional(t, a, *args, *([axes] if axes is not None else []))


FUNCTIONS[np.transpose] = _transpose


@lowers(np.swapaxes, method="swapaxes")
def swapaxes(t: Translator, a: Value, axis1: Value, axis2: Value) -> Value:
    array = t.array(a)
    order = list(range(array.rank))
    x, y = t.python(axis1), t.python(axis2)
    order[x], order[y] = order[y], order[x]
    return permuted(array, tuple(order))


@lowers(np.moveaxis)
def moveaxis(t: Translator, a: Value, source: Value, destination: Value) -> Value:
    array = t.array(a)
    given = (t.python(value) for value in (source, destination))
    moved = [(one,) if isinstance(one, int) else one for one in given]
    x, y = ([axis % array.rank for axis in axes] for axes in moved)
    order = [axis for axis in range(array.rank) if axis not in x]
    for place, axis in sorted(zip(y, x, strict=True)):
        order.insert(place, axis)
    return permuted(array, tuple(order))


@lowers(np.flip, np.flipud, np.fliplr)
def flip(t: Translator, m: Value, axis: Value | None = None) -> Value:
    array = t.array(m)
    chosen = None if axis is None else t.python(axis)
    axes = range(array.rank) if chosen is None else (chosen,) if isinstance(chosen, int) else chosen
    turned = {a % array.rank for a in axes}
    back = Slice(None, None, arith.constant(-1))
    return load_at(t, array, [back if a in turned else FULL for a in range(array.rank)])


FUNCTIONS[np.flipud] = lambda t, m: flip(t, m, arith.constant(0))
FUNCTIONS[np.fliplr] = lambda t, m: flip(t, m, arith.constant(1))


@lowers(np.expand_dims)
def expand_dims(t: Translator, a: Value, axis: Value) -> Value:
    array = t.array(a)
    place = t.python(axis)
    items: list[Value] = [FULL] * array.rank
    items.insert(place if place >= 0 else place + array.rank + 1, Thing(None))
    return load_at(t, array, items)


@lowers(np.squeeze, method="squeeze")
def squeeze(t: Translator, a: Value, axis: Value | None = None) -> Value:
    array = t.array(a)
    chosen = None if axis is None else t.python(axis)
    axes = (
        {chosen % array.rank}
        if isinstance(chosen, int)
        else ({axis for axis, s in enumerate(array.shape) if t.code.is_one(s)})
    )
    zero = arith.constant(0)
    found = load_at(t, array, [zero if axis in axes else FULL for axis in range(array.rank)])
    return boxed(found) if array.rank else found


@lowers(np.broadcast_to)
def broadcast_to(t: Translator, a: Value, shape: Value) -> Value:
    return nests.fit(t.code, t.array(a), shape_of(t, shape))


@lowers(np.diagonal, method="diagonal")
def diagonal(
    t: Translator,
    a: Value,
    offset: Value | None = None,
    axis1: Value | None = None,
    axis2: Value | None = None,
) -> Value:
    """The diagonals of the matrices along two axes, along a new last one."""
    array = t.array(a)
    if array.rank < 2:
        raise t.code.fail("the diagonal of an array of rank other than 2")
    shift = 0 if offset is None else t.python(offset)
    first, second = (
        n if given is None else t.python(given) % array.rank
        for n, given in enumerate((axis1, axis2))
    )
    if first == second:
        raise t.code.fail("the diagonal of one axis")
    rows, columns = array.shape[first] - max(-shift, 0), array.shape[second] - max(shift, 0)
    count = _lesser(t, rows, columns)
    others = [axis for axis in range(array.rank) if axis not in (first, second)]
    dims: list[Dim] = [(ZERO, ())] * array.rank
    for place, axis in enumerate(others):
        dims[axis] = (ZERO, ((place, ONE),))
    along = ((len(others), ONE),)
    dims[first], dims[second] = (Int.of(max(-shift, 0)), along), (Int.of(max(shift, 0)), along)
    return looked_at(array, (*(array.shape[axis] for axis in others), count), tuple(dims))


def _lesser(t: Translator, rows: Int, columns: Int) -> Int:
    """The lesser of two sizes, which the loops may have to find; none that is below 0."""
    code = t.code
    wide = code.facts.nonnegative(columns - rows)
    lesser = rows if wide else columns
    sure = None if wide is None else code.facts.nonnegative(lesser)
    if sure is not None:
        return lesser if sure else ZERO
    name = code.fresh("n_")
    code.emit(f"{name} = max(min({rows.text}, {columns.text}), 0)")
    ends = [code.facts.bound(size, upper=True) for size in (rows, columns)]
    code.facts.ranges[name] = (ZERO, next((e for e in ends if e and code.facts.known(e)), None))
    return Int.atom(name)


@lowers(np.diag)
def diag(t: Translator, v: Value, k: Value | None = None) -> Value:
    """The diagonal of a matrix, or a matrix with a diagonal."""
    array = t.array(v)
    if array.rank == 2:
        return diagonal(t, array, k)
    shift = 0 if k is None else t.python(k)
    count = array.shape[0] + abs(shift)
    made = FUNCTIONS[np.zeros](t, Tup((arith.whole(count),) * 2), Thing(array.dtype))
    matrix = nests.materialise(t.code, made)
    place = diagonal(t, matrix, arith.constant(shift))
    nests.assign(t.code, t.array(place), array)
    return matrix


@lowers(np.diagflat)
def diagflat(t: Translator, v: Value, k: Value | None = None) -> Value:
    """A matrix with a diagonal of all elements."""
    return diag(t, FUNCTIONS[np.reshape](t, v, arith.constant(-1)), k)


@lowers(np.fill_diagonal)
def fill_diagonal(t: Translator, a: Value, val: Value) -> Value:
    target = t.array(a)
    if target.rank < 2 or target.view is None:
        raise t.code.fail("fill_diagonal of what is no matrix in memory")
    if target.rank == 2:
        target = t.array(diagonal(t, target))
    else:  # all sizes are equal, or NumPy raises
        for size in target.shape[1:]:
            if not t.code.same(size, target.shape[0]):
                raise t.code.fail("fill_diagonal of sizes that may differ")
        along = ((0, ONE),)
        target = looked_at(target, target.shape[:1], tuple((ZERO, along) for _ in target.shape))
    assert target.view is not None
    t.writes_to(target.view.buffer)
    nests.assign(t.code, target, val if isinstance(val, Array) else t.number(val))
    return Thing(None)


@lowers(method="fill")
def fill(t: Translator, a: Value, value: Value) -> Value:
    array = t.array(a)
    if array.view is None:
        raise t.code.fail("fill of what is no array in memory")
    t.writes_to(array.view.buffer)
    nests.assign(t.code, array, t.number(value))
    return Thing(None)
