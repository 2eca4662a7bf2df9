"""Shapes: transposes, reshape, flips, diagonals, and attributes of arrays.

Before::

    B = np.transpose(A, (1, 0, 2)).reshape(n, -1)

After: indices in another order; where axes are merged, a copy in the order of the old axes::

    for i0 ...: for i1 ...: for i2 ...:
        t_0[i0, i1 * A.shape[2] + i2] = A[i1, i0, i2]
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.code import Code, UnrollError
from loopbook.frontend.constructs.creation import shape_of
from loopbook.frontend.indexing import FULL, load_at
from loopbook.frontend.registry import FUNCTIONS, attribute, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import (
    Array,
    Dim,
    Index,
    Scalar,
    Slice,
    Thing,
    Tup,
    Value,
    argument_of,
    boxed,
    looked_at,
    view_of,
    whole,
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
    return ravel(t, a)


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
    count = rows if t.code.facts.nonnegative(columns - rows) else columns
    others = [axis for axis in range(array.rank) if axis not in (first, second)]
    dims: list[Dim] = [(ZERO, ())] * array.rank
    for place, axis in enumerate(others):
        dims[axis] = (ZERO, ((place, ONE),))
    along = ((len(others), ONE),)
    dims[first], dims[second] = (Int.of(max(-shift, 0)), along), (Int.of(max(shift, 0)), along)
    return looked_at(array, (*(array.shape[axis] for axis in others), count), tuple(dims))


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
    return diag(t, reshape(t, v, arith.constant(-1)), k)


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


@lowers(np.ravel, method="ravel")
def ravel(t: Translator, a: Value, order: Value | None = None) -> Value:
    return reshape(t, a, arith.constant(-1), order=order)


@lowers(method="flatten")
def flatten(t: Translator, a: Value, order: Value | None = None) -> Value:
    array = t.array(reshape(t, a, arith.constant(-1), order=order))
    return nests.materialise(t.code, array)


@lowers(np.reshape, method="reshape")
def reshape(t: Translator, a: Value, *shape: Value, order: Value | None = None) -> Value:
    """The same elements in the same order, other axes."""
    array = t.array(a)
    if len(shape) > 1 and isinstance(shape[-1], Thing):
        shape, order = shape[:-1], shape[-1]
    given = shape[0] if len(shape) == 1 else Tup(tuple(shape))
    parts = given.items if isinstance(given, Tup) else (given,)
    across = "C" if order is None else t.python(order)
    if across == "F":  # as the transpose lies, and back
        backwards = permuted(array, tuple(reversed(range(array.rank))))
        made = t.array(reshape(t, backwards, Tup(tuple(reversed(parts)))))
        return permuted(made, tuple(reversed(range(made.rank))))
    if across != "C":
        raise t.code.fail(f"the order {across!r} of elements; use C or F")
    sizes = [None if _is_rest(p) else t.integer(p) for p in parts]
    if None in sizes:
        sizes[sizes.index(None)] = _rest(t, array, [s for s in sizes if s is not None])
    goal = tuple(ONE if t.code.is_one(s) else s for s in sizes if s is not None)
    if len(goal) == array.rank and all(map(t.code.same, goal, array.shape)):
        return array
    several = [size for size in goal if not t.code.is_one(size)]
    if (
        array.rank == 1
        and t.code.facts.known(array.shape[0]) is None
        and several != [array.shape[0]]
    ):
        return _rows(t, array, goal)
    return _split(t, _merge(t, array, goal), goal)


def _rows(t: Translator, array: Array, goal: Index) -> Array:
    """A line, of which only the loops know how long it is, as an array of known sizes."""
    total, steps = ONE, [ONE]
    for size in reversed(goal):
        total = total * size
        steps.insert(0, total)
    if t.code.facts.known(total) is None:
        raise UnrollError("reshape with sizes that loops change", t.code.origin)
    t.code.suppose(f"{array.shape[0].text} == {total.text}")
    place = tuple((axis, step) for axis, step in enumerate(steps[1:]))
    return looked_at(array if array.view is not None else t.stored(array), goal, ((ZERO, place),))


def _is_rest(part: Value) -> bool:
    return isinstance(part, Scalar) and part.value == -1


def _rest(t: Translator, array: Array, others: list[Int]) -> Int:
    """The size that -1 stands for: what is left of the axes that are not named."""
    left = list(array.shape)
    for size in others:
        match = next((s for s in left if s == size), None)
        if match is None and not t.code.is_one(size):
            total = ONE
            for s in array.shape:
                total = total * s
            product = ONE
            for s in others:
                product = product * s
            found = arith.binary(t.code, "//", arith.whole(total), arith.whole(product))
            return t.integer(found)
        if match is not None:
            left.remove(match)
    product = ONE
    for size in left:
        product = product * size
    return product


def _groups(t: Translator, old: Index, new: Index) -> list[tuple[list[int], list[int]]]:
    """Axes of the one that together are axes of the other."""
    groups, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        left, right, a, b = [], [], ONE, ONE
        while True:
            if left and right and t.code.same(a, b):
                break
            x, y = t.code.facts.known(a), t.code.facts.known(b)
            if x is None or y is None:
                # With ones before, the next size may be the same.
                if not (x == 1 and i < len(old)) and not (y == 1 and j < len(new)):
                    raise UnrollError("reshape with sizes that loops change", t.code.origin)
                x, y = (1, 2) if x == 1 and i < len(old) else (2, 1)
            if i < len(old) and (not left or x < y or j >= len(new)):
                left.append(i)
                a = a * old[i]
                i += 1
            elif j < len(new):
                right.append(j)
                b = b * new[j]
                j += 1
            elif left or right:
                break
        while i < len(old) and t.code.is_one(old[i]) and j >= len(new):
            left.append(i)
            i += 1
        while j < len(new) and t.code.is_one(new[j]) and i >= len(old):
            right.append(j)
            j += 1
        if not t.code.same(a, b):
            raise t.code.fail("reshape to another number of elements")
        groups.append((left, right))
    return groups


def _merge(t: Translator, array: Array, goal: Index) -> Array:
    """A copy in which axes that end up in one are one; the array itself where none do."""
    code = t.code
    groups = _groups(t, array.shape, goal) if goal and array.shape else []
    if all(sum(not code.is_one(array.shape[a]) for a in left) <= 1 for left, _ in groups):
        return array
    shape = []
    for left, _ in groups:
        product = ONE
        for axis in left:
            product = product * array.shape[axis]
        shape.append(product)
    joined = _joined(code, array, groups, tuple(shape))
    if joined is not None:
        return joined
    buffer = code.temporary(tuple(shape), array.dtype)
    if array.view is not None and not array.view.buffer.rows:  # else NumPy makes a copy, too
        buffer.copied, buffer.base = True, array.view.buffer
        code.merged.append(buffer)
    buffer.origin = argument_of(array)
    with ExitStack() as stack:
        own = [stack.enter_context(code.loop(ZERO, s)) for s in array.shape]
        place = []
        for left, _ in groups:
            index = ZERO
            for axis in left:
                index = index * array.shape[axis] + own[axis]
            place.append(index)
        element = array.element(tuple(own))
        for line in nests.put(buffer, tuple(place), element, array.dtype):
            code.emit(line)
    return whole(buffer, tuple(shape))


def _joined(
    code: Code, array: Array, groups: Sequence[tuple[list[int], list[int]]], shape: Index
) -> Array | None:
    """A view with axes that are one, if its elements lie that far apart along all of them."""
    if array.view is None:
        return None
    dims: list[Dim] = []
    for offset, factors in array.view.dims:
        steps, found = dict(factors), []
        for own, (left, _) in enumerate(groups):
            axes = [axis for axis in left if not code.is_one(array.shape[axis])]
            for outer, inner in pairwise(axes):
                step = steps.get(inner, ZERO) * array.shape[inner]
                if steps.get(outer, ZERO) != step:
                    return None
            if axes and axes[-1] in steps:
                found.append((own, steps[axes[-1]]))
        dims.append((offset, tuple(found)))
    return view_of(array.view.buffer, shape, tuple(dims), array.dtype)


def _split(t: Translator, array: Array, goal: Index) -> Array:
    """Axes in parts: places in them are polynomials again."""
    dims: list[Dim] = []
    covered = 0
    for left, right in _groups(t, array.shape, goal) if goal and array.shape else []:
        big = [axis for axis in left if not t.code.is_one(array.shape[axis])]
        for axis in left:
            factors: list[tuple[int, Int]] = []
            if axis in big or (not big and axis == left[0]):
                stride = ONE
                for own in reversed(right):
                    if not t.code.is_one(goal[own]):
                        factors.append((own, stride))
                    stride = stride * goal[own]
            dims.append((ZERO, tuple(sorted(factors))))
            covered += 1
    if not array.shape or not goal:
        dims = [(ZERO, ())] * array.rank
    return looked_at(array, goal, tuple(dims))
