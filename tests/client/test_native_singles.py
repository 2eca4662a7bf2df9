"""Floats of 32 bits beside Python's numbers, and tests for equality: the last place decides."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.frontend import lower

pytestmark = pytest.mark.usefixtures("no_book")

TENTHS = (np.arange(200) * 0.1).astype(np.float32)


def bins(a, h):
    counts = np.zeros(3, np.int64)
    for i in range(a.shape[0]):
        if a[i] == 0.1 * h:
            counts[0] += 1
        elif a[i] > h:
            counts[1] += int(a[i] / h)
    return counts, (a * h).astype(int), np.floor(a / h), a * 0.3, (a + h > 1.1).sum()


def computed(a, n):
    h = 1.0 / len(a)
    t, s = 0.5 * n, np.float64(0.3)
    u = t * 2
    return np.floor(a / h), (a * u * 100).astype(int), a * s, a > t, np.fmod(a, 0.1), a == s


def over(a, h):
    for i in range(a.shape[0]):
        if a[i] > h:
            a[i] = -1.0


def kinds(a, b, c):
    d = b * b - 4 * a * c
    return np.where(d > 0, 2, np.where(d == 0, 1, 0)), (a / 3 * 3 == a).sum()


@pytest.mark.parametrize("kind", [float, np.float32, np.float64, int])
def test_numbers_are_rounded_as_numpy_rounds_them(kind):
    compiled = loopbook.native(bins, strict=True)
    for value in (0.1, 10.0) if kind is not int else (1, 10):
        for one, other in zip(
            compiled(TENTHS, kind(value)), bins(TENTHS, kind(value)), strict=True
        ):
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", [3, 0.1])
def test_numbers_that_the_function_computes_first_are_rounded_too(n):
    compiled = loopbook.native(computed, strict=True)
    for one, other in zip(compiled(TENTHS, n), computed(TENTHS, n), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("value", [0.1, np.float32(0.1), 0.5])
def test_loops_that_docc_could_read_are_written_out_where_it_would_compare_otherwise(value):
    equal = np.full(20, value, np.float32)
    loopbook.native(over, strict=True)(equal, value)
    assert (equal > 0).all()
    assert lower(over, [equal, value]) is not None
    assert lower(over, [equal.astype(np.float64), float(value)]) is None


def test_what_asks_for_equality_is_computed_in_numpys_order():
    k = np.arange(1, 10)
    args = np.full(9, 0.1), 0.2 * k, 0.1 * k**2
    for one, other in zip(loopbook.native(kinds, strict=True)(*args), kinds(*args), strict=True):
        np.testing.assert_array_equal(one, other)
