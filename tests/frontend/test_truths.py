"""What counts as true, and which truth value is which: Python has one of each."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import loopbook

from .kit import check, function


def is_true(a):
    return a is True, a is not False


def is_same(a, b):
    return a is b, a is not b


def of_elements(x):
    return (x[0] > 1) is True, (x.sum() > 0) is not True


def with_default(a, b=None, mode=""):
    if mode and a > 1:
        return 1.0
    if b:
        return a + b
    return 2.0 * a if not b and a > 2 else a


def changes_of_truth(x, A):
    b = x > 0.5
    return np.diff(b), np.flatnonzero(np.diff(b)), np.diff(b, n=2), np.diff(A > 0, axis=0)


def test_neighbouring_truth_values_differ_or_do_not():
    random = np.random.default_rng(1)
    check(changes_of_truth, random.random(9), random.normal(size=(4, 5)))
    check(changes_of_truth, random.random(3), random.normal(size=(2, 1)))


@pytest.mark.parametrize("value", [True, False, np.True_, 1, 1.0])
def test_truth_values_are_told_from_numbers(value):
    check(is_true, value)
    for other in (True, False, np.True_, 1):
        if True in (value is True, value is False, other is True, other is False):
            check(is_same, value, other)


def test_truth_values_of_numpy_are_not_those_of_python():
    x = np.array([3.0, -1.0])
    check(of_elements, x)
    assert of_elements(x) == (False, True)


def test_none_and_no_text_are_false():
    program = loopbook.native(with_default, strict=True)
    calls: list[tuple[Any, ...]] = [(3.0,), (1.0, 2.0), (1.0, 0.0), (3.0, 0.0), (2.0, None)]
    calls.append((2.0, None, "fast"))
    for args in calls:
        assert program(*args) == with_default(*args)


def test_a_function_of_nothing_is_compiled():
    """Neither arguments nor temporaries are left where everything is known."""

    def three():
        return 3, "done", np.pi

    assert loopbook.native(three, strict=True)() == three()

    def is_missing(a=None):
        return a is None

    program = loopbook.native(is_missing, strict=True)
    assert program() is True
    assert program(2.0) is False


def test_text_and_numbers_from_outside_are_returned():
    func = function("from numpy import pi\nreturn 'ok', s * 2, pi", "s")
    assert loopbook.native(func, strict=True)(2.0) == ("ok", 4.0, np.pi)


def test_products_of_lists():
    body = "p = [2 * i for i in range(x.shape[0])]\nq = [1.5 * j for j in range(4)]\nt = 0.0\n"
    body += "for i, j in product(p, q): t += i - j\n"
    body += "for i, j in product(range(3), q): t += i * j\nreturn t"
    func = function(body, "x")
    func.__globals__["product"] = itertools.product
    check(func, np.ones(5))


def test_truth_values_are_numbers_in_arithmetic():
    body = "return +b, -b, ~b, abs(b), b + c, b - c, b * c, b / 2, b**2, b & c, b | c"
    for b in (True, False):
        check(function(body, "b, c"), b, not b)
    check(function("return x / y, x + y, x * y", "x, y"), *np.array([[1, 0], [1, 1]], bool))


def test_tuples_are_compared_by_their_first_items_that_differ():
    body = (
        "p, q = (x[i], y[i]), (x[j], y[j])\nreturn p < q, p <= q, p > q, p == q, p != (x[j], 2.0)"
    )
    func = function(body + ", p < (x[j],), (x[i],) >= p", "x, y, i, j")
    x, y = np.array([1.0, 2.0, 1.0, 3.0]), np.array([4.0, 4.0, 5.0, 2.0])
    for i, j in itertools.product(range(4), repeat=2):
        check(func, x, y, i, j)
    known = (
        "return x.shape == (3,), x.shape < (4,), (1, 2) < (1, 3), (1, 2) >= (1, 2, 0), 'a' < 'b'"
    )
    for size in (3, 9):
        check(function(known, "x"), np.arange(float(size)))


def test_rows_of_a_list_become_rows_of_an_array():
    bodies = [
        "return np.array([[i * j for j in range(n)] for i in range(n + 1)])",
        "return np.array([[abs(u - v) for v in x] for u in x[:n]], dtype=np.float32)",
        "return np.array([[[i * j + k for k in range(n)] for j in range(4)] for i in range(n)])",
        "return np.asarray([[x[i] * A[i, j] for j in range(3)] for i in range(n) if i % 2])",
        "return np.array([[1.0 if i == j else 0.0 for j in range(3)] for i in range(3)]) * n",
    ]
    x = np.linspace(-1, 1, 40)
    for body, n in itertools.product(bodies, (4, 6, 35)):
        check(function(body, "x, A, n"), x, np.outer(x, x), n)
