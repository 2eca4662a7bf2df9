"""The same elements with other axes: reshape, ravel, flatten.

Before::

    B = np.transpose(A, (1, 0, 2)).reshape(n, -1)

After: where axes are merged, a copy in the order of the old axes, or a view, where they lie so::

    for i0 ...: for i1 ...: for i2 ...:
        t_0[i0, i1 * A.shape[2] + i2] = A[i1, i0, i2]

What is stored into through such a view, while NumPy's would be one, is translated once more, with
the elements of `A` in one line (`InLineError`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from math import prod

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.code import Code, UnrollError
from loopbook.frontend.constructs.shapes import permuted
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import (
    Array,
    Dim,
    Index,
    Scalar,
    Thing,
    Tup,
    Value,
    argument_of,
    in_a_line,
    looked_at,
    view_of,
    whole,
)


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
    """A line, of which only the loops know how long it is, as an array of some sizes."""
    unknown = [size for size in goal if t.code.facts.known(size) is None]
    if unknown and t.code.depth:
        raise UnrollError("reshape with sizes that loops change", t.code.origin)
    named = {size: t.code.opaque(t.code.bounded(size, len(unknown))) for size in unknown}
    goal = tuple(named.get(size, size) for size in goal)
    total = prod(goal, start=ONE)
    t.code.suppose(f"{array.shape[0].text} == {total.text}")
    line = array if array.view is not None else t.stored(array)
    return looked_at(line, goal, (in_a_line(goal),))


def _is_rest(part: Value) -> bool:
    return isinstance(part, Scalar) and part.value == -1


def _rest(t: Translator, array: Array, others: list[Int]) -> Int:
    """The size that -1 stands for: what is left of the axes that are not named."""
    left = list(array.shape)
    for size in others:
        match = next((s for s in left if s == size), None)
        if match is None and not t.code.is_one(size):
            total, known = prod(array.shape, start=ONE), prod(others, start=ONE)
            found = arith.binary(t.code, "//", arith.whole(total), arith.whole(known))
            return t.integer(found)
        if match is not None:
            left.remove(match)
    product = ONE
    for size in left:
        product = product * size
    return product


def _groups(t: Translator, old: Index, new: Index) -> list[tuple[list[int], list[int]]]:
    """Axes of the one that together are axes of the other."""
    if len(new) == 1 and t.code.same(prod(old, start=ONE), new[0]):
        return [([*range(len(old))], [0])]
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
