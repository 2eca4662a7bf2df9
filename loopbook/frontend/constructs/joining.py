"""Arrays put together or repeated: concatenate, stack, pad, repeat, tile.

Before::

    c = np.concatenate((a, b))

After::

    for i0 in range(a.shape[0]):
        c[i0] = a[i0]
    for i0 in range(b.shape[0]):
        c[a.shape[0] + i0] = b[i0]
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import arith, nests, types
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.constructs.evenly import filled
from loopbook.frontend.indexing import FULL, load_at
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import (
    Array,
    Index,
    Listing,
    Scalar,
    Slice,
    Thing,
    Tup,
    Value,
    looked_at,
    whole,
)


def from_nested(t: Translator, value: Tup) -> Array:
    """A list of numbers, of lists or of arrays as an array."""
    items = [t.array(item) for item in value.items]
    if not items:
        raise t.code.fail("an array without elements")
    return stack(t, Tup(tuple(items)))


def part(array: Array, axis: int, start: Int, count: Int) -> Array:
    """A range of places along an axis."""
    dims = tuple((start if a == axis else ZERO, ((a, ONE),)) for a in range(array.rank))
    shape = tuple(count if a == axis else s for a, s in enumerate(array.shape))
    return looked_at(array, shape, dims)


@lowers(np.concatenate)
def concatenate(t: Translator, arrays: Value, axis: Value | None = None) -> Value:
    code = t.code
    if isinstance(arrays, Listing) and arrays.shape and not isinstance(axis, Thing):
        rows, place = t.array(arrays), 0 if axis is None else t.python(axis)
        return _side_by_side(t, rows, place % len(arrays.shape))
    if not isinstance(arrays, Tup):
        raise code.fail("concatenate of what is no tuple")
    given = [t.array(a) for a in arrays.items]
    if axis is not None and isinstance(axis, Thing):
        given = [FUNCTIONS[np.ravel](t, a) for a in given]
    place = 0 if axis is None or isinstance(axis, Thing) else t.python(axis) % given[0].rank
    dtype = types.promote(*((a.dtype, False) for a in given))[0]
    total = ZERO
    for a in given:
        if a.rank != given[0].rank or not all(
            code.same(x, y)
            for n, (x, y) in enumerate(zip(a.shape, given[0].shape, strict=True))
            if n != place
        ):
            raise code.fail("concatenate of shapes that do not fit")
        total = total + a.shape[place]
    shape = tuple(total if n == place else s for n, s in enumerate(given[0].shape))
    result = whole(code.temporary(shape, dtype), shape)
    start = ZERO
    for a in given:
        nests.assign(code, part(result, place, start, a.shape[place]), a)
        start = start + a.shape[place]
    return result


@lowers(np.stack)
def stack(t: Translator, arrays: Value, axis: Value | None = None) -> Array:
    code = t.code
    if isinstance(arrays, Array | Listing):  # what it goes through is along its first axis
        rows = t.array(arrays)
        order = t.python(axis) % rows.rank if axis is not None else 0
        return FUNCTIONS[np.moveaxis](t, rows, arith.constant(0), arith.constant(order))
    if not isinstance(arrays, Tup):
        raise code.fail("stack of what is no tuple")
    given = [t.array(a) for a in arrays.items]
    rank = given[0].rank + 1
    place = 0 if axis is None else t.python(axis) % rank
    kinds = [a.kind for a in given]
    dtype = types.promote(*kinds)[0]
    shape = list(given[0].shape)
    shape.insert(place, Int.of(len(given)))
    result = whole(code.temporary(tuple(shape), dtype), tuple(shape))
    for number, a in enumerate(given):
        if a.rank + 1 != rank:
            raise code.fail("stack of shapes that do not fit")
        row = (
            load_at(
                t,
                part(result, place, Int.of(number), ONE),
                [arith.constant(0) if n == place else FULL for n in range(rank)],
            )
            if rank > 1
            else (part(result, 0, Int.of(number), ONE))
        )
        nests.assign(code, row, a)  # type: ignore[arg-type]
    return result


def _raised(t: Translator, array: Array, rank: int, columns: bool) -> Array:
    while array.rank < rank:
        items: list[Value] = [Thing(None), *[FULL] * array.rank]
        if columns:
            items = [*[FULL] * array.rank, Thing(None)]
        array = t.array(load_at(t, array, items)) if array.rank else looked_at(array, (ONE,), ())
    return array


@lowers(np.hstack)
def hstack(t: Translator, tup: Value) -> Value:
    if isinstance(tup, Listing):
        flat = len(tup.shape) == 1
        return concatenate(t, tup, arith.constant(0 if flat else 1)) if tup.shape else t.array(tup)
    given = [_raised(t, t.array(a), 1, False) for a in tup.items]  # type: ignore[union-attr]
    return concatenate(t, Tup(tuple(given)), arith.constant(0 if given[0].rank == 1 else 1))


def _side_by_side(t: Translator, rows: Array, place: int) -> Value:
    """The parts of an array along its first axis, one behind the other along another of theirs."""
    order = (*range(1, place + 1), 0, *range(place + 1, rows.rank))
    turned = FUNCTIONS[np.transpose](t, rows, Tup(tuple(map(arith.constant, order))))
    sizes = list(rows.shape[1:])
    sizes[place] = rows.shape[0] * sizes[place]
    return FUNCTIONS[np.reshape](t, turned, Tup(tuple(map(arith.whole, sizes))))


@lowers(np.vstack)
def vstack(t: Translator, tup: Value) -> Value:
    if isinstance(tup, Listing):
        return t.array(tup) if len(tup.shape) == 1 else concatenate(t, tup)
    given = [_raised(t, t.array(a), 2, False) for a in tup.items]  # type: ignore[union-attr]
    return concatenate(t, Tup(tuple(given)), arith.constant(0))


@lowers(np.column_stack)
def column_stack(t: Translator, tup: Value) -> Value:
    if isinstance(tup, Listing):
        if len(tup.shape) == 1:
            return FUNCTIONS[np.transpose](t, t.array(tup))
        return concatenate(t, tup, arith.constant(1))
    given = [_raised(t, t.array(a), 2, True) for a in tup.items]  # type: ignore[union-attr]
    return concatenate(t, Tup(tuple(given)), arith.constant(1))


@lowers(np.append)
def append(t: Translator, arr: Value, values: Value, axis: Value | None = None) -> Value:
    pair = Tup((_raised(t, t.array(arr), 1, False), _raised(t, t.array(values), 1, False)))
    return concatenate(t, pair, Thing(None) if axis is None else axis)


def inside(code: Code, place: Int, last: Int) -> Int:
    """A place that is supposed to be one of those up to the last, unless it is known not to be."""
    if code.facts.nonnegative(place) is False or code.facts.nonnegative(last - place) is False:
        raise code.fail("a place behind the end, or in front of the first one")
    name = code.fresh("n_")
    code.emit(f"{name} = {bare(place.text)}")
    code.suppose(f"{name} >= 0 and {name} <= {last.text}", or_leave=True)
    code.facts.ranges[name] = (ZERO, last)
    return Int.atom(name)


@lowers(np.insert)
def insert(
    t: Translator, arr: Value, obj: Value, values: Value, axis: Value | None = None
) -> Value:
    """A line with further numbers in front of one of its places."""
    code, line = t.code, t.array(arr)
    if axis is None and line.rank > 1:
        line = t.array(FUNCTIONS[np.ravel](t, line))
    if line.rank != 1 or not isinstance(obj, Scalar):
        raise code.fail("insert at several places or into what is no line; use np.concatenate")
    more = _raised(t, t.array(cast(t, values, line.dtype)), 1, False)
    if more.rank != 1:
        raise code.fail("insert of what is no line")
    start = t.integer(obj)
    if code.facts.nonnegative(start) is False:
        start = line.shape[0] + start
    if not (code.facts.nonnegative(start) and code.facts.nonnegative(line.shape[0] - start)):
        start = inside(code, start, line.shape[0])
    rest = line.shape[0] - start
    return concatenate(t, Tup((part(line, 0, ZERO, start), more, part(line, 0, start, rest))))


@lowers(np.repeat, method="repeat")
def repeat(t: Translator, a: Value, repeats: Value, axis: Value | None = None) -> Value:
    """Each element several times in a row."""
    array = t.array(a)
    if axis is None and array.rank != 1:
        array = t.array(FUNCTIONS[np.ravel](t, array))
    place = 0 if axis is None else t.python(axis) % array.rank
    counts = t.array(repeats) if isinstance(repeats, Array | Tup) else None
    if counts is not None and counts.rank and array.rank == 1:
        return _repeated_each(t, array, counts)
    return _repeated(t, array, place, t.integer(repeats), inner=True)


def _repeated_each(t: Translator, line: Array, counts: Array) -> Array:
    """Each number as many times as another line says; how many that are, only the loops know."""
    code = t.code
    if not code.same(line.shape[0], counts.shape[0]):
        raise code.fail("repeat with more or fewer counts than elements")
    room = code.room(1)
    buffer = code.temporary((room,), line.dtype)
    line = line if line.view is not None else t.stored(line)
    number, total = code.fresh("n_"), code.fresh("n_")
    for name in (number, total):
        code.emit(f"{name} = 0")
    with code.loop(ZERO, line.shape[0]) as i:
        times = t.integer(code.let(counts.element((i,))))
        with code.loop(ZERO, times, hint="k"), code.indented(f"if {number} < {room.text}:"):
            for text in nests.put(buffer, (Int.atom(number),), line.element((i,)), line.dtype):
                code.emit(text)
            code.emit(f"{number} = {number} + 1")
        code.emit(f"{total} = {total} + {times.text}")
        code.suppose(f"{times.text} >= 0")
    code.suppose(f"{total} == {number}")
    code.facts.ranges[number] = (ZERO, room)
    return whole(buffer, (Int.atom(number),))


@lowers(np.tile)
def tile(t: Translator, A: Value, reps: Value) -> Value:
    """The whole array several times."""
    array = t.array(A)
    counts = [t.integer(r) for r in (reps.items if isinstance(reps, Tup) else (reps,))]
    array = _raised(t, array, len(counts), False)
    counts = [ONE] * (array.rank - len(counts)) + counts
    for axis, count in enumerate(counts):
        if count != ONE:
            array = _repeated(t, array, axis, count, inner=False)
    return array


def _repeated(t: Translator, array: Array, axis: int, count: Int, inner: bool) -> Array:
    code, size = t.code, array.shape[axis]
    shape = tuple(s * count if n == axis else s for n, s in enumerate(array.shape))
    result = whole(code.temporary(shape, array.dtype), shape)
    split = (
        *array.shape[:axis],
        *((size, count) if inner else (count, size)),
        *array.shape[axis + 1 :],
    )
    dims = []
    for n in range(array.rank):
        if n < axis:
            dims.append((ZERO, ((n, ONE),)))
        elif n > axis:
            dims.append((ZERO, ((n + 1, ONE),)))
        else:
            dims.append((ZERO, ((n, count if inner else size), (n + 1, ONE))))
    source = []
    for n in range(array.rank):
        own = n if n < axis else n + 1 if n > axis else (axis if inner else axis + 1)
        source.append((ZERO, ((own, ONE),)))
    nests.assign(
        code, looked_at(result, split, tuple(dims)), looked_at(array, split, tuple(source))
    )
    return result


@lowers(np.pad)
def pad(
    t: Translator,
    array: Value,
    pad_width: Value,
    mode: Value | None = None,
    constant_values: Value | None = None,
) -> Value:
    """An array with a margin: a constant, the edge, a reflection, or round about."""
    code, inner = t.code, t.array(array)
    widths = t.python(pad_width)
    if isinstance(widths, int):
        widths = ((widths, widths),) * inner.rank
    elif isinstance(widths[0], int):
        widths = (tuple(widths) if len(widths) == 2 else (widths[0], widths[0]),) * inner.rank
    elif len(widths) == 1:
        widths = tuple(widths) * inner.rank
    kind = "constant" if mode is None else t.python(mode)
    if inner.view is None:
        inner = t.stored(inner)
    shape = tuple(s + (lo + hi) for s, (lo, hi) in zip(inner.shape, widths, strict=True))
    result = whole(code.temporary(shape, inner.dtype), shape)
    middle = result
    for axis, (low, _) in enumerate(widths):
        middle = part(middle, axis, Int.of(low), inner.shape[axis])
    if kind == "constant":
        number = arith.constant(0) if constant_values is None else t.number(constant_values)
        nests.assign(code, result, filled(shape, inner.dtype, code.let(number)))
        nests.assign(code, middle, inner)
        return result
    nests.assign(code, middle, inner)
    for axis, (low, high) in enumerate(widths):
        size = inner.shape[axis]
        # Axes before this one are filled already, those behind it only in the middle.
        rows = result
        for other in range(axis + 1, inner.rank):
            rows = part(rows, other, Int.of(widths[other][0]), inner.shape[other])
        for count, start in ((low, ZERO), (high, size + low)):
            if not count:
                continue
            target = part(rows, axis, start, Int.of(count))
            front = start == ZERO
            if kind == "edge":
                source = part(rows, axis, Int.of(low) if front else size + (low - 1), ONE)
                source = nests.fit(code, source, target.shape)
            elif kind == "wrap":
                source = part(rows, axis, size if front else Int.of(low), Int.of(count))
            elif kind in ("reflect", "symmetric"):
                skip = 1 if kind == "reflect" else 0
                first = Int.of(low + skip) if front else size + (low - skip - count)
                source = part(rows, axis, first, Int.of(count))
                back = Slice(None, None, arith.constant(-1))
                source = t.array(
                    load_at(t, source, [back if n == axis else FULL for n in range(inner.rank)])
                )
            else:
                raise code.fail(f"pad with mode {kind!r}")
            if kind != "edge" and not code.facts.nonnegative(size - count - 1):
                raise code.fail("a margin as wide as the array")
            nests.assign(code, target, source)
    return result


__all__ = ["Index", "Scalar", "bare", "concatenate", "from_nested", "part", "stack"]
