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
def isclose(a, b, rtol=1e-05, atol=1e-08):
    near = np.abs(a - b) <= atol + rtol * np.abs(b)
    return (near & np.isfinite(b)) | (a == b)


@written(np.allclose)
def allclose(a, b, rtol=1e-05, atol=1e-08):
    near = np.abs(a - b) <= atol + rtol * np.abs(b)
    return bool(np.all((near & np.isfinite(b)) | (a == b)))


@written(math.isclose)
def math_isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    return a == b or abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


# -- windows and curves --------------------------------------------------------------------------


@written(np.hanning)
def hanning(M):
    i = np.arange(1 - M, M, 2)
    return 0.5 + 0.5 * np.cos(np.pi * i / (M - 1))


@written(np.hamming)
def hamming(M):
    i = np.arange(1 - M, M, 2)
    return 0.54 + 0.46 * np.cos(np.pi * i / (M - 1))


@written(np.blackman)
def blackman(M):
    i = np.arange(1 - M, M, 2)
    return 0.42 + 0.5 * np.cos(np.pi * i / (M - 1)) + 0.08 * np.cos(2.0 * np.pi * i / (M - 1))


@written(np.bartlett)
def bartlett(M):
    i = np.arange(1 - M, M, 2)
    return np.where(i <= 0, 1 + i / (M - 1), 1 - i / (M - 1))


@written(np.sinc)
def sinc(x):
    y = np.pi * np.where(x == 0, 1e-20, x)
    return np.sin(y) / y


@written(np.logaddexp)
def logaddexp(x1, x2):
    rest = np.abs(x1 - x2)
    apart = np.maximum(x1, x2) + np.log1p(np.exp(-rest))
    return np.where(x1 == x2, x1 + 0.6931471805599453, apart)


@written(np.logspace)
def logspace(start, stop, num=50, endpoint=True, base=10.0):
    return np.power(base, np.linspace(start, stop, num, endpoint))


@written(np.unwrap)
def unwrap(p):
    step = np.diff(p)
    turned = np.mod(step + np.pi, 2 * np.pi) - np.pi
    turned[(turned == -np.pi) & (step > 0)] = np.pi
    more = turned - step
    more[np.abs(step) < np.pi] = 0
    result = p.copy()
    result[1:] = p[1:] + np.cumsum(more)
    return result


# -- without what is no number -------------------------------------------------------------------


@written(np.nanprod)
def nanprod(a, axis=None):
    return np.prod(np.where(np.isnan(a), 1, a), axis=axis)


@written(np.nancumsum)
def nancumsum(a, axis=None):
    return np.cumsum(np.where(np.isnan(a), 0, a), axis=axis)


@written(np.nanvar)
def nanvar(a, axis=None, ddof=0):
    there = ~np.isnan(a)
    if axis is None:
        count = np.sum(there)
        rest = np.where(there, a - np.sum(np.where(there, a, 0.0)) / count, 0.0)
        return np.sum(rest * rest) / (count - ddof)
    count = np.sum(there, axis=axis, keepdims=True)
    middle = np.sum(np.where(there, a, 0.0), axis=axis, keepdims=True) / count
    rest = np.where(there, a - middle, 0.0)
    return np.sum(rest * rest, axis=axis) / (np.sum(there, axis=axis) - ddof)


@written(np.nanstd)
def nanstd(a, axis=None, ddof=0):
    return np.sqrt(nanvar(a, axis, ddof))


# -- matrices ------------------------------------------------------------------------------------


@written(np.linalg.matrix_power)
def matrix_power(a, n):
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
        for r in range(c + 1, n):
            factor = u[r, c] / u[c, c]
            for k in range(c, n):
                u[r, k] = u[r, k] - factor * u[c, k]
    return sign, total


@written(np.rot90)
def rot90(m, k=1):
    turns = k % 4
    if turns == 0:
        return m[:]
    if turns == 1:
        return m[:, ::-1].T
    if turns == 2:
        return m[::-1, ::-1]
    return m.T[:, ::-1]


# -- whole numbers -------------------------------------------------------------------------------


@written(math.gcd)
def gcd(a, b):
    a = abs(a)
    b = abs(b)
    while b != 0:
        kept = a % b
        a = b
        b = kept
    return a


@written(math.isqrt)
def isqrt(n):
    root = int(math.sqrt(n))
    while root * root > n:
        root = root - 1
    while (root + 1) * (root + 1) <= n:
        root = root + 1
    return root


# -- parts of arrays -----------------------------------------------------------------------------


@written(np.diag_indices)
def diag_indices(n, ndim=2):
    line = np.arange(n)
    return (line,) * ndim


@written(np.isin)
def isin(element, test_elements, *, invert=False):
    found = np.any(element[..., None] == test_elements.ravel(), axis=-1)
    return ~found if invert else found


@written(np.ediff1d)
def ediff1d(ary):
    return np.diff(ary.ravel())


@written(np.shape)
def shape(a):
    return a.shape


@written(np.ndim)
def ndim(a):
    return a.ndim


@written(np.size)
def size(a, axis=None):
    return a.size if axis is None else a.shape[axis]
