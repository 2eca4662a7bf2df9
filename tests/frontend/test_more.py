"""Ordinary constructs that programs outside of benchmarks are full of, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.rounding import is_rounding

from .kit import check, data, function

A, X, Y = data(6, 5), data(5), data(5, seed=1)
HOLES = np.array([[1.0, np.nan, -2.0], [np.nan, np.nan, 4.0], [np.inf, np.nan, -np.inf]])
PLACES = np.array([2, 0, 2, 1, 0])


@pytest.mark.parametrize(
    "body",
    [
        "for i, row in enumerate(A):\n    s = s + i * row.sum()\nreturn s",
        "for k, v in enumerate(x, start=1):\n    y[k - 1] = v / (1 - 0.9**k)",
        "for a, b in zip(x, y):\n    s = s + a * b\nreturn s",
        "for i, (a, b) in enumerate(zip(x, y)):\n    A[i] = a * A[i] + b",
        "for i, a in zip(range(5), x):\n    y[i] = y[i] - a",
        "for c, v in zip((1, 2, 3, 4, 5), x):\n    y[c - 1] = c * v",
        "return A[range(5), range(1, 6)] if False else A[range(5), range(5)]",
        "A[2] = A[2] / A[2, 1]",
        "A[:, 1] *= A[3, 1]\nA[1:, 2] = A[1:, 2] - A[4, 2] * x",
        "return np.linalg.norm(A, axis=1, keepdims=True), np.linalg.norm(A, 1, 0, True)",
        "return np.polyval(x, A), np.polyval((1.0, -2.0, s), y)",
        "return np.fmax(x, y), np.fmin(A, x)",
        "best = float('inf')\nfor v in x:\n    best = min(best, v)\nreturn best, float('-inf')",
        "return np.arange(n), np.arange(n, m), np.linspace(n, m, 4), np.rint(k), np.round(k)",
        "y[0] = 2 * (k.max() and s) + ((k.min() + 2) or x[1])\nreturn (n and s) * 2.0",
        "return n >> m, -n >> m, n >> 70",
        "pop = np.zeros(3, dtype=int)\nfor i in range(3):\n    pop[i] = b.sum()\nreturn pop",
    ],
)
def test_loops_give_the_same(body):
    whole, narrow = np.arange(-2, 3), np.arange(5, dtype=np.uint8)
    numbers = np.int32(1), np.int32(65), whole, narrow
    check(function(body, "A, x, y, s, n, m, k, b"), A, X, Y, 0.5, *numbers)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_that_are_missing(dtype):
    body = """sums = np.nansum(x), np.nansum(x, axis=0), np.nanmean(x, axis=1), np.isnan(x).sum()
filled = np.nan_to_num(x), np.nan_to_num(x, nan=-1.0, posinf=3.0)
return (*sums, *filled, np.nanmax(x, axis=0), np.nanmin(x))"""
    check(function(body, "x"), HOLES.astype(dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_a_polynomial_at_a_number(dtype):
    body = "return np.polyval(x[::-1], 0.5), np.polyval(x, 2), np.polyval(x, x.mean()) * 2"
    lowered = check(function(body, "x"), (10 * X).astype(dtype))
    assert "[()]" not in lowered.kernel_source


def test_sums_at_places():
    body = """np.add.at(y, i, x)
np.subtract.at(A, (i, i), 2.0)
c = np.zeros(5, dtype=int)
np.add.at(c, i, 1)
return c"""
    check(function(body, "A, x, y, i"), A, X, Y, PLACES)


def test_sums_at_as_many_places_as_the_loops_find():
    body = """rows = np.repeat(np.arange(5), i)
np.add.at(y, i, x[rows])
m = x > 0
np.subtract.at(A, i[m], y[m][:, None] * A[rows][m])
return y"""
    check(function(body, "A, x, y, i"), A, X, Y, np.array([2, 0, 1, 2, 0]))


def test_numpys_functions_give_numpys_numbers_of_pythons():
    body = "return x / np.sqrt(x.shape[0]), x * math.sqrt(2.0), np.maximum(1, s), x * np.exp(-s)"
    check(function(body, "x, s"), X.astype(np.float32), 2.0)


def test_a_check_of_arguments_is_a_condition():
    body = """assert x.ndim == 1, "a line"
if x.shape[0] != y.shape[0]:
    raise ValueError("lengths")
if not 0 < s < 1:
    raise ValueError(f"s is {s}")
return s * x + (1 - s) * y"""
    demanding = function(body, "x, y, s")
    lowered = check(demanding, X, Y, 0.5)
    assert not lowered.holds(X, Y, 1.5)
    with pytest.raises(LoweringError, match="refuses these arguments"):
        lower(demanding, [X, Y, 1.5])


def test_a_variable_may_be_called_size():
    x = data(40)
    check(function("size = x.sum()\nsize = size * 2.0\nreturn x.max() + size", "x"), x)


SPREADS = {
    "few": "return np.var(x, ddof=1), np.std(x, ddof=2), x.var(axis=0, ddof=3), np.var(x, ddof=s)",
    "chosen": "return np.var(x[x > -0.9], ddof=1), np.std(x[x > -s], ddof=1)",
    "missing": "y = np.where(x > 0.5, x, np.nan)\n"
    "return np.nanvar(y, ddof=1), np.nanstd(y, ddof=2), np.nanvar(y, axis=0, ddof=1)",
}


@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_there_are_never_fewer_degrees_of_freedom_than_none(name, size):
    for first in (2.0, 0.0):
        x = np.linspace(first, -1.0, size)
        check(function(SPREADS[name], "x, s"), x, 2)


def test_of_whole_numbers_none_is_missing():
    text = "return np.nanmax(A), np.nanmin(A, axis=0), np.nansum(A), np.nanmean(A, 1), np.nanvar(A)"
    text += ", np.nanargmax(A), np.nanmedian(A), np.nan_to_num(A), np.nancumsum(x), np.nanprod(x)"
    for dtype in (np.int64, np.int32, np.float64):
        check(function(text, "A, x"), data(3, 4, dtype=dtype), data(5, dtype=dtype))
    check(function("return np.nanmax(x), np.nansum(x), np.nanmean(x)", "x"), data(5, dtype=bool))


def test_what_is_missing_is_left_out_of_percentiles_and_running_products():
    x = data(9)
    x[::3] = np.nan
    text = "return np.nanpercentile(x, 30), np.nanquantile(x, (0.1, 0.7)), np.nancumprod(x)"
    check(function(text, "x"), x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, 5), (4, 4), (1, 3), (3, 1)])
def test_what_is_missing_is_left_out_of_each_line(shape, dtype):
    A = data(*shape, dtype=dtype)
    A[np.random.default_rng(0).random(shape) < 0.4] = np.nan
    A[:, -1] = np.nan
    check(function("return np.nanmedian(A, axis=0), np.nanmedian(A, -1), np.nanmedian(A)", "A"), A)
    text = "return np.nanpercentile(A, 30, axis=0), np.nanquantile(A, 0.8, axis=1)"
    check(function(f"{text}, np.nanmedian(A, axis=1, keepdims=True)", "A"), A)
    check(function("return np.nanpercentile(A, [10.0, 50], axis=1)", "A"), A.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_lines_may_be_put_before_and_behind_others_whose_differences_are_taken(dtype):
    A = abs(data(4, 5, dtype=dtype)).astype(dtype)
    text = "return np.diff(A, axis=0, prepend=0), np.diff(A, append=A[:, :1])"
    check(function(text, "A"), A)
    text = (
        "return np.diff(A, axis=0, append=A[-1:], prepend=A[:2] * 2), np.diff(A[0], 2, append=1.5)"
    )
    check(function(text, "A"), A)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8])
def test_divisors_are_of_their_numbers_types(dtype):
    text = (
        "return np.gcd(A, 6), np.lcm(A, A[0]), np.gcd(A[0, 0], x[0]), np.gcd(x[1], k), np.gcd(k, 9)"
    )
    given = [np.abs(data(*shape, dtype=np.int64)).astype(dtype) for shape in ((4, 5), (3,))]
    check(function(text, "A, x, k"), *given, 18)


def test_a_function_without_a_name_is_compiled():
    program = loopbook.native(lambda x: np.sum(x) * 2, strict=True)
    assert program(np.arange(4.0)) == 12.0


def test_numbers_where_numpy_has_arrays_without_axes():
    check(function("return np.copy(s), np.prod(s), np.ascontiguousarray(s), s * 2", "s"), 2.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_results_have_numpys_types(dtype):
    """No test of their values alone tells."""
    x = data(5, dtype=dtype)
    parts = "np.array([x[0], 1.5]), np.array([[x[0], x[1]], [0, 1]]), np.asarray([x[1], 2])"
    check(function(f"return {parts}, np.array([x[0], x[1]]), np.array([1, 2.5])", "x"), x)
    check(function("return np.fabs(x), np.fabs(-3), math.fabs(s), np.fabs(x[0])", "x, s"), x, -3)
    for given in (dtype, np.complex64):
        func = function("return np.identity(s, d), np.eye(s, 2, 1, d), np.identity(3)", "s, d")
        assert [v.dtype for v in loopbook.native(func, strict=True)(3, given)] == [
            v.dtype for v in func(3, given)
        ]


def test_another_type_is_no_rounding():
    """What is the same number of another type is found by comparing with Python."""
    x = np.ones(3, np.float32)
    for found, same in ((x * 0.5, True), ((x * 0.5).astype(np.float64), False)):
        assert is_rounding(lambda x: x * 0.5, [x], [x * 0.5, x], [found, x]) == same


def test_arrays_of_more_axes_are_turned_and_moved():
    cube = np.arange(24.0).reshape(2, 3, 4)
    text = "np.rot90(A), np.rot90(A, 2), np.rot90(A, -1), np.flipud(A), np.fliplr(A), np.flip(A)"
    for array in (cube, cube[0].copy()):
        check(function(f"return {text}", "A"), array)
    text = "np.moveaxis(A, (0, 1), (-1, -2)), np.moveaxis(A, [0, 2], [1, 0]), np.moveaxis(A, 0, -1)"
    check(function(f"return {text}", "A"), cube)


def test_what_is_near_and_what_is_real():
    text = "np.isclose(x, y), np.isclose(x, y, equal_nan=True), np.allclose(x, y, 1e-3, 1e-3, True)"
    x, y = np.array([1.0, np.nan, 3.0]), np.array([1.0, np.nan, 3.001])
    check(function(f"return {text}, np.allclose(x, y)", "x, y"), x, y)
    for z in (np.array([1 + 1j, 2, 3j]), np.array([1.0, 2.0]), np.array([1, 2])):
        check(function("return np.isreal(z), np.iscomplex(z)", "z"), z)


def test_what_is_in_one_of_two_sets():
    text = "np.setxor1d(x, y), np.isin(x, y, False, True), np.setdiff1d(x, y, True)"
    for dtype in (np.int64, np.float64):
        x, y = np.array([3, 1, 2, 3, 5], dtype), np.array([2, 2, 7, 5], dtype)
        check(function(f"return {text}", "x, y"), x, y)
