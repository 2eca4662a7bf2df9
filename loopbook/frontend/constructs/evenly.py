"""Numbers at even distances: arange, linspace.

Before::

    x = np.linspace(0.0, 1.0, n)

After::

    for i0 in range(n):
        x[i0] = i0 * (1.0 / (n - 1)) + 0.0
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, choices, types
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
def arange(t: Translator, *ends: Value, dtype: Value | None = None) -> Value:
    numbers = [t.number(end) for end in ends]
    start = numbers[0] if len(numbers) > 1 else arith.constant(0)
    stop = numbers[1] if len(numbers) > 1 else numbers[0]
    step = numbers[2] if len(numbers) > 2 else arith.constant(1)
    kind = types.promote(start.kind, stop.kind, step.kind)[0]
    kind = FLOAT if kind.kind == "f" else INT
    made = dtype_of(t, dtype, kind)
    if kind == FLOAT and all(n.value is not None for n in (start, stop, step)):
        count = Int.of(len(np.arange(start.value, stop.value, step.value)))
        return stepped(t, start, step, t.code.bounded(count), made)
    if kind == FLOAT:
        known = [_whole(number) for number in (start, stop, step)]
        if any(number is None for number in known):
            return _between_floats(t, start, stop, step, made)
        start, stop, step = (number for number in known if number is not None)
    one = t.python(step)
    span = t.integer(stop) - t.integer(start)
    span = span if one > 0 else -span
    count = span
    if t.code.facts.nonnegative(span) is False:
        count = ZERO
    elif abs(one) != 1:
        rounded = arith.whole(span + (abs(one) - 1))
        count = t.integer(arith.binary(t.code, "//", rounded, arith.constant(abs(one))))
    return stepped(t, start, step, t.code.bounded(count), made)


def numbers_in(t: Translator, value: Thing) -> Array | None:
    """The numbers of a ``range`` as an array; None if it is something else."""
    if not isinstance(value.value, Range):
        return None
    ends = (arith.whole(value.value.start), arith.whole(value.value.stop))
    return t.array(arange(t, *ends, arith.constant(value.value.step)))


def _whole(number: Scalar) -> Scalar | None:
    """A number that is a whole one as such: ``1.0``, and what sizes give; None for others."""
    if isinstance(number.value, float) and number.value.is_integer():
        return arith.constant(int(number.value))
    return None if number.whole is None else number


def _between_floats(
    t: Translator, start: Scalar, stop: Scalar, step: Scalar, kind: np.dtype
) -> Array:
    """``np.arange(0.0, end, dt)``: as many numbers as NumPy finds to lie there, and the distance of
    the first two between all of them."""
    code = t.code
    if kind.kind not in "f":
        raise code.fail("arange of floats as whole numbers; give it whole numbers")
    first, last, gap = (code.let(arith.convert(code, n, FLOAT)) for n in (start, stop, step))
    steps = code.let(Scalar(f"(({last.text} - {first.text}) / {gap.text})", FLOAT))
    code.suppose(f"math.fabs({steps.text}) < {1 << 62}.0")  # neither by nought, nor of a NaN
    count = t.integer(arith.convert(code, arith.function(code, "ceil", steps), INT))
    size = code.fresh("n_")
    code.emit(f"{size} = max({count.text}, 0)")
    code.facts.ranges[size] = (ZERO, None)
    second = code.let(arith.binary(code, "+", first, gap))
    apart = arith.binary(code, "-", second, first)
    return stepped(t, first, apart, code.bounded(Int.atom(size)), kind)


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
        return filled((count,), kind, t.number(cast(t, first, kind)))
    gap = arith.binary(code, "-", last, first)
    step = code.let(arith.binary(code, "/", gap, arith.whole(parts)))
    inner = stepped(t, first, step, count, FLOAT)

    def at(own: Index) -> Scalar:
        value = inner.element(own)
        if closed:
            end = Scalar(f"({own[0].text} == {parts.text})", types.BOOL)
            value = choices.select(code, end, last, value)
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
