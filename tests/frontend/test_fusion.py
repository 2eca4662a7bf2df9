"""Nests that read the same arrays, as one nest; iterations that do, several at a time."""

from __future__ import annotations

import re

import numpy as np
import pytest

import loopbook
from loopbook.frontend import lower

from .kit import check, data, function


def loops(source: str) -> int:
    return sum(line.lstrip().startswith("for ") for line in source.splitlines())


def run(body: str, names: str, *args):
    return check(function(body, names), *args)


A, X, Y = data(5, 7), data(7), data(5)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return A @ x, y @ A", 3),
        ("return y @ A, A @ x", 3),
        ("return (A @ x) @ A", 4),
        ("x += y @ A\ny += A.sum(axis=1)", 2),
        ("return A.sum(axis=1) + y, np.exp(A - y[:, None])", 2),
    ],
)
def test_a_matrix_is_read_once_for_two_products(body, expected):
    assert loops(run(body, "A, x, y", A, X, Y).kernel_source) == expected


def test_copies_stay_apart():
    body = "B = A.copy()\nB[1:-1] = A[:-2] + A[2:]\nreturn B, A - A.mean(axis=1, keepdims=True)"
    source = run(body, "A", A).kernel_source
    copied = source.index("= A[i0, i1]\n")
    assert "for " in source[copied : source.index("sum_0 = sum_0")]


def test_running_sums_stay_apart():
    assert loops(run("return np.cumsum(x), np.cumsum(2 * x), x.sum()", "x", X).kernel_source) == 3


@pytest.mark.parametrize(
    "body",
    [
        "x += y @ A\nreturn A @ x",  # the second product wants all of what the first one makes
        "y += A @ x\nx += y @ A\ny += A @ x",
        "B = A @ x\nA[1:] = A[:-1]\nreturn B, A @ x",
        "s = 0.0\nfor i in range(5):\n    s = s + A[i] @ x\n    A[i] *= s\nreturn A @ x, y @ A",
        "for _ in range(3):\n    x += y @ A\n    y += A @ x",
        "s = 0\nwhile 1:\n    x += y @ A\n    s += 1\n    if s > 2:\n        break\n    y += A @ x",
    ],
)
def test_what_needs_all_of_a_product_comes_after_it(body):
    run(body, "A, x, y", A.copy(), X.copy(), Y.copy())


def test_rows_of_more_axes_stay_in_the_cache():
    x = data(3, 4, 6)
    body = """e = np.exp(x - np.max(x, axis=-1, keepdims=True))
return e / np.sum(e, axis=-1, keepdims=True)"""
    assert run(body, "x", x).kernel_source.count("for i") == 4


def test_extremes_of_one_array_are_found_together():
    x = data(40)
    assert loops(run("return x.max() - x.min()", "x", x).kernel_source) == 1
    run("s = x.max()\nx -= s\nreturn x.min()", "x", x)


def test_products_of_matrices_stay_apart():
    b, c = data(7, 4), data(7, 4)
    assert loops(run("return A @ b, A @ c", "A, b, c", A, b, c).kernel_source) == 10


BINS = """r = np.zeros(n)
for i in range(n):
    chosen = np.logical_and(x >= i / n, x < (i + 1) / n)
    values = y[chosen]
    r[i] = values.mean()
return r"""


@pytest.mark.parametrize("n", [1, 3, 4, 7, 8])
def test_iterations_over_the_same_arrays_go_together(n):
    x, y = np.linspace(0.0, 0.99, 30), data(30)
    lowered = run(BINS, "x, y, n", x, y, n)
    assert ("n // 4" in lowered.source.replace("(n)", "n")) == (n >= 4)
    assert "np.empty((x.shape" not in lowered.source  # the chosen ones are not copied


def test_iterations_that_need_each_other_do_not():
    x = data(12)
    for body in (
        "s = 1.0\nfor i in range(8):\n    s = s + (x * s).sum()\nreturn s",
        "r = np.zeros(8)\nfor i in range(1, 8):\n    r[i] = (x * r[i - 1]).sum()\nreturn r",
        "r = np.zeros(8)\nfor i in range(8):\n    s = (x * i).sum()\n    r[i] = s\nreturn r, s",
        "for i in range(8):\n    x[i] = (x * i).sum()",
    ):
        assert "_0_0 = " not in run(body, "x", x).kernel_source


TALL, LONG = data(19, 7), data(19)


@pytest.mark.parametrize(
    "body",
    [
        "return A @ x, y @ A",
        "return (A @ x) @ A",
        "x += y @ A\nreturn A.sum(axis=1) * y",
        "r = np.zeros(19)\nfor i in range(19):\n    r[i] = ((A[i] - x)**2).sum()\nreturn r",
        "r = np.zeros(19)\nfor i in range(19):\n    for k in range(7):\n"
        "        if A[i, k] > x[k]:\n            r[i] += x[k]\n        else:\n"
        "            r[i] -= 1.0\nreturn r, A @ x",
    ],
)
def test_rows_go_together(body):
    source = run(body, "A, x, y", TALL, X, LONG).source
    assert re.search(r"8 \* \w+ \+ 7", source)
    for rows in (1, 7, 8, 9):
        a, y = data(rows, 7), data(rows)
        run(body.replace("19", str(rows)), "A, x, y", a, X, y)


@pytest.mark.parametrize(
    "body",
    [
        # what the first loop adds up, the second one reads; or another place of it
        "for i in range(19):\n    s = 0.0\n    for k in range(7):\n        s += A[i, k] * x[k]\n"
        "        x[k] += A[i, k]\n    for k in range(7):\n        y[i] += s * x[k]",
        "for i in range(19):\n    s = 0.0\n    for k in range(1, 7):\n        s += A[i, k] * x[k]\n"
        "        x[k] += A[i, k] * x[k - 1]\n    y[i] = s",
        "for i in range(18):\n    s = 0.0\n    for k in range(7):\n        s += A[i, k] * x[k]\n"
        "        A[i + 1, k] += s\n    y[i] = s",
        "for i in range(19):\n    s = x[0]\n    for k in range(7):\n        s += A[i, k] * x[k]\n"
        "        x[k] += A[i, k]\n    y[i] = s",
    ],
)
def test_rows_that_need_each_other_do_not(body):
    lowered = lower(function(body + "\nA += 0.0", "A, x, y"), [TALL, X, LONG])
    assert lowered is not None
    assert "8 * i" not in lowered.source
    run(body + "\nA += 0.0", "A, x, y", TALL, X, LONG)


def test_chosen_ones_are_counted_with_what_they_add_up_to():
    x = np.array([1.0, np.nan, -0.0, 3.0, np.inf])
    for body in (
        "return x[x > 0].mean()",
        "c = x[x < 2]\nreturn c.mean()",
        "return x[x > 9].mean()",
    ):
        run(body, "x", x)
    run("return x[x > 1].mean()", "x", x.astype(np.float32))
    run("c = x[x > 1]\nreturn c.mean(), c.sum()", "x", np.arange(5))


@pytest.mark.parametrize("shift", ["x >> 1", "x >> 3", "x // 8", "(x & 255) >> 4", "x // -2"])
def test_whole_numbers_are_shifted_down(shift):
    term = shift.replace("x", "v")
    body = f"t = 0\nfor i in range(6):\n    v = A[i]\n    t = t + ({term})\nreturn t"
    run(body, "A", np.array([-9, -8, -1, 0, 7, 8]))


@loopbook.native
def _two(A, x, y):
    x += y @ A
    r = A.sum(axis=1)
    s = np.zeros(6)
    for i in range(6):
        s[i] = y[y < i / 3].mean()
    return r, s, int(s[5] * 1000) >> 3


def test_compiled_it_is_the_same():
    a, x, y = data(9, 5), data(5), data(9)
    mine, theirs = x.copy(), x.copy()
    with np.errstate(all="ignore"):
        expected = _two.func(a, theirs, y)
    for one, other in zip(_two(a, mine, y), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, equal_nan=True)
    np.testing.assert_allclose(mine, theirs, rtol=1e-13)
