"""How far elements are from nought or from their mean: var, std, norm.

Before::

    s = np.std(x)

After::

    for k0 in range(n): sum_0 = sum_0 + x[k0]
    for k1 in range(n): gap = x[k1] - sum_0 / n; sum_1 = sum_1 + gap * gap
    s = math.sqrt(sum_1 / n)
"""

from __future__ import annotations

import numpy as np

from loopbook.frontend import arith, choices, nests, types
from loopbook.frontend.code import Code
from loopbook.frontend.constructs.elementwise import cast, into
from loopbook.frontend.constructs.folding import keep
from loopbook.frontend.constructs.reductions import (
    axes_of,
    count_of,
    extreme_of,
    flag,
    mean,
    sum_,
    total_of,
)
from loopbook.frontend.operators import lift
from loopbook.frontend.powers import power
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Pair, Scalar, Tup, Value


@lowers(np.var, method="var")
def var(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    dtype: Value | None = None,
    out: Value | None = None,
    ddof: Value | None = None,
    keepdims: Value | None = None,
) -> Value:
    """The mean square of what differs from the mean."""
    array = t.array(a if dtype is None else cast(t, a, np.dtype(t.python(dtype))))
    if array.cost > 1:
        array = t.stored(array)
    axes = axes_of(t, axis, array.rank)
    centre = mean(t, array, axis, keepdims=arith.constant(True))
    if isinstance(centre, Array) and centre.view is None:
        centre = nests.materialise(t.code, centre)
    code = t.code

    def squared(x: Scalar, m: Scalar) -> Scalar:
        gap = code.let(arith.binary(code, "-", x, m))
        if isinstance(gap, Pair):
            both = f"({gap.real} * {gap.real} + {gap.imag} * {gap.imag})"
            return Scalar(both, types.part(gap.dtype))
        return arith.binary(code, "*", gap, gap)

    squares = t.array(lift(t, squared, array, centre, cost=2))
    total = nests.force(code, total_of(t, squares, axes, squares.dtype))
    count = count_of(t, array, axes)
    if ddof is not None:
        count = at_least_none(code, arith.binary(code, "-", count, t.number(ddof)))
    result = lift(t, lambda x: arith.binary(code, "/", x, count), total, cost=4)
    result = keep(t, result, array.rank, axes, flag(t, keepdims))
    return into(t, out, result)


def at_least_none(code: Code, count: Scalar) -> Scalar:
    """Degrees of freedom, of which there are never fewer than none: what is divided by them is no
    number then, or infinite."""
    if count.whole is not None and code.facts.nonnegative(count.whole):
        return count
    return code.let(choices.extreme(code, ">", count, arith.constant(0)))


@lowers(np.std, method="std")
def std(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    dtype: Value | None = None,
    out: Value | None = None,
    ddof: Value | None = None,
    keepdims: Value | None = None,
) -> Value:
    squares = var(t, a, axis, dtype, ddof=ddof, keepdims=keepdims)
    result = lift(t, lambda x: arith.function(t.code, "sqrt", x), squares)
    return into(t, out, result)


@lowers(np.linalg.norm)
def norm(
    t: Translator,
    x: Value,
    ord: Value | None = None,
    axis: Value | None = None,
    keepdims: Value | None = None,
) -> Value:
    """The root of the sum of squares, or the greatest element, or the sum of absolute values."""
    code = t.code
    kind = None if ord is None else t.python(ord)
    array = t.array(x)
    if array.dtype.kind == "c":
        array = t.array(lift(t, lambda v: arith.absolute(code, v), array))
    elif array.dtype.kind != "f":
        array = t.array(lift(t, lambda v: arith.convert(code, v, types.FLOAT), array))
    if kind in (None, 2, "fro") and not (kind == 2 and array.rank == 2 and axis is None):
        squares = lift(
            t,
            lambda v: power(code, v, arith.constant(2), v.dtype, False),
            array,
        )
        return lift(
            t, lambda v: arith.function(code, "sqrt", v), sum_(t, squares, axis, keepdims=keepdims)
        )
    absolute = lift(t, lambda v: arith.absolute(code, v), array)
    lines = array.rank == 1 or (axis is not None and not isinstance(axis, Tup))
    if kind in (np.inf, -np.inf) and lines:
        return extreme_of(">" if kind > 0 else "<")(t, absolute, axis, keepdims=keepdims)
    if kind == 1 and lines:
        return sum_(t, absolute, axis, keepdims=keepdims)
    if kind in (1, -1, np.inf, -np.inf) and array.rank == 2 and not flag(t, keepdims):
        sums = sum_(t, absolute, arith.constant(0 if abs(kind) == 1 else 1))
        return extreme_of(">" if kind > 0 else "<")(t, sums)
    if kind == 0 and lines:
        there = lift(t, lambda v: arith.compare(code, "!=", v, arith.constant(0)), array)
        return sum_(t, cast(t, there, array.dtype), axis, keepdims=keepdims)
    if isinstance(kind, int | float) and lines:
        powers = lift(t, lambda v: _power(code, v, kind), absolute, cost=8)
        total = sum_(t, powers, axis, keepdims=keepdims)
        return lift(t, lambda v: _power(code, v, 1.0 / kind), total)
    raise code.fail(f"the norm of order {kind}")


def _power(code: Code, value: Scalar, exponent: float) -> Scalar:
    return arith.binary(code, "**", value, arith.constant(float(exponent)))


@lowers(np.linalg.vector_norm)
def vector_norm(
    t: Translator,
    x: Value,
    axis: Value | None = None,
    keepdims: Value | None = None,
    ord: Value | None = None,
) -> Value:
    """Of all elements as one vector, or along an axis."""
    if axis is not None:
        return norm(t, x, arith.constant(2) if ord is None else ord, axis, keepdims)
    if flag(t, keepdims):
        raise t.code.fail("the norm of all elements with their axes kept; use np.expand_dims")
    return norm(t, FUNCTIONS[np.ravel](t, x), ord)


@lowers(np.linalg.matrix_norm)
def matrix_norm(
    t: Translator, x: Value, keepdims: Value | None = None, ord: Value | None = None
) -> Value:
    """Of each of the matrices."""
    axes = Tup((arith.constant(-2), arith.constant(-1)))
    if ord is not None and t.python(ord) != "fro":
        if t.array(x).rank != 2:
            raise t.code.fail("this norm of several matrices; call it for each of them")
        return norm(t, x, ord, None, keepdims)
    return norm(t, x, None, axes, keepdims)
