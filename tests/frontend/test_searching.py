"""Places in sorted lines, and values between points, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

LINE = np.array([-1.5, -0.5, 0.0, 0.0, 0.7, 1.5])
X = np.array([-3.0, -1.5, -0.7, 0.0, 0.1, 0.7, 1.4, 1.5, 9.0])
HOLES = np.array([np.nan, 0.0, np.inf, -np.inf])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int32])
@pytest.mark.parametrize("size", [0, 1, 6])
def test_places_in_a_line(dtype, size):
    body = """one = np.searchsorted(a, x), np.searchsorted(a, x, side='right'), np.digitize(x, a)
two = a.searchsorted(x[::2]), np.searchsorted(a, 0.5), np.digitize(x, a, right=True)
return (*one, *two, np.searchsorted(a * 2, x.reshape(3, 3), "right"))"""
    line = (LINE * 2).astype(dtype)[:size]
    check(function(body, "a, x"), line, X.astype(dtype))
    check(function(body, "a, x"), line, X)


def test_what_is_no_number_belongs_to_the_end():
    places = "np.searchsorted(b, x), np.searchsorted(b, x, 'right'), np.searchsorted(b, a)"
    body = f"b = a + 0\nreturn {places}"
    check(function(body, "a, x"), np.append(LINE, [np.nan, np.nan]), HOLES)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("size", [1, 2, 6])
def test_values_between_points(dtype, size):
    body = """one = np.interp(x, a, f), np.interp(x, a, f, left=s, right=-1), np.interp(s, a, f)
return (*one, np.interp(x.reshape(3, 3), a, f * 2), np.interp(a, a, f))"""
    line = (np.cumsum([1, 3, 2, 4, 1, 1]) - 5).astype(dtype)[:size]
    check(function(body, "x, a, f, s"), X.astype(dtype), line, data(size, dtype=dtype), 0.4)


def test_values_between_infinite_points():
    f = np.array([1.0, np.inf, np.inf, 2.0, -np.inf, np.nan])
    for line in (np.sort(data(6)), np.array([-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf])):
        check(function("return np.interp(x, a, f)", "x, a, f"), np.append(X, HOLES), line, f)


def test_edges_that_fall_are_another_case():
    kernel = function("return np.digitize(x, a)", "a, x")
    assert not check(kernel, LINE, X).holds(LINE[::-1].copy(), X)
    with pytest.raises(LoweringError, match="same length"):
        lower(function("return np.interp(x, a, x)", "a, x"), [LINE, X])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("end", [[], [-9.0], [np.nan, 9.5]])
def test_the_first_of_the_best_elements_is_found_block_by_block(dtype, end):
    body = "return x.argmin(), np.argmax(x), np.argmin(x[::2]), y.argmax(), np.argmin(y, axis=1)"
    x = np.round(data(700, dtype=dtype), 1)
    if end and dtype != "int64":
        x[300 : 300 + len(end)] = x[600 : 600 + len(end)] = end
    check(function(body, "x, y"), x, x[:696].reshape(2, 348))


def test_lines_whose_length_only_the_loops_know():
    body = """ok = ~np.isnan(x)
places = np.arange(len(x))
y = x.copy()
y[~ok] = np.interp(places[~ok], places[ok], x[ok])
steps = np.unique(x[ok])
return y, np.searchsorted(steps, x), np.digitize(x, steps)"""
    line = np.array([np.nan, 2.0, np.nan, np.nan, 1.0, 2.0, np.nan])
    holes = function(body, "x")
    lowered = check(holes, line)
    check(holes, np.ones(7))
    with pytest.raises(LoweringError):  # NumPy raises
        lowered.plain(np.full(7, np.nan))
