"""Indices that may be negative, in functions of loops: they count from the end."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.frontend import lower

from .kit import check, data, function

MAY_BE_NEGATIVE = [
    "for i in range(n):\n    x[i] = y[k - 1] + i",
    "for i in range(n):\n    x[i] = y[p[i]]",
    "x[k - 1] = 2.0",
    "for i in range(n):\n    x[i] = y[i - 1]",
    "for i in range(2, n):\n    x[i] = y[i - k]",
    "for i in range(n // 2):\n    x[i] = y[i * k]",
    "for i in range(3):\n    x[n - 3 - i] = y[i]",  # of fewer than five
    "for i in range(-k, 2):\n    x[i] = y[i]",
    "for i in range(3):\n    x[min(k, i)] = y[max(k, -i)]",
    "m = k\nfor i in range(3):\n    low = max(m, p[i])\n    x[i] = y[low]\n    m = m - 1",
]

NEVER_NEGATIVE = [
    "for i in range(1, n):\n    x[i] = y[i - 1]",
    "for i in range(n):\n    for j in range(i):\n        x[i - j - 1] = y[j]",
    "for i in range(n - 1, 0, -1):\n    x[i] = y[i - 1]",
    "x[n - 1] = y[n - 2]",
]

BETWEEN_ENDS = [
    "for i in range(n):\n    for j in range(max(0, i - 2), min(n, i + 3)):\n        x[i] += y[j]",
    "for i in range(n):\n    x[i] = y[max(i - 1, 0)] + y[min(i + 1, n - 1)]",
    "for i in range(n):\n    for j in range(max(0, -k), min(n, n - k)):\n        x[j] += y[j + k]",
    "for i in range(n):\n    low = max(i - 2, 0, k)\n    x[i] = y[low] * y[min(low + 2, n - 1)]",
]
"""Whatever k is, as each is no less than one of several numbers."""


@pytest.mark.parametrize("body", MAY_BE_NEGATIVE)
def test_an_index_that_may_be_negative_counts_from_the_end(body):
    kernel = function(f"n = x.shape[0]\n{body}", "x, y, p, k")
    for k in (2, 1, 0, -1, -2):
        places = np.array([k, 0, 1, 2, -1, -2, 0])
        args = data(7), data(7) + 1.0, places, k
        try:
            kernel(*(a.copy() if isinstance(a, np.ndarray) else a for a in args))
        except IndexError:
            continue
        check(kernel, *args)


def test_what_was_seen_of_a_factor_is_asked_again():
    kernel = function("for i in range(3):\n    x[i] = y[i * k]", "x, y, k")
    lowered = check(kernel, data(7), data(7), 2)
    assert not lowered.holds(data(7), data(7), -1)


@pytest.mark.parametrize("body", NEVER_NEGATIVE)
def test_loops_whose_indices_are_never_negative_stay_as_they_are(body):
    kernel = function(f"n = x.shape[0]\n{body}", "x, y, k")
    assert lower(kernel, (data(7), data(7), 3)) is None


@pytest.mark.parametrize("body", BETWEEN_ENDS)
@pytest.mark.parametrize("k", [2, -2])
def test_indices_between_ends_are_never_negative(body, k):
    kernel = function(f"n = x.shape[0]\n{body}", "x, y, k")
    lowered = lower(kernel, (data(7), data(7), k))
    if lowered is not None:  # some stay as they are
        assert "< 0" not in check(kernel, data(7), data(7) + 1.0, k).kernel_source


SLICES = "for k in range(-2, 3):\n    x[max(0, -k) : n] += y[max(0, -k) : n] * k"


@pytest.mark.parametrize("body", [BETWEEN_ENDS[0], SLICES])
def test_docc_computes_with_no_greatest_of_numbers(body):
    """With ``max(0, i - 2)`` as the start of a loop it crashes."""
    kernel = function(f"n = x.shape[0]\n{body}", "x, y")
    got, want, y = data(7), data(7), data(7) + 1.0
    loopbook.native(kernel, strict=True)(got, y)
    kernel(want, y)
    np.testing.assert_allclose(got, want)
