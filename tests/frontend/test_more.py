"""Ordinary constructs that programs outside of benchmarks are full of, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

A, X, Y = data(6, 5), data(5), data(5, seed=1)
HOLES = np.array([[1.0, np.nan, -2.0], [np.nan, np.nan, 4.0], [np.inf, np.nan, -np.inf]])
PLACES = np.array([2, 0, 2, 1, 0])


@pytest.mark.parametrize(
    "body",
    [
        "for i, row in enumerate(A):\n    s = s + i * row.sum()\nreturn s",
        "for k, v in enumerate(x, start=1):\n    y[k - 1] = v / (1 - 0.9**k)",
        "for a, b in zip(x, y):\n    s = s + a * b\nreturn s",
        "for i, (a, b) in enumerate(zip(x, y)):\n    A[i] = a * A[i] + b",
        "for i, a in zip(range(5), x):\n    y[i] = y[i] - a",
        "for c, v in zip((1, 2, 3, 4, 5), x):\n    y[c - 1] = c * v",
        "return A[range(5), range(1, 6)] if False else A[range(5), range(5)]",
        "A[2] = A[2] / A[2, 1]",
        "A[:, 1] *= A[3, 1]\nA[1:, 2] = A[1:, 2] - A[4, 2] * x",
        "return np.linalg.norm(A, axis=1, keepdims=True), np.linalg.norm(A, 1, 0, True)",
        "return np.polyval(x, A), np.polyval((1.0, -2.0, s), y)",
        "return np.fmax(x, y), np.fmin(A, x)",
        "best = float('inf')\nfor v in x:\n    best = min(best, v)\nreturn best, float('-inf')",
        "return np.arange(n), np.arange(n, m), np.linspace(n, m, 4), np.rint(k), np.round(k)",
        "y[0] = 2 * (k.max() and s) + ((k.min() + 2) or x[1])\nreturn (n and s) * 2.0",
        "return n >> m, -n >> m, n >> 70",
        "pop = np.zeros(3, dtype=int)\nfor i in range(3):\n    pop[i] = b.sum()\nreturn pop",
    ],
)
def test_loops_give_the_same(body):
    whole, narrow = np.arange(-2, 3), np.arange(5, dtype=np.uint8)
    numbers = np.int32(1), np.int32(65), whole, narrow
    check(function(body, "A, x, y, s, n, m, k, b"), A, X, Y, 0.5, *numbers)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_that_are_missing(dtype):
    body = """sums = np.nansum(x), np.nansum(x, axis=0), np.nanmean(x, axis=1), np.isnan(x).sum()
filled = np.nan_to_num(x), np.nan_to_num(x, nan=-1.0, posinf=3.0)
return (*sums, *filled, np.nanmax(x, axis=0), np.nanmin(x))"""
    check(function(body, "x"), HOLES.astype(dtype))


def test_sums_at_places():
    body = """np.add.at(y, i, x)
np.subtract.at(A, (i, i), 2.0)
c = np.zeros(5, dtype=int)
np.add.at(c, i, 1)
return c"""
    check(function(body, "A, x, y, i"), A, X, Y, PLACES)


def test_numpys_functions_give_numpys_numbers_of_pythons():
    body = "return x / np.sqrt(x.shape[0]), x * math.sqrt(2.0), np.maximum(1, s), x * np.exp(-s)"
    check(function(body, "x, s"), X.astype(np.float32), 2.0)


def test_a_check_of_arguments_is_a_condition():
    body = """assert x.ndim == 1, "a line"
if x.shape[0] != y.shape[0]:
    raise ValueError("lengths")
if not 0 < s < 1:
    raise ValueError(f"s is {s}")
return s * x + (1 - s) * y"""
    demanding = function(body, "x, y, s")
    lowered = check(demanding, X, Y, 0.5)
    assert not lowered.holds(X, Y, 1.5)
    with pytest.raises(LoweringError, match="refuses these arguments"):
        lower(demanding, [X, Y, 1.5])


def test_a_variable_may_be_called_size():
    x = data(40)
    check(function("size = x.sum()\nsize = size * 2.0\nreturn x.max() + size", "x"), x)
