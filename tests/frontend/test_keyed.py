"""``max``, ``min`` and ``sorted`` by a key."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

BEST = [
    "return max(range(len(x)), key=lambda i: x[i]), min(range(1, 8, 3), key=x.__getitem__)",
    "i = min(range(len(x)), key=lambda k: abs(x[k] - s))\nx[i] = 9\nreturn i",
    "return max(x, key=abs), min(x, key=lambda v: (v - s) ** 2)",
    "def far(i):\n    return (x[i] - s) ** 2\nreturn max(range(len(x)), key=far)",
    "o = np.zeros(4)\nfor i in range(4):\n    o[i] = max(range(4), key=lambda j: x[i] * x[j])\n"
    "return o",
    "o = []\nfor v in x:\n    if v < 9:\n        o.append(v)\nreturn max(o, key=lambda v: -v)",
]
SORTED = [
    "return sorted(range(len(x)), key=lambda i: x[i])",
    "return sorted(range(len(x)), key=lambda i: x[i] // 1 % 3, reverse=True)",
    "return np.array(sorted(x, key=abs)), np.array(sorted(x, key=abs, reverse=True))",
    "r = 0.0\nfor i in sorted(range(1, 8, 2), key=lambda i: -x[i]):\n    r = r / 2 + x[i]\n"
    "return r",
]


@pytest.mark.parametrize("body", BEST)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_the_first_of_the_best_is_given(body, dtype):
    check(function(body, "x, s"), data(9, dtype=dtype), 0.3)
    check(function(body, "x, s"), np.array([2, 2, -3, 1, -3, 3, 3, 0, 1], dtype), 0.3)


@pytest.mark.parametrize("body", SORTED)
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint8])
def test_items_of_one_key_stay_in_their_order(body, dtype):
    kernel = function(body, "x")
    for x in (data(9, dtype=dtype), np.array([2, 2, 7, 1, 7, 3, 3, 0, 1], dtype)):
        lowered = lower(kernel, [x])
        assert lowered is not None
        expected, got = kernel(x), lowered.plain(x)
        if isinstance(expected, list):
            assert (expected, set(map(type, expected))) == (got, set(map(type, got)))
        else:
            np.testing.assert_array_equal(expected, got)


@pytest.mark.parametrize("place", [0, 3, 6])
@pytest.mark.parametrize("body", [BEST[0], BEST[2], SORTED[0], SORTED[2]])
def test_keys_that_are_no_numbers_are_pythons(body, place):
    lowered = lower(function(body, "x, s"), [data(9), 0.3])
    assert lowered is not None
    x, called = data(9), []
    x[place] = np.nan
    lowered.wrap(lowered.plain_kernel, lambda *args: called.append(args))(x, 0.3)
    assert len(called) == 1


def test_keys_of_several_numbers_are_refused():
    with pytest.raises(LoweringError, match="keys that are no numbers"):
        lower(function("return max(range(9), key=lambda i: (x[i], i))", "x"), [data(9)])
