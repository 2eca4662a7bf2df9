"""Python's ``max`` and ``min`` in loops that were translated."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.frontend.lower import lower

NAN = np.nan


def rows(x):
    n, m = x.shape
    out = np.zeros((n, 4))
    for i in range(n):
        top = x[i, 0]
        low = 0.0
        for j in range(m):
            top = max(top, x[i, j])
            low = min(x[i, j], low)
        out[i, 0] = top
        out[i, 1] = low
        out[i, 2] = max(x[i, 1], x[i, 0], 2.5)
        out[i, 3] = min(x[i, 1], x[i, 0])
    return out


def pythons_and_numpys(x):
    n = len(x)
    out = np.zeros(n)
    for i in range(n):
        out[i] = max(x[i], 0.5) + np.maximum(x[i], 0.25)
    return out


def of_two_types(x, y):
    n = len(x)
    best = y[0]
    for i in range(n):
        best = max(best, x[i])
    return best


SPECIAL = np.array(
    [
        [NAN, 1.0, 2.0],
        [1.0, NAN, 2.0],
        [1.0, 2.0, NAN],
        [-0.0, 0.0, -1.0],
        [0.0, -0.0, 3.0],
        [np.inf, -np.inf, NAN],
    ]
)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_they_are_pythons_with_whatever_numbers(dtype):
    given = SPECIAL.astype(dtype)
    lowered = lower(rows, [given])
    assert lowered is not None
    assert lowered.pythons
    want = rows(given)
    np.testing.assert_array_equal(lowered.plain(given), want)
    compiled = loopbook.native(rows, strict=True)
    compiled(np.ones((5, 3), dtype))
    got = compiled(given)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def test_numpys_beside_them_stay_numpys():
    given = np.array([NAN, 1.0, -2.0])
    lowered = lower(pythons_and_numpys, [given])
    assert lowered is not None
    assert not lowered.pythons
    compiled = loopbook.native(pythons_and_numpys, strict=True)
    compiled(np.ones(3))
    np.testing.assert_array_equal(compiled(given), pythons_and_numpys(given))


def test_of_two_types_the_one_that_it_is():
    compiled = loopbook.native(of_two_types)
    single, double = np.array([1, 5, 2], np.float32), np.array([3.0, 9.0])
    for x, y in ((single, double), (double, single), (single + 9, double), (double, double)):
        got, want = compiled(x, y), of_two_types(x, y)
        assert (type(got), got) == (type(want), want)
