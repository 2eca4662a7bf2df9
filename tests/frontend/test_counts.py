"""Counts of whole numbers, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

PLACES = np.array([2, 0, 5, 2, 1, 0])


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8, np.int16, np.bool_])
def test_counts(dtype):
    body = """c = np.bincount(i), np.bincount(i, minlength=n), np.bincount(i, None, 2 * n)
w = np.bincount(i, weights=x, minlength=n), np.bincount(i, x), np.bincount(i, i > 0)
return (*c, *w, np.bincount(i) / x.size)"""
    check(function(body, "i, x, n"), PLACES.astype(dtype), data(6), 3)
    check(function(body, "i, x, n"), PLACES.astype(dtype), data(6, dtype=np.float32), 9)


def test_counts_of_none_and_one():
    body = "return np.bincount(i), np.bincount(i, x), np.bincount(i, minlength=3)"
    for size in (0, 1):
        check(function(body, "i, x"), PLACES[:size], data(size))


def test_counts_up_to_what_the_loops_find():
    body = """n = max(i.max(), k.max()) + 1
both = np.bincount(i * n + k, minlength=n * n).reshape(n, n)
sums = np.zeros(3 * n)
np.add.at(sums, 3 * i + 1, x)
sums = sums.reshape(n, 3)
sums[:, 0] += 1
pairs = x[x > 0][: 2 * (np.sum(x > 0) // 2)].reshape(-1, 2)
one = np.bincount(i, minlength=n), np.bincount(i, x, minlength=n)
return both, np.diag(both), both.T @ np.ones(n), sums, pairs.mean(axis=0), *one"""
    check(function(body, "i, k, x"), PLACES, PLACES[::-1], data(6))
    check(function(body, "i, k, x"), PLACES[:1] * 0, PLACES[1:2], np.ones(1))


def test_an_image_is_counted_whatever_its_size():
    body = "h = np.bincount(A.ravel(), minlength=256)\nreturn h, h.cumsum()[A], h.sum()"
    check(function(body, "A"), PLACES.reshape(2, 3).astype(np.uint8))
    check(function(body, "A"), PLACES.reshape(2, 3))


def test_the_length_is_that_of_each_call():
    kernel = function("return np.bincount(i)", "i")
    lowered = check(kernel, PLACES)
    assert lowered.holds(PLACES + 4)
    np.testing.assert_array_equal(lowered.plain(PLACES + 4), kernel(PLACES + 4))
    assert not lowered.holds(PLACES - 1)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "for k in range(2):\n    c = np.bincount(i)\n    i[0] = 9\nreturn c",
            "copy it first",
        ),
        ("return np.bincount(x)", "astype"),
        ("return np.bincount(i, x[1:])", "weights"),
    ],
)
def test_lengths_that_only_loops_could_find_out_are_refused(body, said):
    with pytest.raises(LoweringError, match=said):
        lower(function(body, "i, x"), [PLACES, data(6)])


def test_a_computed_length_and_what_is_as_long():
    """Points in the boxes of a grid, of which there are as many as the loops find."""
    body = """b = np.floor(A / s).astype(np.int64)
d = b.max(axis=0) + 1
k = b[:, 0] * d[1] + b[:, 1]
n = np.bincount(k, minlength=d.prod())
z = np.zeros((d.prod(), 2))
for a in range(2):
    z[:, a] = np.bincount(k, weights=A[:, a], minlength=d.prod())
return z[n > 0] / n[n > 0][:, None]"""
    check(function(body, "A, s"), np.abs(data(30, 2)), 0.7)


def test_weights_may_be_of_a_length_that_only_the_loops_know():
    def shares(ends, columns):
        n = len(ends) - 1
        degree = np.diff(ends)
        source = np.repeat(np.arange(n), degree)
        return np.bincount(columns, weights=1.0 / degree[source], minlength=n)

    ends, columns = np.array([0, 2, 2, 5]), np.array([2, 0, 1, 1, 0])
    lowered = check(shares, ends, columns)
    assert lowered.failed  # another number of weights is left to NumPy


@pytest.mark.parametrize(
    "body", ["np.bincount(i[:3])", "np.bincount(i[1:])", "np.bincount(i[:-2], x)"]
)
def test_a_part_of_an_argument_has_a_greatest_number_of_its_own(body):
    x = np.array([0.5, 1.5, 2.5])
    for i in ([0, 2, 2, 5, 1], [7, 2, 2, 5, 1]):
        check(function(f"return {body}", "i, x"), np.array(i), x)
