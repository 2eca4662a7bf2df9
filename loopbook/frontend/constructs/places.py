"""Places of extreme elements: argmin and argmax.

Before::

    i = np.argmax(x)

After::

    best_0 = ...                                     # the greatest one
    block_0 = (n + 255) // 256 - 1                   # the last one, if it is in none before
    for b0 in range(block_0):
        for k0 in range(256 * b0, 256 * b0 + 256):
            if x[k0] == best_0: count_0 = count_0 + 1        # in vectors
        if count_0 > 0: block_0 = b0; break
    place_0 = n
    for k1 in ...:                                   # in that block, in vectors
        at_0 = n
        if x[k1] == best_0: at_0 = k1
        place_0 = min(place_0, at_0)

and of few elements::

    for k0 in range(n):
        if not x[k0] <= best_0:              # greater, or no number
            if math.fabs(best_0) >= 0.0:     # a number
                best_0 = x[k0]; place_0 = k0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np

from loopbook.frontend import arith, choices
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.folding import in_rows, rows
from loopbook.frontend.constructs.reductions import extreme_of, suppose_some
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import INT
from loopbook.frontend.values import Array, Index, Scalar, Thing, Value, subscript, whole


def _is_better(dtype: np.dtype, symbol: str, element: str, best: str) -> list[str]:
    """What has to be true, one after the other: the first element that is no number stays."""
    if dtype.kind == "b":
        return [f"int({element}) {symbol} int({best})"]
    if dtype.kind != "f":
        return [f"{element} {symbol} {best}"]
    return [f"not {element} {'<=' if symbol == '>' else '>='} {best}", f"math.fabs({best}) >= 0.0"]


def _place_in_rows(t: Translator, array: Array, axis: int, symbol: str, target: Array) -> None:
    """The places along an axis that is not along memory, a row at a time.

    Before: ``np.argmax(x, axis=0)``. After::

        for i0 ...: best[i0] = x[0, i0]; place[i0] = 0
        for k0 ...:
            for i0 ...:
                b = best[i0]; p = place[i0]
                if not x[k0, i0] <= b: ...; b = x[k0, i0]; p = k0
                best[i0] = b; place[i0] = p

    No store depends on what is found, so that these are vectors.
    """
    code = t.code
    assert target.view is not None
    stores = code.temporary(target.shape, array.dtype), target.view.buffer

    def begin(own: Index, first: Index) -> None:
        code.emit(f"{subscript(stores[0], own)} = {bare(array.element(first).text)}")
        code.emit(f"{subscript(stores[1], own)} = 0")

    with rows(code, array, axis, begin) as (own, full):
        element = code.let(array.element(full), "x")
        names = code.fresh("best_"), code.fresh("place_")
        for name, store in zip(names, stores, strict=True):
            code.emit(f"{name} = {subscript(store, own)}")
        with ExitStack() as inner:
            for test in _is_better(array.dtype, symbol, element.text, names[0]):
                inner.enter_context(code.indented(f"if {test}:"))
            code.emit(f"{names[0]} = {element.text}")
            code.emit(f"{names[1]} = {full[axis].text}")
        for name, store in zip(names, stores, strict=True):
            code.emit(f"{subscript(store, own)} = {name}")


FEW = 16
"""Elements that are gone through once: one at a time, they may all have to wait for each other."""


def _are_few(array: Array, axes: Sequence[int]) -> bool:
    count = 1
    for axis in axes:
        size = array.shape[axis].constant
        if size is None:
            return False
        count *= int(size)
    return count <= FEW


def _in_turn(
    code: Code,
    array: Array,
    axes: Sequence[int],
    full: list[Int],
    symbol: str,
    names: tuple[str, str],
) -> None:
    """The best element so far and its place, element by element."""
    number = ZERO
    with ExitStack() as inner:
        for x in axes:
            full[x] = inner.enter_context(code.loop(ZERO, array.shape[x], hint="k"))
            number = number * array.shape[x] + full[x]
        element = code.let(array.element(tuple(full)), "x")
        for test in _is_better(array.dtype, symbol, element.text, names[0]):
            inner.enter_context(code.indented(f"if {test}:"))
        code.emit(f"{names[0]} = {element.text}")
        code.emit(f"{names[1]} = {number.text}")


BLOCK = 256
"""Neighbours whose best one is found in vectors, before it is asked which of them it is."""


def _first(
    code: Code, array: Array, axes: Sequence[int], full: list[Int], best: str, place: str
) -> None:
    """Where the first element is that is as good as the best one: the block in which there is one,
    and then its place there."""
    last, size = axes[-1], array.shape[axes[-1]]
    where = [code.fresh("row_") for _ in axes[:-1]] + [code.fresh("block_")]
    parts = _whole(arith.binary(code, "//", arith.whole(size + (BLOCK - 1)), arith.constant(BLOCK)))
    count = code.fresh("count_")
    for name in (*where[:-1], count):
        code.emit(f"{name} = 0")
    # In one row, what is in no other block is in the last one.
    searched = parts if len(axes) > 1 else parts - 1
    code.emit(f"{where[-1]} = {(parts - 1).text}")

    def is_it(own: Sequence[Int]) -> str:
        element = code.let(array.element(tuple(own)), "x").text
        test = f"{element} == {best}"
        # If the best one is no number, the first such is meant.
        return test if array.dtype.kind != "f" else f"{test} or not math.fabs({element}) >= 0.0"

    with ExitStack() as stack:
        for x in axes[:-1]:
            full[x] = stack.enter_context(code.loop(ZERO, array.shape[x], hint="k"))
            stack.callback(_leave, code, count)
        block = stack.enter_context(code.loop(ZERO, searched, hint="b"))
        with _within(code, block, size) as full[last], code.indented(f"if {is_it(full)}:"):
            code.emit(f"{count} = {count} + 1")
        with code.indented(f"if {count} > 0:"):
            for name, index in zip(where, (*(full[x] for x in axes[:-1]), block), strict=True):
                code.emit(f"{name} = {index.text}")
            code.emit("break")
    for x, name in zip(axes[:-1], where[:-1], strict=True):
        full[x] = Int.atom(name)
        code.facts.ranges[name] = (ZERO, array.shape[x] - 1)
    code.facts.ranges[where[-1]] = (ZERO, parts - 1)
    found, here = code.fresh("found_"), code.fresh("at_")
    code.emit(f"{found} = {size.text}")
    with _within(code, Int.atom(where[-1]), size) as full[last]:
        code.emit(f"{here} = {size.text}")
        with code.indented(f"if {is_it(full)}:"):
            code.emit(f"{here} = {full[last].text}")
        code.emit(f"{found} = min({found}, {here})")
    full[last] = Int.atom(found)
    number = ZERO
    for x in axes:
        number = number * array.shape[x] + full[x]
    code.emit(f"{place} = {number.text}")


def _leave(code: Code, count: str) -> None:
    with code.indented(f"if {count} > 0:"):
        code.emit("break")


def _whole(value: Scalar) -> Int:
    return value.whole if value.whole is not None else Int.atom(value.text)


@contextmanager
def _within(code: Code, block: Int, size: Int) -> Iterator[Int]:
    """A loop over the indices of a block."""
    end = code.fresh("end_")
    code.emit(f"{end} = min({(block * BLOCK + BLOCK).text}, {size.text})")
    with code.loop(block * BLOCK, Int.atom(end), hint="k") as k:
        code.facts.ranges[k.text] = (block * BLOCK, size - 1)
        yield k


def _place(symbol: str) -> Callable[..., Value]:
    """``argmin`` and ``argmax``: the first of the extreme elements."""

    def lowering(t: Translator, a: Value, axis: Value | None = None) -> Value:
        code, array = t.code, t.array(a)
        chosen = None if axis is None or isinstance(axis, Thing) else t.python(axis) % array.rank
        if array.cost > 1:
            array = t.stored(array)
        own_axes = [x for x in range(array.rank) if chosen is not None and x != chosen]
        axes = [x for x in range(array.rank) if x not in own_axes]
        shape = tuple(array.shape[x] for x in own_axes)
        target = code.temporary(shape, INT) if shape else None
        if target is not None and in_rows(array, axes[0]):
            _place_in_rows(t, array, axes[0], symbol, whole(target, shape))
            return whole(target, shape)
        suppose_some(t, array, axes, or_leave=True)  # of none, places are outside
        many = array.dtype.kind != "b" and not _are_few(array, axes)
        best, place = code.fresh("best_"), code.fresh("place_")
        if target is None and many:
            found = code.let(t.number(extreme_of(symbol)(t, array)), "best")
            _first(code, array, axes, [ZERO] * array.rank, found.text, place)
            return Scalar(place, INT, whole=Int.atom(place))
        with ExitStack() as stack:
            full: list[Int] = [ZERO] * array.rank
            own = [stack.enter_context(code.loop(ZERO, size)) for size in shape]
            for x, index in zip(own_axes, own, strict=True):
                full[x] = index
            code.emit(f"{best} = {bare(array.element(tuple(full)).text)}")
            if many:
                with code.loop(ZERO, array.shape[axes[0]], hint="k") as full[axes[0]]:
                    held = Scalar(best, array.dtype)
                    made = choices.extreme(code, symbol, held, array.element(tuple(full)))
                    code.emit(f"{best} = {bare(made.text)}")
                _first(code, array, axes, full, best, place)
            else:
                code.emit(f"{place} = 0")
                _in_turn(code, array, axes, full, symbol, (best, place))
            if target is not None:
                code.emit(f"{subscript(target, tuple(own))} = {place}")
        if target is not None:
            return whole(target, shape)
        return Scalar(place, INT, whole=Int.atom(place))

    return lowering


lowers(np.argmax, method="argmax")(_place(">"))
lowers(np.argmin, method="argmin")(_place("<"))
