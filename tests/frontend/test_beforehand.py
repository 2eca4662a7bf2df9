"""What NumPy computes of arguments in front of the kernel."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook

from .kit import check, data, function

FIRST = [
    "return np.sort(x), x.argsort(), x.argsort(kind='stable'), np.argsort(np.argsort(x))",
    "return np.sort(A, axis=0), np.argsort(A), np.argsort(A, axis=0, kind='stable')",
    "return np.lexsort((x, k)), np.lexsort((k, x, k))",
    "u, i, v, c = np.unique(k, return_index=True, return_inverse=True, return_counts=True)\n"
    "return u, i, v, c, np.bincount(v, weights=x) / c, len(u)",
    "return np.unique(x), np.unique(A, return_inverse=True), np.unique(k)",
    "s, o = np.sort(x), np.argsort(x)\ns[0] = 7.0\ny = s * 2\nx[:] = 0.0\nreturn s, y, o",
    "def rank(a):\n    r = np.empty(len(a))\n    r[np.argsort(a)] = np.arange(len(a))\n"
    "    return r\nreturn rank(x), rank(k)",
]

LATER = [
    "x[0] = 9.0\nreturn np.sort(x)",
    "s = 0.0\nfor i in range(3):\n    s += np.sort(x)[i]\n    x[i] = 9.0\nreturn s",
    "return np.sort(x[1:]), np.sort(2 * x), np.sort(A, axis=None)",
    "y = x\ny[0] = 9.0\nreturn np.unique(x)",
    "return np.sort(x) if x[0] > 5.0 else x",
]


def given(dtype):
    x = data(40)
    x[3] = np.nan
    return data(40, 30), x, (3 * data(40, seed=2)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32])
@pytest.mark.parametrize("body", FIRST)
def test_lines_that_are_passed_are_sorted_by_numpy(body, dtype):
    lowered = check(function(body, "A, x, k"), *given(dtype))
    assert "blocks_" not in lowered.kernel_source
    assert any("np." in text for _, text in lowered.before)


@pytest.mark.parametrize("body", LATER)
def test_others_are_sorted_where_they_are_computed(body):
    lowered = check(function(body, "A, x, k"), *given(np.int64))
    assert not any("sort" in text or "unique" in text for _, text in lowered.before)


def groups(x, k):
    keys, places, counts = np.unique(k, return_inverse=True, return_counts=True)
    sums = np.bincount(places, weights=x)
    return keys, sums / counts, np.argsort(k), np.sort(x)


def test_equal_numbers_are_in_numpys_order_at_any_size():
    program = loopbook.native(groups, strict=True)
    for size in (5, 700, 64, 1):
        x, k = data(size), np.arange(size) % 4
        for got, want in zip(program(x, k), groups(x, k), strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want)
