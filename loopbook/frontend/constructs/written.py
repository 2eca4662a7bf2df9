"""NumPy's functions that are a few lines over others: written as Python, and inlined.

Before::

    w = np.hanning(n)

After, as if it had been written::

    i = np.arange(1 - n, n, 2)
    w = 0.5 + 0.5 * np.cos(np.pi * i / (n - 1))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend.registry import lowers
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Value


def written(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what is inlined for calls of `functions`."""

    def register(python: Callable[..., Any]) -> Callable[..., Any]:
        def lowering(t: Translator, *args: Value, **kwargs: Value) -> Value:
            from loopbook.frontend.inline import inline

            line = t.code.origin
            try:
                return inline(t, python, list(args), kwargs, line)
            except LoweringError as error:
                raise type(error)(f"in {python.__name__}(): {error.what}", line) from None

        lowers(*functions)(lowering)
        return python

    return register


# -- comparing -----------------------------------------------------------------------------------


@written(np.isclose)
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = np.asarray(a), np.asarray(b) * 1.0
    near = np.abs(x - y) <= atol + rtol * np.abs(y)
    found = (near & np.isfinite(y)) | (x == y)
    if equal_nan:
        found = found | (np.isnan(x) & np.isnan(y))
    return found


@written(np.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


@written(math.isclose)
def math_isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    return a == b or abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


@written(np.isposinf)
def isposinf(x):
    return np.equal(x, np.inf)


@written(np.isneginf)
def isneginf(x):
    return np.equal(x, -np.inf)


# -- windows and curves --------------------------------------------------------------------------


@written(np.hanning)
def hanning(M):
    if M < 2:
        raise ValueError  # of one it is a 1
    i = np.arange(1 - M, M, 2)
    return 0.5 + 0.5 * np.cos(np.pi * i / (M - 1))


@written(np.hamming)
def hamming(M):
    if M < 2:
        raise ValueError  # of one it is a 1
    i = np.arange(1 - M, M, 2)
    return 0.54 + 0.46 * np.cos(np.pi * i / (M - 1))


@written(np.blackman)
def blackman(M):
    if M < 2:
        raise ValueError  # of one it is a 1
    i = np.arange(1 - M, M, 2)
    return 0.42 + 0.5 * np.cos(np.pi * i / (M - 1)) + 0.08 * np.cos(2.0 * np.pi * i / (M - 1))


@written(np.bartlett)
def bartlett(M):
    if M < 2:
        raise ValueError  # of one it is a 1
    i = np.arange(1 - M, M, 2)
    return np.where(i <= 0, 1 + i / (M - 1), 1 - i / (M - 1))


@written(np.signbit)
def signbit(x):
    return np.copysign(1.0, x) < 0


@written(np.modf)
def modf(x):
    whole = np.trunc(x)
    return np.copysign(np.where(np.isinf(x), 0.0, x - whole), x), whole


@written(np.array_equiv)
def array_equiv(a1, a2):
    return bool(np.all(np.asarray(a1) == np.asarray(a2)))


@written(math.dist)
def dist(p, q):
    return np.sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True))).item()


@written(np.sinc)
def sinc(x):
    y = np.pi * np.where(x == 0, 1e-20, x)
    return np.sin(y) / y


@written(np.logaddexp)
def logaddexp(x1, x2):
    rest = np.abs(x1 - x2)
    apart = np.maximum(x1, x2) + np.log1p(np.exp(-rest))
    return np.where(x1 == x2, x1 + 0.6931471805599453, apart)[()]


@written(np.geomspace)
def geomspace(start, stop, num=50, endpoint=True):
    exponents = np.linspace(0.0, 1.0, num, endpoint)
    return start * np.power(stop / start, exponents)


@written(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0):
    return np.power(base, np.linspace(start, stop, num, endpoint))


@written(np.unwrap)
def unwrap(p, discont=None, *, period=2 * np.pi):
    step = np.diff(p)
    half = period / 2
    turned = np.mod(step + half, period) - half
    turned[(turned == -half) & (step > 0)] = half
    more = turned - step
    more[np.abs(step) < (half if discont is None else discont)] = 0
    result = p * 1.0
    result[1:] = p[1:] + np.cumsum(more)
    return result


# -- without what is no number -------------------------------------------------------------------


@written(np.nanprod)
def nanprod(a, axis=None):
    return np.prod(np.where(np.isnan(a), 1, a), axis=axis)


@written(np.nancumsum)
def nancumsum(a, axis=None):
    return np.cumsum(np.where(np.isnan(a), 0, a), axis=axis)


@written(np.nancumprod)
def nancumprod(a, axis=None):
    return np.cumprod(np.where(np.isnan(a), 1, a), axis=axis)


@written(np.nanvar)
def nanvar(a, axis=None, ddof=0):
    there = ~np.isnan(a)
    kind = (a * 1.0).dtype  # counts are whole numbers of 64 bits, and would make it float64
    if axis is None:
        count = np.sum(there)
        middle = (np.sum(np.where(there, a, 0.0)) / count).astype(kind)
        rest = np.where(there, a - middle, 0.0)
        return (np.sum(rest * rest) / max(count - ddof, 0)).astype(kind)
    count = np.sum(there, axis=axis, keepdims=True)
    middle = (np.sum(np.where(there, a, 0.0), axis=axis, keepdims=True) / count).astype(kind)
    rest = np.where(there, a - middle, 0.0)
    free = np.maximum(np.sum(there, axis=axis) - ddof, 0)
    return (np.sum(rest * rest, axis=axis) / free).astype(kind)


@written(np.nanstd)
def nanstd(a, axis=None, ddof=0):
    return np.sqrt(nanvar(a, axis, ddof))


@written(np.average)
def average(a, axis=None, weights=None):
    if weights is None:
        return np.mean(a, axis=axis)
    if axis is None or a.ndim == 1 or weights.ndim < a.ndim:
        scale = np.sum(weights)
        if scale == 0:
            raise ZeroDivisionError
        if axis is None or a.ndim == 1:
            return np.sum(a * weights) / scale
        if axis == 0:
            return np.sum(a.T * weights, axis=-1).T / scale
        return np.sum(a * weights, axis=axis) / scale
    scales = np.sum(weights, axis=axis)
    if np.any(scales == 0):
        raise ZeroDivisionError
    return np.sum(a * weights, axis=axis) / scales


# -- numbers -------------------------------------------------------------------------------------


@written(math.erf)
def erf(x):
    """W. J. Cody's rational approximations."""
    y = abs(x)
    if y <= 0.46875:
        z = x * x
        top = 1.85777706184603153e-1 * z + 3.16112374387056560e0
        top = ((top * z + 1.13864154151050156e2) * z + 3.77485237685302021e2) * z
        low = (z + 2.36012909523441209e1) * z + 2.44024637934444173e2
        low = (low * z + 1.28261652607737228e3) * z + 2.84423683343917062e3
        return x * (top + 3.20937758913846947e3) / low
    rest = _erfc_part(y)
    if x < 0.0:
        return rest - 1.0
    return 1.0 - rest


@written(math.erfc)
def erfc(x):
    if abs(x) <= 0.46875:
        return 1.0 - erf(x)
    rest = _erfc_part(abs(x))
    if x < 0.0:
        return 2.0 - rest
    return rest


def _erfc_part(y):
    """What is missing to 1 for y > 0.46875."""
    if y <= 4.0:
        top = 2.15311535474403846e-8 * y + 5.64188496988670089e-1
        top = ((top * y + 8.88314979438837594e0) * y + 6.61191906371416295e1) * y
        top = ((top + 2.98635138197400131e2) * y + 8.81952221241769090e2) * y
        top = ((top + 1.71204761263407058e3) * y + 2.05107837782607147e3) * y
        low = ((y + 1.57449261107098347e1) * y + 1.17693950891312499e2) * y
        low = ((low + 5.37181101862009858e2) * y + 1.62138957456669019e3) * y
        low = ((low + 3.29079923573345963e3) * y + 4.36261909014324716e3) * y
        low = (low + 3.43936767414372164e3) * y + 1.23033935480374942e3
        return math.exp(-y * y) * (top + 1.23033935479799725e3) / low
    z = 1.0 / (y * y)
    top = 1.63153871373020978e-2 * z + 3.05326634961232344e-1
    top = ((top * z + 3.60344899949804439e-1) * z + 1.25781726111229246e-1) * z
    top = (top + 1.60837851487422766e-2) * z + 6.58749161529837803e-4
    low = ((z + 2.56852019228982242e0) * z + 1.87295284992346725e0) * z
    low = ((low + 5.27905102951428412e-1) * z + 6.05183413124413191e-2) * z
    low = low + 2.33520497626869185e-3
    return math.exp(-y * y) / y * (0.56418958354775628695 - z * top / low)


# -- matrices ------------------------------------------------------------------------------------


@written(np.linalg.matrix_power)
def matrix_power(a, n):
    if n < 0:
        raise ValueError  # of an inverse
    result = np.eye(a.shape[0], dtype=a.dtype)
    power = a.copy()
    while n > 0:
        if n % 2 == 1:
            result = result @ power
        power = power @ power
        n = n // 2
    return result


@written(np.linalg.slogdet)
def slogdet(a):
    u = a.copy()
    n = a.shape[0]
    sign = np.float64(1.0)
    total = np.float64(0.0)
    for c in range(n):
        best = abs(u[c, c])
        pivot = c
        for r in range(c + 1, n):
            if abs(u[r, c]) > best:
                best = abs(u[r, c])
                pivot = r
        if pivot != c:
            sign = -sign
            for k in range(n):
                kept = u[c, k]
                u[c, k] = u[pivot, k]
                u[pivot, k] = kept
        if u[c, c] < 0:
            sign = -sign
        total = total + np.log(abs(u[c, c]))
        if best == 0:
            sign = np.float64(0.0)
        else:
            for r in range(c + 1, n):
                factor = u[r, c] / u[c, c]
                for k in range(c, n):
                    u[r, k] = u[r, k] - factor * u[c, k]
    return sign, total


@written(np.rot90)
def rot90(m, k=1, axes=(0, 1)):
    turns = k % 4
    if turns == 0:
        return m[:]
    if turns == 1:
        return np.swapaxes(np.flip(m, axes[1]), axes[0], axes[1])
    if turns == 2:
        return np.flip(np.flip(m, axes[0]), axes[1])
    return np.flip(np.swapaxes(m, axes[0], axes[1]), axes[1])


# -- parts of arrays -----------------------------------------------------------------------------


@written(np.resize)
def resize(a, new_shape):
    line, count = a.ravel(), np.empty(new_shape).size
    return line[np.arange(count) % line.size].reshape(new_shape)


@written(np.diag_indices)
def diag_indices(n, ndim=2):
    line = np.arange(n)
    return (line,) * ndim


@written(np.diag_indices_from)
def diag_indices_from(arr):
    return diag_indices(arr.shape[0], arr.ndim)


@written(np.isin)
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    found = np.any(element[..., None] == test_elements.ravel(), axis=-1)
    return ~found if invert else found


@written(np.ediff1d)
def ediff1d(ary, to_end=None, to_begin=None):
    steps = np.diff(ary.ravel())
    if to_begin is not None:
        steps = np.append(to_begin, steps)
    if to_end is not None:
        steps = np.append(steps, to_end)
    return steps


@written(np.shape)
def shape(a):
    return a.shape


@written(np.ndim)
def ndim(a):
    return a.ndim


@written(np.size)
def size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


@written(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr):
    if arr.ndim == 1:
        return func1d(arr)
    if arr.ndim != 2:
        raise NotImplementedError
    if axis == 0:
        return np.array([func1d(column) for column in arr.T]).T
    return np.array([func1d(row) for row in arr])
