"""Numbers at even distances: arange, linspace.

Before::

    x = np.linspace(0.0, 1.0, n)

After::

    for i0 in range(n):
        x[i0] = i0 * (1.0 / (n - 1)) + 0.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from loopbook.frontend import arith, choices, types
from loopbook.frontend.code import bare
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.loops import Range
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import FLOAT, INT
from loopbook.frontend.values import Array, Index, Scalar, Thing, Tup, Value


def dtype_of(t: Translator, dtype: Value | None, default: np.dtype) -> np.dtype:
    """The type that a ``dtype`` argument names."""
    if dtype is None or (isinstance(dtype, Thing) and dtype.value is None):
        return default
    found = np.dtype(t.python(dtype))
    if found not in types.SUPPORTED:
        raise t.code.fail(f"the type {found}")
    t.code.wide = t.code.wide or found == types.WIDE
    return found


def filled(shape: Index, dtype: np.dtype, value: Scalar) -> Array:
    """The same number everywhere."""
    held = value if shape else replace(value, weak=False, boxed=True)
    return Array(shape, dtype, lambda own: held)


def stepped(t: Translator, start: Scalar, step: Scalar, count: Int, kind: np.dtype) -> Array:
    """``start + i * step`` for whole numbers i."""
    code = t.code
    start, step = code.let(start), code.let(step)

    def at(own: Index) -> Scalar:
        scaled = arith.binary(code, "*", arith.whole(own[0]), step)
        return arith.convert(code, arith.binary(code, "+", start, scaled), kind)

    return Array((count,), kind, at, cost=1)


@lowers(np.arange)
def arange(
    t: Translator,
    *ends: Value,
    start: Value | None = None,
    stop: Value | None = None,
    step: Value | None = None,
    dtype: Value | None = None,
) -> Value:
    places = [*ends, None, None, None, None]
    first, last, by, kind = (
        given if _is_given(given) else named
        for given, named in zip(places, (start, stop, step, dtype), strict=False)
    )
    if not _is_given(last):
        first, last = None, first
    if not _is_given(last):
        raise t.code.fail("arange without an end")
    numbers = [t.number(v) if _is_given(v) else arith.constant(n) for n, v in
               ((0, first), (1, last), (1, by))]  # fmt: skip
    own = types.promote(*(n.kind for n in numbers))[0]
    whole_ones = own.kind != "f" or all(_is_whole(number) for number in numbers)
    if own.kind == "c":
        raise t.code.fail("arange of complex numbers")
    wanted = dtype_of(t, kind, FLOAT if own.kind == "f" else INT)
    if not whole_ones and wanted.kind != "f":
        raise t.code.fail("arange of floats as whole numbers")
    return (_of_whole if whole_ones else _of_floats)(t, numbers, wanted)


def _is_given(value: Value | None) -> TypeGuard[Value]:
    return value is not None and not (isinstance(value, Thing) and value.value is None)


def _of_whole(t: Translator, numbers: Sequence[Scalar], kind: np.dtype) -> Array:
    """Of whole numbers, be they floats."""
    start, stop, step = map(_whole, numbers)
    one = t.python(step)
    span = t.integer(stop) - t.integer(start)
    count = span = span if one > 0 else -span
    if t.code.facts.nonnegative(span) is False:
        count = ZERO
    elif abs(one) != 1:
        rounded = arith.whole(span + (abs(one) - 1))
        count = t.integer(arith.binary(t.code, "//", rounded, arith.constant(abs(one))))
    count = t.code.bounded(count)
    return stepped(t, start, step, count, kind)


def _of_floats(t: Translator, given: Sequence[Scalar], kind: np.dtype) -> Array:
    """As many as there are steps, the last of which may lead beyond the end, as NumPy has it: as
    far apart as the first two."""
    code = t.code
    numbers = [arith.convert(code, number, FLOAT) for number in given]
    if all(number.value is not None for number in numbers):
        count = Int.of(len(np.arange(*(number.value for number in numbers))))
    else:
        steps = arith.binary(code, "-", numbers[1], numbers[0])
        steps = code.let(arith.binary(code, "/", steps, numbers[2]))
        code.suppose(f"math.fabs({steps.text}) < {1 << 62}.0")  # neither by nought, nor of a NaN
        up = arith.function(code, "ceil", steps)
        number = code.let(Scalar(f"max(int({bare(up.text)}), 0)", INT, True), "n")
        count = code.bounded(t.integer(number))
    first = code.let(numbers[0])
    second = arith.binary(code, "+", first, numbers[2])
    gap = code.let(arith.binary(code, "-", second, first))
    return stepped(t, first, gap, count, kind)


def _is_whole(number: Scalar) -> bool:
    """Whether a number is a whole one as such: ``1.0``, and what sizes give."""
    return number.whole is not None or (
        number.value is not None and float(number.value).is_integer()
    )


def _whole(number: Scalar) -> Scalar:
    return arith.constant(int(number.value)) if number.value is not None else number


def numbers_in(t: Translator, value: Thing) -> Array | None:
    """The numbers of a ``range`` as an array; None if it is something else."""
    if not isinstance(value.value, Range):
        return None
    ends = (arith.whole(value.value.start), arith.whole(value.value.stop))
    return t.array(arange(t, *ends, arith.constant(value.value.step)))


@lowers(np.linspace)
def linspace(
    t: Translator,
    start: Value,
    stop: Value,
    num: Value | None = None,
    endpoint: Value | None = None,
    retstep: Value | None = None,
    dtype: Value | None = None,
) -> Value:
    code = t.code
    if retstep is not None and t.python(retstep):
        return _with_step(t, start, stop, num, endpoint, dtype)
    count = Int.of(50) if num is None else code.bounded(t.integer(num))
    closed = endpoint is None or bool(t.python(endpoint))
    ends = [t.number(v) for v in (start, stop)]
    first, last = (code.let(t.number(cast(t, v, FLOAT))) for v in ends)
    parts = count - 1 if closed else count
    kind = dtype_of(t, dtype, types.promote(*(end.kind for end in ends), (FLOAT, True))[0])
    if code.is_empty(parts):
        first = arith.function(code, "floor", first) if kind.kind in "iu" else first
        return filled((count,), kind, t.number(cast(t, first, kind)))
    gap = arith.binary(code, "-", last, first)
    step = code.let(arith.binary(code, "/", gap, arith.whole(parts)))
    inner = stepped(t, first, step, count, FLOAT)

    def at(own: Index) -> Scalar:
        value = inner.element(own)
        if closed:
            end = Scalar(f"({own[0].text} == {parts.text})", types.BOOL)
            value = choices.select(code, end, last, value)
        if kind.kind in "iu":  # rounded down, where a conversion cuts off
            value = arith.function(code, "floor", value)
        return arith.convert(code, value, kind)

    return Array((count,), kind, at, cost=2)


def _with_step(
    t: Translator,
    start: Value,
    stop: Value,
    num: Value | None,
    endpoint: Value | None,
    dtype: Value | None,
) -> Tup:
    closed = endpoint is None or bool(t.python(endpoint))
    count = arith.constant(50) if num is None else t.number(num)
    parts = arith.binary(t.code, "-", count, arith.constant(1)) if closed else count
    if t.code.facts.nonnegative(t.integer(parts) - 1) is not True:
        raise t.code.fail("the step of a linspace of one number, or of nobody knows how many")
    first, last = (t.number(cast(t, value, FLOAT)) for value in (start, stop))
    step = arith.binary(t.code, "/", arith.binary(t.code, "-", last, first), parts)
    gap = t.code.let(t.number(cast(t, step, FLOAT)))
    made = linspace(t, start, stop, num, endpoint, None, dtype)
    return Tup((made, Scalar(gap.text, FLOAT)))
