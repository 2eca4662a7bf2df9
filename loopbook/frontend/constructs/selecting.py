"""Elements that are picked out: nonzero, where, argwhere, take, extract, select; stores by mask.

Before::

    i, j = np.nonzero(A > 0)

After::

    n_0 = 0
    for i0 in range(n):
        for i1 in range(m):
            if A[i0, i1] > 0:
                i[n_0] = i0; j[n_0] = i1
                n_0 = n_0 + 1
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import arith, nests, types
from loopbook.frontend.constructs.elementwise import cast, where
from loopbook.frontend.indexing import FULL, load_at, store_at
from loopbook.frontend.inline import inline
from loopbook.frontend.masks import each
from loopbook.frontend.operators import lift
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.slices import position
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import INT
from loopbook.frontend.values import Array, Index, Scalar, Thing, Tup, Value, subscript, whole


def _true_places(t: Translator, a: Value, together: bool) -> tuple[Array, ...]:
    """The places where an array is not nought, a line for each axis, or one array with a row for
    each place."""
    code, array = t.code, t.array(a)
    if not array.rank:
        raise code.fail("places in what is no array")
    mask = t.array(lift(t, arith.truth, array))
    most = ONE
    for size in mask.shape:
        most = most * size
    if together:
        table = code.temporary((most, Int.of(mask.rank)), INT)
    else:
        lines = [code.temporary((most,), INT) for _ in mask.shape]
    with each(code, mask, mask, 0, all_of_them=True) as (own, count):
        for axis, index in enumerate(own):
            place = (
                subscript(table, (count, Int.of(axis)))
                if together
                else subscript(lines[axis], (count,))
            )
            code.emit(f"{place} = {index.text}")
    code.facts.ranges[count.text] = (ZERO, most)
    if together:
        return (whole(table, (count, Int.of(mask.rank))),)
    return tuple(whole(line, (count,)) for line in lines)


@lowers(np.nonzero, method="nonzero")
def nonzero(t: Translator, a: Value) -> Value:
    """The places of all that is not nought, a line of indices for each axis."""
    return Tup(_true_places(t, a, False))


@lowers(np.flatnonzero)
def flatnonzero(t: Translator, a: Value) -> Value:
    """The same in the array laid out in a row."""
    return _true_places(t, FUNCTIONS[np.ravel](t, t.array(a)), False)[0]


@lowers(np.argwhere)
def argwhere(t: Translator, a: Value) -> Value:
    """The same, a row of indices for each place."""
    return _true_places(t, a, True)[0]


@lowers(np.where)
def where_or_places(
    t: Translator, condition: Value, x: Value | None = None, y: Value | None = None
) -> Value:
    """One of two values, or the places where the condition alone is true."""
    return nonzero(t, condition) if x is None and y is None else where(t, condition, x, y)


@lowers(np.extract)
def extract(t: Translator, condition: Value, arr: Value) -> Value:
    """The elements where a condition is true, in a row."""
    flat = FUNCTIONS[np.ravel]
    mask = lift(t, arith.truth, flat(t, t.array(condition)))
    return load_at(t, flat(t, t.array(arr)), [mask])


@lowers(np.compress, method="compress")
def compress(t: Translator, condition: Value, a: Value, axis: Value | None = None) -> Value:
    """The parts along an axis where a condition is true."""
    if axis is None:
        return extract(t, condition, a)
    array = t.array(a)
    place = t.python(axis) % array.rank
    mask = lift(t, arith.truth, t.array(condition))
    return load_at(t, array, [mask if n == place else FULL for n in range(array.rank)])


@lowers(np.take, method="take")
def take(t: Translator, a: Value, indices: Value, axis: Value | None = None) -> Value:
    """``a[indices]`` along an axis."""
    array = t.array(a)
    if axis is None or (isinstance(axis, Thing) and axis.value is None):
        return load_at(t, FUNCTIONS[np.ravel](t, array), [indices])
    place = t.python(axis) % array.rank
    return load_at(t, array, [indices if n == place else FULL for n in range(array.rank)])


@lowers(np.take_along_axis)
def take_along_axis(t: Translator, arr: Value, indices: Value, axis: Value | None = None) -> Value:
    """Each line's elements at places of its own."""
    code, array, places = t.code, t.array(arr), t.array(indices)
    place = (-1 if axis is None else t.python(axis)) % array.rank
    array = array if array.view is not None else t.stored(array)
    if places.rank != array.rank or not all(
        code.same(x, y)
        for n, (x, y) in enumerate(zip(array.shape, places.shape, strict=True))
        if n != place
    ):
        raise code.fail("take_along_axis of shapes that do not fit")

    def at(own: Index) -> Scalar:
        here = position(t, places.element(own), array.shape[place])
        return array.element(tuple(here if n == place else i for n, i in enumerate(own)))

    buffers = array.buffers | places.buffers
    return Array(places.shape, array.dtype, at, buffers=buffers, cost=places.cost + 2)


@lowers(np.select)
def select(
    t: Translator, condlist: Value, choicelist: Value, default: Value | None = None
) -> Value:
    """For each element the first choice whose condition is true."""
    if not isinstance(condlist, Tup) or not isinstance(choicelist, Tup):
        raise t.code.fail("select with what are no lists")
    result: Value = arith.constant(0) if default is None else default
    for condition, choice in reversed([*zip(condlist.items, choicelist.items, strict=True)]):
        result = where(t, condition, choice, result)
    return result


@lowers(np.piecewise)
def piecewise(t: Translator, x: Value, condlist: Value, funclist: Value) -> Value:
    """What one of several functions gives, by conditions; of several true ones the last counts."""
    from loopbook.frontend.calls import call

    if not isinstance(condlist, Tup) or not isinstance(funclist, Tup):
        raise t.code.fail("piecewise with what are no lists")
    array = t.array(x)
    array = array if array.view is not None else t.stored(array)
    values = [
        call(t, f, [array], {}, "piecewise") if isinstance(f, Thing) else f for f in funclist.items
    ]
    others = values[len(condlist.items) :]
    result: Value = others[0] if others else arith.constant(array.dtype.type(0))
    for condition, value in zip(condlist.items, values, strict=False):
        result = where(t, condition, cast(t, value, array.dtype), result)
    return cast(t, result, array.dtype)


@lowers(np.array_equal)
def array_equal(t: Translator, a1: Value, a2: Value) -> Value:
    """Whether two arrays have the same shape and elements; a Python truth value."""
    code, left, right = t.code, t.array(a1), t.array(a2)
    if left.rank != right.rank:
        return arith.constant(False)
    for one, other in zip(left.shape, right.shape, strict=True):
        if code.agreed(one, other) is None:
            return arith.constant(False)
    same = lift(t, lambda x, y: arith.compare(code, "==", x, y), left, right)
    found = t.number(FUNCTIONS[np.all](t, same))
    return Scalar(found.text, types.BOOL, True)


@lowers(np.copyto)
def copyto(t: Translator, dst: Value, src: Value, *, where: Value | None = None) -> Value:
    """``dst[...] = src``, where a mask is true."""
    if not isinstance(dst, Array) or dst.view is None:
        raise t.code.fail("copyto what is no array in memory")
    if where is None:
        store_at(t, dst, [FULL] * dst.rank, src)
        return Thing(None)
    if not isinstance(src, Array | Scalar):
        src = t.array(src)
    if not np.can_cast(src.dtype, dst.dtype, "same_kind") and not src.weak:
        raise t.code.fail(f"{src.dtype} put into an array of {dst.dtype} in place")
    t.writes_to(dst.view.buffer)
    if isinstance(src, Array):
        src = t.array(src)
    nests.assign(t.code, dst, src, nests.fit(t.code, t.array(where), dst.shape))
    return Thing(None)


@lowers(np.choose)
def choose(t: Translator, a: Value, choices: Value) -> Value:
    """For each element the choice whose number it is."""
    if not isinstance(choices, Tup) or not choices.items:
        raise t.code.fail("choose among what is no list")
    count = len(choices.items)
    places = t.array(a)
    places = places if places.view is not None else t.stored(places)
    least, most = (FUNCTIONS[f](t, places) for f in (np.min, np.max))
    t.code.suppose(f"{t.number(least).text} >= 0")
    t.code.suppose(f"{t.number(most).text} < {count}")
    result = choices.items[-1]
    for number, choice in reversed([*enumerate(choices.items[:-1])]):
        here = lift(
            t,
            lambda x, n=number: arith.compare(t.code, "==", x, arith.constant(n)),
            places,
        )
        result = where(t, here, choice, result)
    return result


@lowers(np.place)
def place(t: Translator, arr: Value, mask: Value, vals: Value) -> Value:
    """``arr[mask] = vals``, for a number, or numbers that are taken over and over again."""
    numbers = t.array(vals)
    if numbers.rank and not t.code.is_one(numbers.shape[0]):
        return inline(t, _placed, [arr, mask, numbers], {}, t.code.origin)
    return putmask(t, arr, mask, t.number(numbers))


def _placed(arr, mask, vals):
    numbers, k = vals.reshape(-1), 0
    for place in np.ndindex(arr.shape):
        if mask[place]:
            arr[place] = numbers[k % len(numbers)]
            k += 1


def _put_where(a, mask, values):
    numbers, k = values.reshape(-1), -1
    for place in np.ndindex(a.shape):
        k += 1
        if mask[place]:
            a[place] = numbers[k % len(numbers)]


@lowers(np.put, method="put")
def put(t: Translator, a: Value, ind: Value, v: Value) -> Value:
    """Numbers into places of an array as one line, taken over and over again."""
    return inline(t, _put, [a, t.array(ind), t.array(v)], {}, t.code.origin)


def _put(a, ind, v):
    places, numbers = ind.reshape(-1), v.reshape(-1)
    for i in range(len(places)):
        place = places[i] if a.ndim == 1 else np.unravel_index(places[i] % a.size, a.shape)
        a[place] = numbers[i % len(numbers)]


@lowers(np.putmask)
def putmask(t: Translator, a: Value, mask: Value, values: Value) -> Value:
    """``a[mask] = values`` for a number, or values of the same shape."""
    code = t.code
    if not isinstance(a, Array) or a.view is None:
        raise code.fail("putmask into what is no array in memory")
    if isinstance(values, Tup):
        values = t.array(values)
    if isinstance(values, Array) and not (
        values.rank == a.rank and all(map(code.same, values.shape, a.shape))
    ):
        return inline(t, _put_where, [a, mask, values], {}, code.origin)
    t.writes_to(a.view.buffer)
    nests.assign(code, a, values if isinstance(values, Array) else t.number(values), t.array(mask))
    return Thing(None)
