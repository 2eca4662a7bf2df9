"""Comparisons with a NaN, in data that has it from the first call on and in data that gets it."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import loopbook
from loopbook.frontend import lower

pytestmark = pytest.mark.usefixtures("no_book")

NAN, INF = math.nan, math.inf
LEFT = [1.0, NAN, 2.0, NAN, 5.0, -0.0, INF, -INF]
RIGHT = [2.0, 1.0, NAN, NAN, 4.0, 3.5, NAN, 1.0]


def branches(a, b, r):
    for i in range(a.shape[0]):
        x = a[i]
        y = b[i]
        if x < y:
            r[i, 0] = 1.0
        else:
            r[i, 0] = 2.0
        if not x >= y:
            r[i, 1] = 1.0
        if x == y or y < 3.0:
            r[i, 2] = 1.0
        if x > 0.0 and x != y:
            r[i, 3] = 1.0
        less = x <= y
        if not less:
            r[i, 4] = 1.0
        k = 0
        s = x
        while s < y and k < 3:
            s = s + 1.0
            k = k + 1
        r[i, 5] = k


def arrays(a, b, r):
    r[:, 0] = np.maximum(a, b)
    r[:, 1] = np.minimum(a, 1.5)
    r[:, 2] = np.where(a > b, a, b)
    r[:, 3] = np.clip(a, -1.0, 1.0)
    r[:, 4] = np.isnan(a) + 2.0 * np.isinf(b)
    last = r[:, 5]
    last[~(a < b)] = 1.0
    return a.max(), np.isfinite(a).sum(), np.fmax(a, b), np.fmin(a, b), np.sign(a), max(b[0], a[1])


@pytest.mark.parametrize(
    ("function", "dtype"), [(branches, float), (arrays, float), (arrays, np.float32)]
)
def test_a_comparison_with_a_nan_is_false(function, dtype):
    given = np.array(LEFT, dtype), np.array(RIGHT, dtype)
    program = loopbook.native(function, strict=True)
    for pair in (given, given[::-1], (np.ones(8, dtype), np.ones(8, dtype))):
        got, want = np.zeros((8, 6)), np.zeros((8, 6))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answer, expected = program(*pair, got), function(*pair, want)
        np.testing.assert_array_equal(got, want)
        for one, other in zip(answer or (), expected or (), strict=True):
            np.testing.assert_array_equal(one, other)


def test_loops_of_our_own_say_maximum_as_max():
    """What the compiler's header turns into NumPy's."""
    lowered = lower(arrays, [np.ones(8), np.ones(8), np.zeros((8, 6))])
    assert lowered is not None
    assert "max(" in lowered.kernel_source
