"""Numbers in order: sort, argsort.

Before::

    y = np.sort(x)

After: what is no number goes behind the others, which are merged, run by run (`merging`). Lines
that are passed are sorted by NumPy, in front of the loops (`loopbook.frontend.beforehand`).

Equal numbers stay in their order, as NumPy's stable sort has them. Its usual sort leaves their
order open: where places are asked for, equal numbers are supposed not to be there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.beforehand import by_numpy, given_as
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.finite import isnan
from loopbook.frontend.constructs.merging import Room, merge
from loopbook.frontend.constructs.networks import few, in_order
from loopbook.frontend.constructs.reductions import flag
from loopbook.frontend.indexing import FULL, load_at, store_at
from loopbook.frontend.list_parts import sort as sort_list
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import INT
from loopbook.frontend.unpacking import unpacked
from loopbook.frontend.values import (
    Array,
    Buffer,
    Listing,
    Scalar,
    Thing,
    Tup,
    Value,
    held,
    whole,
)


@dataclass(frozen=True)
class Line:
    """A line of numbers, in order where nothing else is said.

    Attributes:
        numbers: where they are.
        places: where each was before; None if nobody asked.
        size: how many there are.
        known: how many are numbers: they are the first ones.
    """

    numbers: Buffer
    places: Buffer | None
    size: Int
    known: Int

    def at(self, place: Int) -> Scalar:
        return held(self.numbers, (place,), self.numbers.dtype)

    def place(self, place: Int) -> Scalar:
        assert self.places is not None
        return held(self.places, (place,), INT)


def _ordered(t: Translator, element: Callable[[Int], Scalar], size: Int, room: Room) -> Line:
    """Sort a line into `room`."""
    code = t.code
    numbers, places = room.numbers[0], room.places[0] if room.places else None
    known = _moved(code, element, size, numbers, places)
    merge(code, room, size, known)
    return Line(numbers, places, size, known)


def _moved(
    code: Code,
    element: Callable[[Int], Scalar],
    size: Int,
    numbers: Buffer,
    places: Buffer | None,
) -> Int:
    """A copy of a line, what is no number last; gives how many numbers there are."""
    if numbers.dtype.kind == "f":
        return _numbers_first(code, element, size, numbers, places)
    if size.constant == 1:
        _put(code, numbers, places, ZERO, element(ZERO), ZERO)
        return size
    with code.loop(ZERO, size) as i:
        _put(code, numbers, places, i, element(i), i)
    return size


def _put(
    code: Code, numbers: Buffer, places: Buffer | None, at: Int, value: Scalar, place: Int
) -> None:
    for line in nests.put(numbers, (at,), value, numbers.dtype):
        code.emit(line)
    if places is not None:
        code.emit(f"{places.name}[{at.text}] = {place.text}")


def _numbers_first(
    code: Code,
    element: Callable[[Int], Scalar],
    size: Int,
    numbers: Buffer,
    places: Buffer | None,
) -> Int:
    """The numbers of a line, and behind them what is none; gives how many numbers there are."""
    count, rest = code.fresh("n_"), code.fresh("n_")
    if size.constant == 1:  # it is in its place in any case
        value = code.let(element(ZERO), "x")
        _put(code, numbers, places, ZERO, value, ZERO)
        code.emit(f"{count} = 1")
        with code.indented(f"if {bare(isnan(code, value).text)}:"):
            code.emit(f"{count} = 0")
        code.facts.ranges[count] = (ZERO, size)
        return Int.atom(count)
    code.emit(f"{count} = 0")
    with code.loop(ZERO, size) as i:
        value = code.let(element(i), "x")
        with code.indented(f"if not {isnan(code, value).text}:"):
            _put(code, numbers, places, Int.atom(count), value, i)
            code.emit(f"{count} = {count} + 1")
    with code.indented(f"if {count} < {size.text}:"):
        code.emit(f"{rest} = {count}")
        with code.loop(ZERO, size) as i:
            value = code.let(element(i), "x")
            with code.indented(f"if {bare(isnan(code, value).text)}:"):
                _put(code, numbers, places, Int.atom(rest), value, i)
                code.emit(f"{rest} = {rest} + 1")
    code.facts.ranges[count] = (ZERO, size)
    return Int.atom(count)


def _suppose_different(code: Code, line: Line) -> None:
    """Nothing twice in a line that is in order."""
    code.suppose(f"{line.known.text} >= {(line.size - 1).text}")
    with code.loop(ONE, line.known) as i:
        one, other = line.at(i - 1).text, line.at(i).text
        code.suppose(f"{one} != {other}")


# -- lines of an array ---------------------------------------------------------------------------


def operand(t: Translator, a: Value, axis: Value | None, flat: bool) -> tuple[Array, int]:
    """An array in memory, and its axis to sort along; all in a row if `axis` is None, or `flat`
    and not given."""
    array = t.array(a)
    if array.dtype.kind not in "iuf" or not array.rank:
        raise t.code.fail(f"sorting {array.dtype}, or what is no array")
    none = (axis is None and flat) or (isinstance(axis, Thing) and axis.value is None)
    if none and array.rank != 1:
        array = t.array(FUNCTIONS[np.ravel](t, array))
    if array.view is None:
        array = t.stored(array)
    return array, 0 if none else -1 % array.rank if axis is None else t.python(axis) % array.rank


def each_line(
    t: Translator, array: Array, axis: int, places: bool, use: Callable[[Line, list[Int]], None]
) -> None:
    """Sort the lines along an axis, one after the other; `use` writes what is done with each, given
    the other indices (the one along the axis is nought)."""
    room = Room.of(t.code, array.shape[axis], array.dtype, places)
    each_element(t, array, axis, lambda at, own: use(_ordered(t, at, array.shape[axis], room), own))


def each_copy(
    t: Translator, array: Array, axis: int, use: Callable[[Line, list[Int]], None]
) -> None:
    """The same with lines as they come, but that what is no number is behind the others."""
    code, size = t.code, array.shape[axis]
    numbers = code.temporary((size,), array.dtype)

    def copied(element: Callable[[Int], Scalar], own: list[Int]) -> None:
        use(Line(numbers, None, size, _moved(code, element, size, numbers, None)), own)

    each_element(t, array, axis, copied)


def each_element(
    t: Translator,
    array: Array,
    axis: int,
    use: Callable[[Callable[[Int], Scalar], list[Int]], None],
) -> None:
    """The same, where `use` is given the elements of a line as they are."""
    code = t.code
    if any(map(code.is_empty, array.shape)):
        raise code.fail("sorting nothing")
    own = [ZERO] * array.rank
    with ExitStack() as stack:
        for n, size in enumerate(array.shape):
            if n != axis:
                own[n] = stack.enter_context(code.loop(ZERO, size))

        def element(i: Int) -> Scalar:
            return array.element(tuple(i if n == axis else own[n] for n in range(array.rank)))

        use(element, own)


def _store_line(
    code: Code, into: Array, axis: int, own: list[Int], element: Callable[[Int], Scalar]
) -> None:
    """Write elements along an axis, given the other indices."""
    with code.loop(ZERO, into.shape[axis]) as i:
        target = tuple(i if n == axis else own[n] for n in range(into.rank))
        for text in nests.stores(into, target, element(i)):
            code.emit(text)


def _is_stable(t: Translator, kind: Value | None, stable: Value | None) -> bool:
    chosen = None if kind is None else t.python(kind)
    return chosen in ("stable", "mergesort") or flag(t, stable)


@lowers(np.sort)
def sort(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    kind: Value | None = None,
    order: Value | None = None,
    *,
    stable: Value | None = None,
) -> Value:
    """A copy, in order along an axis."""
    array, place = operand(t, a, axis, False)
    count = few(t.code, array.shape[place]) if array.rank > 1 else 0
    if not count and (given := given_as(t, array)) is not None:
        return by_numpy(t, array.shape, array.dtype, f"np.sort({given}, {place})")
    result = whole(t.code.temporary(array.shape, array.dtype), array.shape)

    def use(line: Line, own: list[Int]) -> None:
        _store_line(t.code, result, place, own, line.at)

    def short(element: Callable[[Int], Scalar], own: list[Int]) -> None:
        ordered = in_order(t.code, [element(Int.of(k)) for k in range(count)])
        for k, value in enumerate(ordered):
            target = tuple(Int.of(k) if n == place else i for n, i in enumerate(own))
            for text in nests.stores(result, target, value):
                t.code.emit(text)

    if count:
        each_element(t, array, place, short)
    else:
        each_line(t, array, place, False, use)
    return result


@lowers(method="sort")
def sort_in_place(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    kind: Value | None = None,
    *,
    reverse: Value | None = None,
) -> Value:
    """``x.sort()``, of an array or a list."""
    if isinstance(a, Listing) and axis is None and kind is None:
        sort_list(t, a, reverse)
        return Thing(None)
    if not isinstance(a, Array) or a.view is None or reverse is not None:
        raise t.code.fail("sorting what is no array in memory in place")
    store_at(t, a, [FULL] * a.rank, sort(t, a, axis))
    return Thing(None)


@lowers(np.argsort, method="argsort")
def argsort(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    kind: Value | None = None,
    order: Value | None = None,
    *,
    stable: Value | None = None,
) -> Value:
    """The places of the numbers in order."""
    array, place = operand(t, a, axis, False)
    fixed = _is_stable(t, kind, stable)
    if (given := given_as(t, array)) is not None:
        told = ", kind='stable'" if fixed else ""
        return by_numpy(t, array.shape, INT, f"np.argsort({given}, {place}{told})")
    result = whole(t.code.temporary(array.shape, INT), array.shape)

    def use(line: Line, own: list[Int]) -> None:
        if not fixed:
            _suppose_different(t.code, line)
        _store_line(t.code, result, place, own, line.place)

    each_line(t, array, place, True, use)
    return result


@lowers(np.lexsort)
def lexsort(t: Translator, keys: Value) -> Value:
    """The places of rows in order of the last key, where that is equal of the one before it…"""
    if isinstance(keys, Array) and keys.rank == 2 and keys.shape[0].constant is not None:
        keys = Tup(unpacked(t, keys, int(keys.shape[0].constant)))
    if not isinstance(keys, Tup) or not keys.items:
        raise t.code.fail("lexsort of what is no tuple of lines")
    lines = [t.array(key) for key in keys.items]
    if any(line.rank != 1 for line in lines):
        raise t.code.fail("lexsort of what is no tuple of lines")
    names = [given_as(t, line) for line in lines]
    if len(lines) > 1 and None not in names:
        return by_numpy(t, lines[0].shape, INT, f"np.lexsort(({', '.join(map(str, names))}))")
    order: Value | None = None
    for line in lines:
        given = line if order is None else load_at(t, line, [order])
        places = argsort(t, given, stable=arith.constant(True))
        order = places if order is None else t.stored(t.array(load_at(t, t.array(order), [places])))
    assert order is not None
    return order
