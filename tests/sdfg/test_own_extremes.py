"""Python's own ``max`` and ``min``, of data with a NaN or a zero below 0 after the compile."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import loopbook
from loopbook.frontend import lower
from loopbook.sdfg.known_wrong.nans import are_pythons

WIDTH = 9


def greatest(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            m = max(m, x[i, j])
        y[i] = m


def least_and_greatest(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        h = 0.0
        for j in range(1, x.shape[1]):
            m = min(m, x[i, j])
            h = max(h, x[i, j] * x[i, j])
        y[i] = m + h


def constants(x, y):
    for i in range(y.shape[0]):
        y[i] = max(x[i, 0], 0.0) - min(0.0, x[i, 1]) + max(0, x[i, 2])


def pool(x, y):
    for i in range(y.shape[0]):
        m = x[i, 0]
        m = max(m, x[i, 1])
        m = max(m, x[i, 2])
        y[i] = max(m, x[i, 3])


def of_extremes(x, y):
    for i in range(y.shape[0]):
        y[i] = max(max(x[i, 0], x[i, 1]), min(x[i, 2], x[i, 3]))


def down_columns(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = min(x[i, j], x[i, 0])
        y[i] = x[i, 0]


IN_VECTORS = [greatest, least_and_greatest]
"""Which of two zeros is found is not said there, as with NumPy's."""

KERNELS = [*IN_VECTORS, constants, pool, of_extremes, down_columns]


@pytest.fixture(scope="module")
def compiled():
    programs = {}
    for kernel in KERNELS:
        for dtype in ("f", "d"):
            programs[kernel, dtype] = loopbook.native(kernel, strict=True)
            programs[kernel, dtype](np.ones((8, WIDTH), dtype), np.ones(8, dtype))
    return programs


ELEMENTS = st.sampled_from([np.nan, 0.0, -0.0, np.inf, -np.inf, 1.5, -2.5])


@given(rows=st.lists(st.lists(ELEMENTS, min_size=WIDTH, max_size=WIDTH), min_size=8, max_size=8))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_first_one_stays_unless_the_second_one_is_more(compiled, kernel, dtype, rows):
    x = np.array(rows, dtype)
    found, expected = np.zeros((2, 8), dtype)
    changed, theirs = x.copy(), x.copy()
    compiled[kernel, dtype](changed, found)
    with np.errstate(all="ignore"):
        kernel(theirs, expected)
    for one, other in ((found, expected), (changed, theirs)):
        np.testing.assert_array_equal(one, other)
        numbers = ~np.isnan(other)
        assert kernel in IN_VECTORS or (np.signbit(one) == np.signbit(other))[numbers].all()


def numpys(x, y):
    for i in range(y.shape[0]):
        y[i] = max(np.maximum(x[i, 0], x[i, 1]), 0.0)


def array(x, y):
    y[:] = np.maximum(x[:, 0], x[:, 1])


def test_numpys_are_others():
    assert are_pythons(pool)
    assert not are_pythons(numpys)
    lowered = lower(array, [np.ones((8, WIDTH)), np.ones(8)])
    assert lowered is not None
    assert not are_pythons(lowered.kernel)
