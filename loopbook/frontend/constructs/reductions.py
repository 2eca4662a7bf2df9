"""Reductions over all elements or some axes.

Before::

    s = np.sum(A, axis=0)                    m = x.max()

After::

    for i0 ...: s[i0] = 0.0                  best_0 = x[0]
    for k0 ...:                              for i0 in range(n):
        for i0 ...: s[i0] += A[k0, i0]           if x[i0] > best_0: ...
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, nests, types
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.elementwise import cast, into
from loopbook.frontend.operators import lift, operate
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import BOOL, FLOAT, INT
from loopbook.frontend.values import (
    Array,
    Index,
    Scalar,
    Sum,
    Value,
    looked_at,
    subscript,
    whole,
)


def axes_of(t: Translator, axis: Value | None, rank: int) -> tuple[int, ...]:
    """The axes that an ``axis`` argument names."""
    chosen = None if axis is None else t.python(axis)
    if chosen is None:
        return tuple(range(rank))
    axes = (chosen,) if isinstance(chosen, int) else chosen
    if any(not -rank <= a < rank for a in axes):
        raise t.code.fail(f"axis {chosen} of an array of rank {rank}")
    return tuple(sorted(a % rank for a in axes))


def flag(t: Translator, value: Value | None) -> bool:
    return value is not None and bool(t.python(value))


def _operand(t: Translator, a: Value) -> Array:
    """The array to reduce; a mask stays, for those who can do with it."""
    if isinstance(a, Array) and a.mask is not None:
        return a
    return t.array(a)


def keep(t: Translator, value: Value, rank: int, axes: tuple[int, ...], keepdims: bool) -> Value:
    """The result with the reduced axes as ones, if that is asked for."""
    if not keepdims:
        return value
    array = t.array(value) if not (isinstance(value, Array) and value.sums) else value
    shape: list[Int] = []
    own = 0
    places = []
    for axis in range(rank):
        if axis in axes:
            shape.append(ONE)
        else:
            shape.append(array.shape[own])
            places.append(axis)
            own += 1
    if array.sums:
        parts = tuple(
            replace(p, at=lambda i, k, at=p.at: at(tuple(i[x] for x in places), k))
            for p in array.sums
        )
        return replace(array, shape=tuple(shape), sums=parts)
    return looked_at(array, tuple(shape), tuple((ZERO, ((axis, ONE),)) for axis in places))


def total_of(t: Translator, a: Array, axes: tuple[int, ...], dtype: np.dtype) -> Array:
    """The sum of an array over axes, not computed yet."""
    own_axes = [axis for axis in range(a.rank) if axis not in axes]
    mask = a.mask

    def at(own: Index, summed: Index) -> Scalar:
        full: list[Int] = [ZERO] * a.rank
        for axis, index in zip(own_axes, own, strict=True):
            full[axis] = index
        for axis, index in zip(axes, summed, strict=True):
            full[axis] = index
        element = a.element(tuple(full))
        if element.dtype.kind == "b":
            element = Scalar(f"int({bare(element.text)})", INT)
        if element.dtype.kind == "i" and dtype == INT:
            element = arith.word(element)
        if mask is not None:
            nought = arith.constant(element.dtype.type(0))
            element = arith.select(t.code, mask.element(tuple(full)), element, nought)
        return element

    part = Sum(tuple(a.shape[axis] for axis in axes), at, a.buffers, a.cost)
    return Array(tuple(a.shape[x] for x in own_axes), dtype, None, None, (part,), a.buffers, a.cost)


@lowers(np.sum, method="sum")
def sum_(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    dtype: Value | None = None,
    out: Value | None = None,
    keepdims: Value | None = None,
    initial: Value | None = None,
    where: Value | None = None,
) -> Value:
    if where is not None:
        a = FUNCTIONS[np.where](t, where, t.array(a), arith.constant(0))
    array = _operand(t, a)
    axes = axes_of(t, axis, array.rank)
    target = types.summed(array.dtype) if dtype is None else np.dtype(t.python(dtype))
    if not array.rank:
        return cast(t, array.element(()), target)
    if dtype is not None and target != array.dtype:
        array = t.array(cast(t, array, target))
    if target not in types.SUPPORTED and target != types.summed(array.dtype):
        raise t.code.fail(f"sums of {array.dtype}; convert to int64 first")
    result = keep(t, total_of(t, array, axes, target), array.rank, axes, flag(t, keepdims))
    if initial is not None:
        result = operate(t, ast.Add, result, cast(t, initial, target))
    return into(t, out, result) if out is not None else result


def count_of(t: Translator, array: Array, axes: tuple[int, ...]) -> Scalar:
    """How many elements a reduction takes together."""
    if array.mask is not None:
        number = t.number(total_of(t, replace(array.mask), axes, INT))
        return t.code.let(number)
    count = ONE
    for axis in axes:
        count = count * array.shape[axis]
    return arith.whole(count)


@lowers(np.mean, method="mean")
def mean(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    dtype: Value | None = None,
    out: Value | None = None,
    keepdims: Value | None = None,
) -> Value:
    array = _operand(t, a)
    axes = axes_of(t, axis, array.rank)
    kind = (
        np.dtype(t.python(dtype))
        if dtype is not None
        else (array.dtype if array.dtype.kind in "fc" else FLOAT)
    )
    if array.mask is None and array.cost > 4:
        array = t.stored(array)
    if array.mask is not None and len(axes) == array.rank and kind.kind == "f":
        summed, count = _chosen_ones(t, array, kind)
    else:
        summed = nests.force(t.code, total_of(t, array, axes, kind))
        count = count_of(t, array, axes)
    if isinstance(summed, Array) and summed.dtype.kind not in "fc":
        summed = t.array(cast(t, summed, FLOAT))
    result = operate(t, ast.Div, summed, count)
    result = keep(t, cast(t, result, kind), array.rank, axes, flag(t, keepdims))
    return into(t, out, result) if out is not None else result


def _chosen_ones(t: Translator, array: Array, dtype: np.dtype) -> tuple[Scalar, Scalar]:
    """The sum of the elements that a mask lets through and how many they are, found together: the
    elements and what the mask is made of are read once, and nothing is copied."""
    code, mask = t.code, array.mask
    assert mask is not None
    total, count = code.fresh("sum_"), code.fresh("n_")
    code.emit(f"{total} = {types.zero(dtype)}")
    code.emit(f"{count} = 0")
    with ExitStack() as stack:
        own = tuple(stack.enter_context(code.loop(ZERO, size, hint="k")) for size in array.shape)
        element = arith.convert(code, array.element(own), dtype)
        test = mask.element(own)
        added = arith.select(code, test, element, arith.constant(dtype.type(0)))
        code.emit(f"{total} = {total} + {added.text}")
        one = arith.select(code, test, arith.constant(1), arith.constant(0))
        code.emit(f"{count} = {count} + {one.text}")
    return Scalar(total, dtype), Scalar(count, INT, whole=Int.atom(count))


LANES = 8
"""Extremes of neighbouring elements that are kept apart: two vectors of doubles with AVX2, one with
AVX-512. Compilers do so with sums, but not with extremes of numbers that may be no number."""


def fold(
    t: Translator,
    a: Array,
    axes: tuple[int, ...],
    start: Callable[[Index], str | None],
    step: Callable[[Scalar, Scalar], Scalar],
    dtype: np.dtype,
    keepdims: bool,
    skip_first: bool,
) -> Value:
    """A reduction by a binary form.

    Args:
        start: text of the first value, for the indices of the first element.
        step: makes the next value of the value so far and an element.
        skip_first: the first element is the first value (it is met again, which changes nothing).
            The elements may be taken in any order then.

    A nest of its own has recipes for columns, which stay in registers; in loops of the function
    none is known, and a row at a time is better than a column.
    """
    code = t.code
    own_axes = [axis for axis in range(a.rank) if axis not in axes]
    shape = tuple(a.shape[axis] for axis in own_axes)
    target = whole(code.temporary(shape, dtype), shape) if shape else None
    if target is not None and code.depth and len(axes) == 1 and in_rows(a, axes[0]):
        _fold_rows(t, a, axes[0], target, start, step)
        return keep(t, target, a.rank, axes, keepdims)
    variable = code.fresh("best_")
    with ExitStack() as stack:
        own = [stack.enter_context(code.loop(ZERO, size)) for size in shape]
        full: list[Int] = [ZERO] * a.rank
        for axis, index in zip(own_axes, own, strict=True):
            full[axis] = index
        code.emit(f"{variable} = {start(tuple(full))}")
        with ExitStack() as inner:
            for axis in axes[:-1]:
                full[axis] = inner.enter_context(code.loop(ZERO, a.shape[axis], hint="k"))
            begin = ZERO
            if skip_first and dtype.kind == "f":
                begin = _in_lanes(t, a, full, axes[-1], Scalar(variable, dtype), step)
            if begin != a.shape[axes[-1]]:
                k = inner.enter_context(code.loop(begin, a.shape[axes[-1]], hint="k"))
                full[axes[-1]] = k
                element = code.let(a.element(tuple(full)))
                text = bare(step(Scalar(variable, dtype), element).text)
                code.emit(f"{variable} = {text}")
        if target is not None and target.view is not None:
            code.emit(f"{subscript(target.view.buffer, tuple(own))} = {variable}")
    if target is None:
        known = Int.atom(variable) if dtype.kind in "iu" else None
        return keep(t, Scalar(variable, dtype, whole=known), a.rank, axes, keepdims)
    return keep(t, target, a.rank, axes, keepdims)


def _fold_rows(
    t: Translator,
    a: Array,
    axis: int,
    target: Array,
    start: Callable[[Index], str | None],
    step: Callable[[Scalar, Scalar], Scalar],
) -> None:
    """`fold` along an axis that is not along memory, a row at a time."""
    code, view = t.code, target.view
    assert view is not None

    def begin(own: Index, first: Index) -> None:
        code.emit(f"{subscript(view.buffer, own)} = {start(first)}")

    with rows(code, a, axis, begin) as (own, full):
        best = code.let(target.element(own), "best")
        found = step(best, code.let(a.element(full)))
        code.emit(f"{subscript(view.buffer, own)} = {bare(found.text)}")


def in_rows(a: Array, axis: int) -> bool:
    """Whether an array is to be gone through along `axis` a row at a time: what is in a row lies
    beside each other, and is more than a few."""
    last = a.rank - 1
    if last == axis or a.shape[last].constant is not None:
        return False
    return a.view is None or _in_a_row(a, [Int.atom(f"i{x}") for x in range(a.rank)], last)


@contextmanager
def rows(
    code: Code, a: Array, axis: int, begin: Callable[[Index, Index], None]
) -> Iterator[tuple[Index, Index]]:
    """Loops over an array along memory, for something that is reduced along another axis.

    Args:
        begin: writes what is done first for each result, given its index and the first element's.

    Yields:
        The index of the result, and that of the element.
    """
    full: list[Int] = [ZERO] * a.rank

    def loop(stack: ExitStack, x: int, hint: str = "i") -> None:
        full[x] = stack.enter_context(code.loop(ZERO, a.shape[x], hint=hint))

    def own() -> Index:
        return tuple(index for x, index in enumerate(full) if x != axis)

    with ExitStack() as stack:
        for x in range(axis):
            loop(stack, x)
        with ExitStack() as first:
            for x in range(axis + 1, a.rank):
                loop(first, x)
            begin(own(), tuple(full))
        loop(stack, axis, "k")
        for x in range(axis + 1, a.rank):
            loop(stack, x)
        yield own(), tuple(full)


def _in_lanes(
    t: Translator,
    a: Array,
    full: list[Int],
    axis: int,
    best: Scalar,
    step: Callable[[Scalar, Scalar], Scalar],
) -> Int:
    """Take most of an axis into `best`, `LANES` neighbours at a time.

    Returns:
        How many elements were taken: none of an axis that is short, or not along memory.
    """
    code, size = t.code, a.shape[axis]
    if (code.facts.known(size) or 0) < 2 * LANES or not _in_a_row(a, full, axis):
        return ZERO
    count = code.facts.derive(f"({size.text}) // {LANES}", [size], lambda n: n // LANES)
    lanes = [best, *(Scalar(code.fresh("best_"), best.dtype) for _ in range(1, LANES))]
    for lane in lanes[1:]:
        code.emit(f"{lane.text} = {best.text}")
    with code.loop(ZERO, count, hint="k") as k:
        for place, lane in enumerate(lanes):
            index = tuple(k * LANES + place if x == axis else i for x, i in enumerate(full))
            element = code.let(a.element(index))
            code.emit(f"{lane.text} = {bare(step(lane, element).text)}")
    half = LANES // 2
    while half:
        for one, other in zip(lanes[:half], lanes[half : 2 * half], strict=True):
            code.emit(f"{one.text} = {bare(step(one, other).text)}")
        half //= 2
    return count * LANES


def _in_a_row(a: Array, full: list[Int], axis: int) -> bool:
    """Whether neighbours along an axis are neighbours in memory."""
    if a.view is None:
        return False
    probe = Int.atom("k")
    index = a.view.index(tuple(probe if x == axis else i for x, i in enumerate(full)))
    *others, last = index
    return not any("k" in i.atoms for i in others) and "k" not in (last - probe).atoms


def extreme_of(symbol: str) -> Callable[..., Value]:
    def lowering(
        t: Translator,
        a: Value,
        axis: Value | None = None,
        out: Value | None = None,
        keepdims: Value | None = None,
        initial: Value | None = None,
        where: Value | None = None,
    ) -> Value:
        first = None if initial is None else t.number(initial)
        if where is not None:
            if first is None:
                raise t.code.fail("the extreme of some elements without an initial one")
            a = FUNCTIONS[np.where](t, where, t.array(a), first)
        array = t.array(a)
        axes = axes_of(t, axis, array.rank)
        if first is not None:
            if first.dtype.kind == "f" and array.dtype.kind != "f":
                raise t.code.fail(f"the extreme element of {array.dtype} and a float")
            first = t.code.let(arith.convert(t.code, first, array.dtype))
        if not array.rank:
            only = array.element(())
            return only if first is None else arith.extreme(t.code, symbol, first, only)
        if first is None and any(t.code.is_empty(array.shape[axis]) for axis in axes):
            raise t.code.fail("the extreme element of an empty array")
        if array.cost > 1:
            array = t.stored(array)
        result = fold(
            t, array, axes,
            lambda place: bare((array.element(place) if first is None else first).text),
            lambda best, x: arith.extreme(t.code, symbol, best, x), array.dtype,
            flag(t, keepdims), True,
        )  # fmt: skip
        return into(t, out, result) if out is not None else result

    return lowering


lowers(np.max, np.amax, method="max")(extreme_of(">"))
lowers(np.min, np.amin, method="min")(extreme_of("<"))


@lowers(np.ptp)
def ptp(t: Translator, a: Value, axis: Value | None = None) -> Value:
    high, low = extreme_of(">")(t, a, axis), extreme_of("<")(t, a, axis)
    return lift(t, lambda x, y: arith.binary(t.code, "-", x, y), high, low)


@lowers(np.prod, method="prod")
def prod(
    t: Translator, a: Value, axis: Value | None = None, keepdims: Value | None = None
) -> Value:
    array = t.array(a)
    dtype = types.summed(array.dtype)
    axes = axes_of(t, axis, array.rank)
    first = "1.0" if dtype.kind == "f" else "1"
    return fold(
        t, array, axes, lambda _: first, lambda x, y: arith.binary(t.code, "*", x, y), dtype,
        flag(t, keepdims), False,
    )  # fmt: skip


def _quantifier(symbol: str) -> Callable[..., Value]:
    def lowering(
        t: Translator,
        a: Value,
        axis: Value | None = None,
        out: Value | None = None,
        keepdims: Value | None = None,
    ) -> Value:
        array = t.array(a)
        if array.dtype.kind != "b":
            array = t.array(lift(t, arith.truth, array))
        axes = axes_of(t, axis, array.rank)
        code = t.code
        count = total_of(t, array, axes, INT)
        if symbol == "|":
            result = lift(t, lambda n: Scalar(f"({n.text} > 0)", BOOL), count)
        else:
            total = count_of(t, array, axes)
            result = lift(t, lambda n: Scalar(f"({n.text} == {total.text})", BOOL), count)
        if isinstance(result, Scalar):
            result = code.let(result)
        return keep(t, result, array.rank, axes, flag(t, keepdims))

    return lowering


lowers(np.any, method="any")(_quantifier("|"))
lowers(np.all, method="all")(_quantifier("&"))


def parity(
    t: Translator, a: Value, axis: Value | None = None, keepdims: Value | None = None
) -> Value:
    """Whether an odd number of elements is true: exclusive or of all of them."""
    true = lift(t, arith.truth, t.array(a))
    count = sum_(t, true, axis, keepdims=keepdims)
    return lift(t, lambda n: Scalar(f"(({n.text} & 1) == 1)", BOOL), count)


lowers(parity)(parity)


@lowers(np.count_nonzero)
def count_nonzero(t: Translator, a: Value, axis: Value | None = None) -> Value:
    return sum_(t, lift(t, arith.truth, t.array(a)), axis)
