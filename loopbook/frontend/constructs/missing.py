"""Reductions that leave out what is no number.

Before::

    m = np.nanmean(A, axis=0)

After::

    for i0 ...: t_0[i0] = sum of A[k0, i0], or 0 where that is no number
    for i0 ...: t_1[i0] = how many are numbers
    for i0 ...: m[i0] = t_0[i0] / t_1[i0]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from loopbook.frontend import arith, choices
from loopbook.frontend.constructs import quantiles
from loopbook.frontend.constructs.finite import isnan
from loopbook.frontend.constructs.reductions import extreme_of, sum_
from loopbook.frontend.constructs.written import written
from loopbook.frontend.operators import lift
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Scalar, Value


def _filled(t: Translator, a: Value, number: float) -> tuple[Array, Value]:
    """The array with a number for what is none, and which elements were numbers."""
    array = t.array(a)
    if array.dtype.kind != "f":
        raise t.code.fail(f"nan functions of {array.dtype}")
    if array.cost > 1:
        array = t.stored(array)
    missing = FUNCTIONS[np.isnan](t, array)
    # A number of the array's own type: Python's would be told apart from none.
    instead = arith.constant(array.dtype.type(number))
    filled = lift(t, lambda m, x: choices.select(t.code, m, instead, x), missing, array)
    return t.array(filled), FUNCTIONS[np.logical_not](t, missing)


@lowers(np.nansum)
def nansum(
    t: Translator, a: Value, axis: Value | None = None, keepdims: Value | None = None
) -> Value:
    return sum_(t, _filled(t, a, 0.0)[0], axis, keepdims=keepdims)


@lowers(np.nanmean)
def nanmean(
    t: Translator, a: Value, axis: Value | None = None, keepdims: Value | None = None
) -> Value:
    filled, numbers = _filled(t, a, 0.0)
    count = sum_(t, numbers, axis, keepdims=keepdims)
    total = sum_(t, filled, axis, keepdims=keepdims)
    return lift(
        t, lambda x, n: arith.convert(t.code, arith.binary(t.code, "/", x, n), filled.dtype),
        total, count,
    )  # fmt: skip


def _nan_extreme(symbol: str, least: float):
    def lowering(
        t: Translator, a: Value, axis: Value | None = None, keepdims: Value | None = None
    ) -> Value:
        filled, numbers = _filled(t, a, least)
        count = sum_(t, numbers, axis, keepdims=keepdims)
        found = extreme_of(symbol)(t, filled, axis, keepdims=keepdims)
        nan = arith.constant(filled.dtype.type(np.nan))
        return lift(
            t,
            lambda n, x: choices.select(
                t.code, arith.compare(t.code, "==", n, arith.constant(0)), nan, x
            ),
            count,
            found,
        )

    return lowering


lowers(np.nanmax)(_nan_extreme(">", -np.inf))
lowers(np.nanmin)(_nan_extreme("<", np.inf))


@written(np.nanargmax)
def nanargmax(a, axis=None):
    missing = np.isnan(a)
    if np.any(np.all(missing, axis=axis)):
        raise ValueError
    return np.argmax(np.where(missing, -np.inf, a), axis=axis)


@written(np.nanargmin)
def nanargmin(a, axis=None):
    missing = np.isnan(a)
    if np.any(np.all(missing, axis=axis)):
        raise ValueError
    return np.argmin(np.where(missing, np.inf, a), axis=axis)


@lowers(np.nan_to_num)
def nan_to_num(
    t: Translator,
    x: Value,
    copy: Value | None = None,
    nan: Value | None = None,
    posinf: Value | None = None,
    neginf: Value | None = None,
) -> Value:
    """A copy with numbers for what is none, and for what is infinite."""
    array = t.array(x)
    if array.dtype.kind != "f" or (copy is not None and not t.python(copy)):
        raise t.code.fail("nan_to_num in place, or of what are no floats")
    limits = np.finfo(array.dtype)
    given = [None if v is None else t.python(v) for v in (nan, posinf, neginf)]
    chosen = [
        arith.constant(array.dtype.type(least if value is None else value))
        for value, least in zip(given, (0.0, limits.max, limits.min), strict=True)
    ]
    ends = arith.constant(array.dtype.type(np.inf)), arith.constant(array.dtype.type(-np.inf))

    def form(value: Scalar) -> Scalar:
        code = t.code
        made = value = code.let(value)
        for end, instead in zip(ends, chosen[1:], strict=True):
            made = choices.select(code, arith.compare(code, "==", value, end), instead, made)
        return choices.select(code, isnan(code, value), chosen[0], made)

    return lift(t, form, array, cost=4)


def _or_plain(leaving_out: Any, plain: Any) -> Callable[..., Value]:
    """What leaves out what is no number: of whole numbers, which all are, what leaves out none."""
    of_floats = FUNCTIONS[leaving_out]

    def lowering(t: Translator, a: Value, *args: Value, **kwargs: Value) -> Value:
        dtype = (a if isinstance(a, Array) else t.array(a)).dtype
        return (FUNCTIONS[plain] if dtype.kind in "biu" else of_floats)(t, a, *args, **kwargs)

    return lowering


for _leaving_out, _plain in (
    (np.nansum, np.sum), (np.nanmean, np.mean), (np.nanmax, np.max), (np.nanmin, np.min),
    (np.nanvar, np.var), (np.nanstd, np.std), (np.nanprod, np.prod), (np.nanmedian, np.median),
    (np.nanargmax, np.argmax), (np.nanargmin, np.argmin), (np.nanpercentile, np.percentile),
    (np.nanquantile, np.quantile), (np.nancumsum, np.cumsum), (np.nancumprod, np.cumprod),
    (np.nan_to_num, np.copy),
):  # fmt: skip
    FUNCTIONS[_leaving_out] = _or_plain(_leaving_out, _plain)

__all__ = ["quantiles"]  # which are to be told from plain ones before
