"""Calls that leave an array raise as in Python: compiled code would read or write other memory."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.errors import InterpretedWarning, SdfgError


def copied(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i] + 1.0


def stored(x, i):
    x[i] = 7.0


def smoothed(x, y, n):
    for i in range(1, n):
        y[i] = x[i - 1] + x[i + 1]


def multiplied(A, B, C, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]


def moved(x, k):
    for i in range(x.shape[0]):
        if i + k < x.shape[0]:
            x[i] = x[i + k]


def doubled(A, i):
    A[i, :] = A[i, :] * 2.0


def long(n: int) -> np.ndarray:
    """An array with room around it, so that a fault cannot hurt the test."""
    return np.arange(4.0 * n)[n : 2 * n]


def square(n: int) -> np.ndarray:
    return np.arange(4.0 * n * n)[n * n : 2 * n * n].reshape(n, n)


CALLS = [
    (copied, lambda: (long(40), long(50)), lambda: (long(50), long(40))),
    (stored, lambda: (long(40), -40), lambda: (long(40), 40)),
    (stored, lambda: (long(40), 39), lambda: (long(40), -41)),
    (smoothed, lambda: (long(40), long(40), 39), lambda: (long(40), long(40), 40)),
    (multiplied, lambda: (*map(square, (8, 8, 8)), 8), lambda: (*map(square, (8, 8, 8)), 9)),
    (moved, lambda: (long(40), -40), lambda: (long(40), -41)),
    (moved, lambda: (long(40), 400), lambda: (long(40), -400)),
    (doubled, lambda: (square(8), 7), lambda: (square(8), 8)),
    (doubled, lambda: (square(8), -8), lambda: (square(8), -9)),
]


@pytest.mark.filterwarnings("ignore::loopbook.errors.InterpretedWarning")
@pytest.mark.parametrize(("func", "within", "outside"), CALLS)
def test_python_raises(func, within, outside):
    native = loopbook.native(func)
    for _ in range(3):  # the first call, and the short way
        expected, args = within(), within()
        func(*expected)
        native(*args)
        assert all(map(np.array_equal, args, expected))
        expected, args = outside(), outside()
        with pytest.raises(IndexError):
            func(*expected)
        with pytest.raises(IndexError), pytest.warns(InterpretedWarning, match="out of range"):
            loopbook.native(func)(*args)
        assert all(map(np.array_equal, args, expected))  # as far as Python had come
        with pytest.raises(IndexError):
            native(*outside())


def test_a_call_that_is_checked_raises_too():
    native = loopbook.native(stored, check=True)
    with pytest.raises(IndexError), pytest.warns(InterpretedWarning, match="out of range"):
        native(long(40), 40)
    native(x := long(40), 39)
    assert x[39] == 7.0
    with pytest.raises(SdfgError, match="out of range"):
        loopbook.native(stored, check=True, strict=True)(long(40), 40)


def test_strict_says_so():
    native = loopbook.native(stored, strict=True)
    native(long(40), 3)
    x = long(40)
    with pytest.raises(SdfgError, match="out of range"):
        native(x, 40)
    assert np.array_equal(x, long(40))


def test_within_bounds_nothing_runs_as_python(recwarn):
    native = loopbook.native(smoothed)
    for n in (0, 1, 5, 39):
        x, y = long(40), long(40)
        native(x, y, n)
    assert not [one for one in recwarn if one.category is InterpretedWarning]
