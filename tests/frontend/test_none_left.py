"""Selections in which nothing is left, and slices that begin behind their end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import agree, check, data, flat, function

X, FULL, NONE = data(12), -1.0, 9.0
"""Numbers, of which more than the last one are greater than the second, and none than the third."""

RAISING = {
    "the first": "return x[x > t][0]",
    "the last": "y = x[x > t]\nreturn y[-1]",
    "of places": "return np.flatnonzero(x > t)[0], np.where(x > t)[0][-1]",
    "in the middle": "y = np.sort(x[x > t])\nn = len(y)\nreturn y[n // 2]",
    "a row": "y = np.stack((x, x), 1)[x > t]\nreturn y[-1, 1]",
    "stored": "y = x[x > t]\ny[0] = 2.0\nreturn y",
    "in a loop": "for i in range(3):\n    t = t + np.flatnonzero(x > t)[0]\nreturn t",
    "percentiles": "return np.percentile(x[x > t], 30)",
    "quantiles": "return np.quantile(x[x > t], (0.25, 0.5))",
}

GIVING = {
    "the median": "return np.median(x[x > t])",
    "of whole numbers": "return np.median((x[x > t] * 4).astype(int))",
    "of columns": "return np.median(np.stack((x, x * 2), 1)[x > t], axis=0)",
    "of rows": """r = np.zeros(2)
for i in range(2):
    r[i] = np.median(x[x > t + 9 * i])
return r""",
    "differences": "return np.diff(x[x > t]), np.diff(np.flatnonzero(x > t)).size",
    "the rest": "y = x[x > t]\nreturn y[1:], y[2:].size, len(y[1:-1]), y[3:].sum()",
    "a new one": "y = x[x > t]\nz = np.zeros(len(y[1:]))\nz[:] = y[1:]\nreturn z",
    "joined": "y = x[x > t]\nreturn np.concatenate((y[1:], x)), np.concatenate((y[2:], y[:2]))",
    "looked for": """i = np.flatnonzero(x > t)
if i.size > 0 and x[i[0]] > -5:
    return int(i[0])
return -1""",
    "one or none": "y = x[x > t]\nreturn y[0] if len(y) else -1.0",
}


@pytest.mark.parametrize("body", GIVING.values(), ids=GIVING)
def test_nothing_gives_what_numpy_gives(body):
    kernel = function(body, "x, t")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lowered = check(kernel, X, FULL)
        for limit in (NONE, np.sort(X)[-2], np.sort(X)[-3]):
            agree(flat(kernel(X, limit)), flat(lowered.plain(X, limit)), lowered.source)


@pytest.mark.parametrize("body", RAISING.values(), ids=RAISING)
def test_what_is_not_there_is_left_to_python(body):
    kernel = function(body, "x, t")
    lowered = lower(kernel, (X, FULL))
    assert lowered is not None
    agree(flat(kernel(X.copy(), FULL)), flat(lowered.plain(X.copy(), FULL)), lowered.source)
    with pytest.raises(IndexError):
        kernel(X, NONE)
    with pytest.raises(SupposedError):
        lowered.plain(X, NONE)


def test_slices_that_begin_behind_their_end():
    body = """for i in range(len(low)):
    part = x[low[i] : high[i]]
    out[i] = part.sum() + len(part) + x[low[i] : high[i]].size
return x[low[0] : high[0]]"""
    low, high = np.array([5, 2, 7, 0, -3]), np.array([3, 9, 7, 40, 1])
    check(function(body, "x, low, high, out"), X, low, high, data(5))


def test_a_loop_goes_on_while_there_is_something_left():
    body = "n, i = 0, int(x[0])\nwhile i < 9:\n    n += x[i:7].size\n    i += 1\nreturn n"
    check(function(body, "x"), np.arange(4.0, 16.0))


@pytest.mark.parametrize("window", ["hanning", "hamming", "blackman", "bartlett"])
def test_windows_of_one_are_left_to_python(window):
    kernel = function(f"return np.{window}(n)", "n")
    assert not check(kernel, 8).holds(1)


def test_places_at_even_distances_are_rounded_down():
    body = "return np.linspace(a, b, 4, dtype=int), np.linspace(a, b, 1, dtype=int)"
    check(function(body, "a, b"), 0.0, -0.5)
    check(function(body, "a, b"), -2.5, 7.25)
