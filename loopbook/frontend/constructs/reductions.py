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
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, choices, nests, types
from loopbook.frontend.casts import strong
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.elementwise import cast, into
from loopbook.frontend.constructs.folding import fold, keep
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
    Thing,
    Tup,
    Value,
    argument_of,
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


def _operand(t: Translator, a: Value, axis: Value | None, keepdims: Value | None) -> Array:
    """The array to reduce; a mask stays, for those who can do with it: where nothing names the axis
    of what it lets through, however many it has itself."""
    unnamed = axis is None and keepdims is None
    if isinstance(a, Array) and a.mask is not None and (a.rank == 1 or unnamed):
        return a
    return t.array(a)


def _chosen(t: Translator, a: Value, where: Value | None, otherwise: Scalar) -> Value:
    """What is reduced: where ``where=`` leaves an element out, one that changes nothing."""
    return a if where is None else FUNCTIONS[np.where](t, where, t.array(a), otherwise)


def _begun(
    t: Translator,
    operator: type[ast.operator],
    initial: Value | None,
    result: Value,
    dtype: np.dtype,
) -> Value:
    """A result together with what ``initial=`` begins with."""
    return result if initial is None else operate(t, operator, result, cast(t, initial, dtype))


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
            element = choices.select(t.code, mask.element(tuple(full)), element, nought)
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
    a = _chosen(t, a, where, arith.constant(0))
    array = _operand(t, a, axis, keepdims)
    axes = axes_of(t, axis, array.rank)
    target = types.summed(array.dtype) if dtype is None else np.dtype(t.python(dtype))
    if not array.rank:
        return cast(t, array.element(()), target)
    if dtype is not None and target != array.dtype:
        array = t.array(cast(t, array, target))
    if target not in types.SUPPORTED and target != types.summed(array.dtype):
        raise t.code.fail(f"sums of {array.dtype}; convert to int64 first")
    result = keep(t, total_of(t, array, axes, target), array.rank, axes, flag(t, keepdims))
    return into(t, out, _begun(t, ast.Add, initial, result, target))


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
    where: Value | None = None,
) -> Value:
    if where is not None:
        return _mean_of_some(t, t.array(a), axis, dtype, out, keepdims, where)
    array = _operand(t, a, axis, keepdims)
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
    return into(t, out, result)


def _mean_of_some(
    t: Translator,
    array: Array,
    axis: Value | None,
    dtype: Value | None,
    out: Value | None,
    keepdims: Value | None,
    where: Value,
) -> Value:
    """Of the elements that ``where=`` chooses, along each axis as many as there are."""
    kind = array.dtype if array.dtype.kind in "fc" else FLOAT
    kind = kind if dtype is None else np.dtype(t.python(dtype))
    total = sum_(t, array, axis, Thing(kind), keepdims=keepdims, where=where)
    everywhere = FUNCTIONS[np.broadcast_to](t, where, Tup(tuple(map(arith.whole, array.shape))))
    count = sum_(t, everywhere, axis, keepdims=keepdims)
    result = cast(t, operate(t, ast.Div, total, count), kind)
    return into(t, out, result)


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
        added = choices.select(code, test, element, arith.constant(dtype.type(0)))
        code.emit(f"{total} = {total} + {added.text}")
        one = choices.select(code, test, arith.constant(1), arith.constant(0))
        code.emit(f"{count} = {count} + {one.text}")
    return Scalar(total, dtype), Scalar(count, INT, whole=Int.atom(count))


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
            a = _chosen(t, a, where, first)
        array = t.array(a)
        axes = axes_of(t, axis, array.rank)
        if first is not None:
            if first.dtype.kind == "f" and array.dtype.kind != "f":
                raise t.code.fail(f"the extreme element of {array.dtype} and a float")
            first = t.code.let(arith.convert(t.code, first, array.dtype))
        if not array.rank:
            only = strong(array.element(()))
            return only if first is None else choices.extreme(t.code, symbol, first, only)
        if first is None and any(t.code.is_empty(array.shape[axis]) for axis in axes):
            raise t.code.fail("the extreme element of an empty array")
        if first is None:
            suppose_some(t, array, axes)
        if first is None and array.dtype.kind == "f":
            first = arith.constant(array.dtype.type(-np.inf if symbol == ">" else np.inf))
        if array.cost > 1 and first is None:  # the first element is looked at twice
            array = t.stored(array)
        result = fold(
            t, array, axes,
            lambda place: bare((array.element(place) if first is None else first).text),
            lambda best, x: choices.extreme(t.code, symbol, best, x), array.dtype,
            flag(t, keepdims),
        )  # fmt: skip
        if symbol == ">" and first is None and isinstance(result, Scalar):
            _note_greatest(t, array, result)
        return into(t, out, result)

    return lowering


def suppose_some(
    t: Translator, array: Array, axes: Sequence[int], *, or_leave: bool = False
) -> None:
    """Leave it to Python to raise where there is no element along some axes, of which only the
    loops know how many they have."""
    for size in (array.shape[axis] for axis in axes):
        if may_be_none(t.code, size):
            t.code.suppose(f"{size.text} > 0", or_leave=or_leave)


def may_be_none(code: Code, size: Int) -> bool:
    """Whether a size that only the loops know may be nought."""
    return size.constant is None and code.facts.nonnegative(size - 1, firm=False) is None


def _note_greatest(t: Translator, array: Array, found: Scalar) -> None:
    """Say how to find the greatest whole number of an argument before the loops: mostly it is the
    number of something, and sizes are made of it. In steps: what is compiled depends on which
    sizes are equal, and would be compiled anew for each number."""
    argument, code = argument_of(array), t.code
    if argument is None or array.dtype.kind not in "iu" or argument.name not in code.elements:
        return
    if not any(line.text.startswith(f"{argument.name}[") for line in code.lines):
        code.greatest[found.text] = f"(int({argument.name}.max(initial=0)) // 16 * 16 + 17)"


lowers(np.max, np.amax, method="max")(extreme_of(">"))
lowers(np.min, np.amin, method="min")(extreme_of("<"))


@lowers(np.ptp)
def ptp(t: Translator, a: Value, axis: Value | None = None) -> Value:
    high, low = extreme_of(">")(t, a, axis), extreme_of("<")(t, a, axis)
    return lift(t, lambda x, y: arith.binary(t.code, "-", x, y), high, low)


@lowers(np.prod, method="prod")
def prod(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    dtype: Value | None = None,
    out: Value | None = None,
    keepdims: Value | None = None,
    initial: Value | None = None,
    where: Value | None = None,
) -> Value:
    a = _chosen(t, a, where, arith.constant(1))
    array = t.array(a)
    kind = types.summed(array.dtype) if dtype is None else np.dtype(t.python(dtype))
    if dtype is not None:
        array = t.array(cast(t, array, kind))
    axes = axes_of(t, axis, array.rank)
    if not array.rank and initial is None and out is None:
        return cast(t, array.element(()), kind)
    if kind.kind == "c":
        if flag(t, keepdims) or initial is not None or out is not None:
            raise t.code.fail("products of complex numbers with keepdims, initial or out")
        if len(axes) < array.rank:
            return _complex_products(t, array, axes, kind)
        running = t.array(FUNCTIONS[np.cumprod](t, array))
        return t.code.let(running.element((running.shape[0] - 1,)))
    first = "1.0" if kind.kind == "f" else "1"
    result = fold(
        t, array, axes, lambda _: first, lambda x, y: arith.binary(t.code, "*", x, y), kind,
        flag(t, keepdims),
    )  # fmt: skip
    return into(t, out, _begun(t, ast.Mult, initial, result, kind))


def _complex_products(t: Translator, array: Array, axes: Sequence[int], kind: np.dtype) -> Array:
    """Products along some axes, one factor after the other."""
    code, array = t.code, t.stored(array)
    shape = tuple(size for axis, size in enumerate(array.shape) if axis not in axes)
    result = whole(code.temporary(shape, kind), shape)
    nests.assign(code, result, arith.constant(kind.type(1)))
    with ExitStack() as stack:
        order = [axis for axis in range(array.rank) if axis not in axes]
        place = {a: stack.enter_context(code.loop(ZERO, array.shape[a])) for a in [*order, *axes]}
        own = tuple(place[axis] for axis in order)
        factor = array.element(tuple(place[axis] for axis in range(array.rank)))
        product = arith.binary(code, "*", code.let(result.element(own)), factor)
        for line in nests.stores(result, own, product):
            code.emit(line)
    return result


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
