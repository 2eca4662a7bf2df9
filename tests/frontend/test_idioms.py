"""Statements and calls that say what others could say as well, as loops run as Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.rounding import flat

from .kit import check, data, function

A, X, Y = data(6, 5), data(5), data(5, seed=1)
PLACES = np.array([2, 0, 2, 1, 0])


def translated(body: str, names: str = "A, x, y, s") -> None:
    kernel = function(body, names)
    kernel.__globals__["itertools"] = itertools
    check(kernel, A, X, Y, 0.5)


@pytest.mark.parametrize("limit", [0.5, 9.0])
def test_else_after_loops(limit):
    inner = "for i in range(len(x)):\n    if x[i] > s:\n        break\nelse:\n    i = -1\nreturn i"
    check(function(inner, "x, s"), X, limit)
    inner = "i = 0\nwhile i < 5:\n    if x[i] > s:\n        break\n    i += 1\nelse:\n    i = 9"
    check(function(inner + "\nreturn i", "x, s"), X, limit)
    body = (
        "for v in x:\n    for w in y:\n        if v + w > s:\n            return v\n"
        "    else:\n        s = s + 0.25\nelse:\n    s = s * 2\nreturn s"
    )
    check(function(body, "x, y, s"), X, Y, limit)


@pytest.mark.parametrize(
    "body",
    [
        "t = x * 2\ns = t.sum()\ndel t\nreturn s",
        "with np.errstate(divide='ignore', invalid='ignore'):\n    q = x / y\nreturn q",
        "with np.errstate(all='ignore'):\n    if s > 0:\n        return x / y\nreturn x",
        "for i, j in np.ndindex(A.shape):\n    A[i, j] = A[i, j] * i - j",
        "for p in np.ndindex(5, 4):\n    A[p] = A[p] + p[0] * x[p[1]]",
        "for (i, j), v in np.ndenumerate(A):\n    if v > s:\n        A[i, j] = i - v",
        "for p, v in np.ndenumerate(A):\n    s = s + v * p[1]\nreturn s",
        "for i, j in itertools.product(range(6), range(5)):\n    s += A[i, j] * x[j]\nreturn s",
        "for v, w in itertools.product(x, y):\n    v = v * w\n    s += v\nreturn s",
        "for i, j in itertools.product(range(3), repeat=2):\n    i += 1\n    s += i - j\nreturn s",
        "for i, j in itertools.combinations(range(len(x)), 2):\n    s += x[i] - x[j]\nreturn s",
        "for i, j, k in itertools.combinations(range(5), 3):\n    y[i] += x[j] * x[k]",
        "return np.maximum(x, np.finfo(x.dtype).tiny), np.iinfo(np.int32).max + 1",
        "half = np.result_type(np.float32, np.int8).type(0.5)\nreturn x * half",
        "return np.zeros(3, np.result_type(x, 2)), np.zeros(3, np.result_type(x[0], x > 0, 1j))",
        "return math.comb(5, 2) * x, math.factorial(4), np.isscalar(s), np.isscalar(x)",
        "return np.apply_along_axis(lambda v: v.max() - v.min(), 1, A)",
        "return np.apply_along_axis(lambda v: v / v.sum(), 0, A)",
        "k = 2.0\ndef f(v, k=k):\n    return v * k\nk = 3.0\nreturn f(x), k",
        "def f(v, /, w=1.0, *, k=s):\n    return v * k + w\nreturn f(x), f(y, k=2.0)",
    ],
)  # fmt: skip
def test_other_words_for_loops_and_numbers(body):
    translated(body)


@pytest.mark.parametrize(
    "body",
    [
        "return x.max(initial=1.0), A.min(axis=0, initial=0), np.max(x[x > 5], initial=-1.0)",
        "return np.sum(x, initial=s), np.sum(A, axis=1, where=A > 0), x.sum(where=x > y)",
        "return np.max(A, axis=1, where=A < 1, initial=-9.0), np.corrcoef(x, y), np.cov(x, y)",
        "return np.cov(A, dtype=np.float32), np.cov(A, rowvar=False, dtype=A.dtype)",
        "A[np.diag_indices_from(A[:5])] += 1.0\nreturn A",
        "n, *rest = A.shape\nfirst, *_, last = (s, 1.0, 2.0)\nreturn n, rest[0], first + last",
    ],
)
def test_what_reductions_begin_with_and_the_like(body):
    translated(body)


@pytest.mark.parametrize("other", [[2, 5, 7], [9]])
def test_sets(other):
    body = "return np.union1d(a, b), np.intersect1d(a, b), np.setdiff1d(a, b)"
    check(function(body, "a, b"), PLACES, np.array(other, np.int64))


def test_a_loop_over_several_counters_is_not_left_half_way():
    body = "for i, j in np.ndindex(A.shape):\n    if A[i, j] > s:\n        break\nreturn i"
    with pytest.raises(LoweringError, match="several counters"):
        lower(function(body, "A, s"), (A, 0.5))


def test_a_context_that_raises_is_none_of_ours():
    body = "with np.errstate(divide='raise'):\n    q = x / y\nreturn q"
    with pytest.raises(LoweringError, match="with statements"):
        lower(function(body, "x, y"), (X, Y))


@pytest.mark.parametrize(
    "body",
    [
        "return [x, y.sum()]",
        "r = []\nr.append(x + y)\nr.append(s)\nreturn r, [s, (s, [x])]",
        "if s > 0:\n    r = [x, y]\nelse:\n    r = [y, x]\nreturn r",
        "return [v * 2 for v in (s, 1.0)], list((s, 2)), tuple([s, 3])",
        "return np.split(A, 3)[1:], [s] * 2 + [1.0]",
    ],
)
def test_lists_are_lists(body):
    kernel = function(body)
    lowered = lower(kernel, (A, A, X, Y, 0.5))
    assert lowered is not None
    own, ours = kernel(A, A, X, Y, 0.5), lowered.plain(A, A, X, Y, 0.5)
    assert form(ours) == form(own)
    for one, other in zip(flat(own), flat(ours), strict=True):
        np.testing.assert_allclose(one, other)


def form(value):
    return (type(value), [*map(form, value)]) if isinstance(value, tuple | list) else None
