"""What is Python's own: numbers of `math`, truth values, and lists that are tables."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from loopbook.frontend import lower

from .kit import agree, as_docc, check, data, flat, function


def alike(kernel: Any, *args: Any) -> None:
    """Values and types are those that Python gives."""
    lowered = lower(kernel, args, loops_too=True)
    assert lowered is not None
    got, expected = lowered.plain(*args), kernel(*args)
    agree(flat(expected), flat(got), lowered.kernel_source)
    assert types_of(got) == types_of(expected), lowered.kernel_source


def types_of(value: Any) -> Any:
    return [types_of(item) for item in value] if isinstance(value, tuple) else type(value)


NUMBERS = [
    "return math.sqrt(x[0]), math.exp(x[1]), math.fabs(x[2]), math.hypot(x[0], s), math.pow(s, 2)",
    "return math.floor(x[0]), math.ceil(x[0]), math.isnan(x[0]), np.isnan(x[0]), math.isinf(1.5)",
    "t = 0.0\nfor v in x:\n    t += math.sqrt(v)\nreturn t, np.sqrt(x[0]), math.degrees(x[0])",
    "return x * math.sqrt(x[0]), math.gcd(s, 6), math.isqrt(s), math.atan2(x[0], x[1])",
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("body", NUMBERS)
def test_functions_of_math_take_and_give_pythons_numbers(body, dtype):
    kernel = function(body, "x, s")
    for args in ((abs(data(5, dtype=dtype)), 2), (abs(data(5, dtype=dtype, seed=1)), np.int64(2))):
        alike(kernel, *args)


def test_functions_of_math_compute_with_64_bits():
    x = abs(data(6, dtype=np.float32))
    kernel = function(
        "r = np.zeros(6)\nfor i in range(6):\n    r[i] = math.exp(x[i])\nreturn r", "x"
    )
    lowered = lower(kernel, [x], loops_too=True)
    assert lowered is not None
    np.testing.assert_allclose(lowered.plain(x), kernel(x), rtol=1e-14)


TRUTHS = [
    "return s > 1, s == n, not s, 0 < s < 5, s > 0 and n > 1, s > 5 or n > 1",
    "return (s > 0) + (s > 1), (s > 0) * 3, (s > 0) & (n > 0), (s > 0) + x[0]",
    "return x[0] > s, (x[0] > 0) + (x[1] > 0), not x[0] > s, (x[0] > 0) & (x[1] > 0)",
    "c = 0\nfor v in x:\n    c += (v > 0) + (s > 1) + (s > 0)\nreturn c",
    "f = False\nfor v in x:\n    if v > s:\n        f = True\nreturn f, f and s > 0, s in (1, 2)",
]


@pytest.mark.parametrize(("s", "n"), [*itertools.product([2, 2.5, np.int64(2)], [2, 3.0])])
@pytest.mark.parametrize("body", TRUTHS)
def test_truth_values_of_pythons_numbers_are_pythons(body, s, n):
    alike(function(body, "x, s, n"), data(5), s, n)


TABLES = [
    "d = [0, 1, 0, -1]\nt = 0.0\nfor k in range(4):\n    t += x[d[k]] * (1, 2.5)[k % 2]\nreturn t",
    "d = [0, 1, 0, -1]\nt = 0\nfor k in range(4):\n    t += d[k] * d[k - 1] + d[-k]\nreturn t",
    "d = [(0, 1), (1, 0), (2, 2)]\nt = 0.0\nfor k in range(len(d)):\n    i, j = d[k]\n"
    "    t += x[i] * x[j] + d[k][1]\nreturn t",
    "w = [s, s + 1, 2.5]\nt = 0.0\nfor k in range(6):\n    t += w[k % 3] * w[-1 - k % 3]\nreturn t",
    "f = (True, False)\nt = 0\nfor k in range(5):\n    if f[k % 2]:\n        t += k\nreturn t",
    "return [1, 2, 3][s], (0.5, 1.5, 2.5)[s - 1], [s, 2, 3][n]",
]


@pytest.mark.parametrize("body", TABLES)
def test_lists_may_be_read_at_a_place_that_only_the_loops_know(body):
    for s, n in ((2, 1), (1, 0)):
        alike(function(body, "x, s, n"), data(5), s, n)


def test_views_that_go_down_to_the_first_element_stay_views():
    kernel = function("return x[::-2], x[-2::-2], x[1::-1], A[::-2, ::-3]", "x, A")
    for n in (1, 2, 3, 5, 6):
        x, A = data(n), data(n, 4)
        lowered = lower(kernel, [x, A])
        assert lowered is not None
        for got, expected in zip(lowered.plain(x, A), kernel(x, A), strict=True):
            np.testing.assert_array_equal(got, expected)
            assert np.shares_memory(got, A if got.ndim == 2 else x) == bool(expected.size)


OWN = [
    "return math.log(x[0], 3), math.log(8, s), math.log(x[0], x[1])",
    "t = 0.0\nfor v in x:\n    t += round(v, 1)\nreturn t, round(x[0], 2), round(x[1])",
    "return np.isposinf(x), np.isneginf(-x)",
]


@pytest.mark.parametrize("body", OWN)
def test_logarithms_and_roundings(body):
    alike(function(body, "x, s"), abs(data(5)) + 1, 2)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8])
def test_great_powers_of_whole_numbers_wrap(dtype):
    with np.errstate(over="ignore"):
        alike(function("return x ** 5, x ** 13, x[0] ** 6, x ** 0", "x"), data(6, dtype=dtype))


def test_cumulative_sums_of_a_type_and_into_an_array():
    x = data(3, 4, dtype=np.uint8)
    alike(function("return x.cumsum(0, dtype=np.int64), np.cumprod(x, 1, float)", "x"), x)
    alike(function("r = np.zeros(4)\nnp.cumsum(x[1], dtype=float, out=r)\nreturn r", "x"), x)


def test_docc_reads_whole_numbers_that_loops_round_to():
    body = """for i in range(len(x)):
    w = round(x[i] * s)
    y[i] = 2 * w + 1"""
    kernel = function(body, "x, y, s")
    (found, wanted) = np.zeros(9), np.zeros(9)
    as_docc(kernel)(data(9), found, 3.0)
    kernel(data(9), wanted, 3.0)
    np.testing.assert_array_equal(found, wanted)


def test_truth_values_that_are_known_are_numbers_beside_others():
    body = "y = n - (len(x) > 2)\nreturn y + y // 4, y * (len(x) < 2), -(len(x) > 2)"
    kernel = function(body, "x, n")
    lowered = check(kernel, data(3), 7)
    assert "True" not in lowered.kernel_source
    assert as_docc(kernel)(data(3), 7) == kernel(data(3), 7)
