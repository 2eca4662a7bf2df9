"""Returns from branches and loops; results of one kind."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import check, data, flat, function

BODIES = [
    "for i in range(x.shape[0]):\n    if x[i] > s:\n        return i\nreturn -1",
    "for i in range(x.shape[0]):\n    for j in range(3):\n        if x[i] * j > s:\n"
    "            return i, j * 1.5\n    x[i] = 0\nx[0] = 9\nreturn -1, 2.0",
    "k = 0\nwhile True:\n    k += 1\n    if k > 3:\n        return x * k",
    "for i in range(4):\n    if x[i] > s:\n        return x + 1\n    elif x[i] < -s:\n"
    "        return x * 2\n    else:\n        x[i] = 1\nfor i in range(3):\n"
    "    if x[i] == 1:\n        return x - 1\nreturn x.copy()",
    "if s > 1:\n    return x.sum(), x + 1\nreturn x.max(), x * 2",
    "def f(v):\n    for i in range(v.shape[0]):\n        if v[i] < 0:\n            return v[i]\n"
    "    return 0.0\nreturn f(x) + f(x * 2) + f(-x)",
    "for i in range(3):\n    if x[i] > s:\n        return\n    x[i] = s",
]


@pytest.mark.parametrize("body", BODIES)
def test_loops_are_left_with_a_result(body):
    for s in (1, 0.5, 50, -50.0):
        check(function(body, "x, s"), data(5), s)


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(3):\n    if x[i] > 99:\n        return x[i]",
        "if s > x[0]:\n    return x",
    ],
)
def test_where_there_is_no_result_python_is_called(body):
    lowered = lower(function(body, "x, s"), [data(5), -9.5])
    assert lowered is not None
    with pytest.raises(SupposedError):
        lowered.plain(data(5), -9.5)


def test_results_of_different_kinds_are_refused():
    with pytest.raises(LoweringError, match="results of different kinds"):
        lower(function("if s > x[0]:\n    return x\nreturn s", "x, s"), [data(5), 0.5])


@pytest.mark.parametrize(
    "body",
    [
        "f = False\nif s > 0:\n    for i in range(5):\n        if x[i] > 9:\n"
        "            return x + 1\n        f = x[i]\nreturn x * f",
        "a = 0\nif s > 0:\n    a = 1\n    for i in range(5):\n        if x[i] > 9:\n"
        "            return x + 1\n        a = a + x[i]\n    s = 5\nelse:\n    s = 3\nreturn x * a",
    ],
)
@pytest.mark.parametrize("times", [1.0, 30.0])
def test_an_array_returned_beside_a_variable_that_changes_its_type(body, times):
    check(function(body, "x, s"), data(5) * times, 1.0)


GIVEN = [
    "if x[0] > 0:\n    return x\nx[0] = 2\nreturn x",
    "for i in range(4):\n    x[i] += 1\n    if y[i] > 0.5: return x, y, i\nreturn x, y, -1",
    "while True:\n    x += 1\n    if x[0] > 3: return x",
    "z = x * 2\nfor v in y:\n    z += v\n    if v > 0.5: return y, z\n    z[0] = v\nreturn y, z",
    "k = 0\nwhile k < 4:\n    if x[k] > 1: return k, x\n    x[k] += 1\n    k += 1\nreturn k, x",
]


@pytest.mark.parametrize("body", GIVEN)
@pytest.mark.parametrize("seed", range(3))
def test_an_argument_that_all_returns_give_is_given_itself(body, seed):
    func, args = function(body, "x, y"), [data(6, seed=seed), data(6, seed=seed + 9)]
    lowered = check(func, *args)
    expected, got = func(*args), lowered.plain(*args)
    for one, other in zip(flat(expected), flat(got), strict=True):
        if isinstance(one, np.ndarray):
            assert [one is a for a in args] == [other is a for a in args]


CHANGED = [
    "for _ in range(n):\n    x = x * 2\nreturn x, y",
    "for i in range(0, 2 * n, 2):\n    x, y = x + y, x - i\nreturn y, x",
    "for i in range(n, 0, -1):\n    t = x + y\n    for k in range(i):\n        y = t * k\n"
    "    x = t\nreturn x, y",
    "for v in z[:n]:\n    x = x + v\nreturn x, y",
]


@pytest.mark.parametrize("body", CHANGED)
@pytest.mark.parametrize("n", [0, 3])
def test_a_loop_that_does_not_come_by_leaves_the_argument(body, n):
    func, args = function(body, "x, y, z, n"), [data(6), data(6, seed=5), data(9), n]
    lowered = check(func, *args)
    given = [[one is a for a in args] for one in func(*args)]
    assert [[one is a for a in args] for one in lowered.plain(*args)] == given
    assert n or all(map(any, given))
    assert not lowered.holds(*args[:3], 3 - n)


def test_a_name_that_is_bound_again_is_returned_as_it_was():
    body = "if x[0] > 0:\n    return y\ny = x * 2\nreturn y"
    for seed in range(3):
        check(function(body, "x, y"), data(6, seed=seed), data(6, seed=seed + 9))
    body = "for v in x:\n    if v > 1: return v\nv = 3.0\nreturn v"
    check(function(body, "x"), data(6))


CHOSEN = [
    "a, b = (x, y[0]) if x[0] > y[1] else (y * 2, s)\nreturn a * 2, b, a",
    "x[1:], z[0] = (y[:-1], s) if s > y[0] else (y[:-1] * 2, y[1])\nreturn x",
    "a, b = x + 1, y + 1\nfor i in range(3):\n"
    "    a, b = (b, a) if x[i] > 0 else (a * 2, b) if y[i] > 0 else (a - b, b + a)\nreturn a, b",
]


@pytest.mark.parametrize("body", CHOSEN)
@pytest.mark.parametrize("seed", range(4))
def test_one_of_two_tuples_may_hold_arrays(body, seed):
    x, y, z = (data(5, seed=seed + n) for n in (0, 5, 9))
    check(function(body, "x, y, z, s"), x, y, z, 0.3)


BOXED = [
    "return np.where(s > 0, x.max(), 2.0), np.where(s > 0, 1, 2), np.where(s > 0, 1, 2) + 1",
    "return np.array(s), np.asarray(x.sum()), np.array(2), np.asarray(x[0]) * 2",
    "z = np.array(x[1])\nw = z\nreturn w, z * 2, np.zeros(()), np.full((), s), np.zeros_like(s)",
    "return x[0, ...], x[..., 0], x[0], np.squeeze(x[:1]), x[:1].reshape(()), x.sum()",
]


@pytest.mark.parametrize("body", BOXED)
def test_arrays_without_axes_are_arrays(body):
    for dtype in (np.float64, np.float32, np.int64):
        func, x = function(body, "x, s"), data(5, dtype=dtype)
        lowered = check(func, x, 0.5)
        assert list(map(type, func(x, 0.5))) == list(map(type, lowered.plain(x, 0.5)))


WRITTEN_OUT = [
    "for p, q in ((-s, x[0]), (s, x[1]), (x[2], 0.5)):\n    if p == 0:\n        continue\n"
    "    if q / p > 1:\n        return False, q\n    s += q\nreturn True, s",
    "for i in range(len(x)):\n    for d in (1, 2, -1):\n        if x[i] * d > 1.5:\n"
    "            return i, d\nreturn -1, 0",
    "k = 0\nfor d in [1, -1, 2]:\n    if not 0 <= d < 2:\n        continue\n"
    "    if x[d] > 0.5:\n        return -1\n    k += d\nreturn k",
]


@pytest.mark.parametrize("body", WRITTEN_OUT)
def test_a_loop_that_is_written_out_may_be_left(body):
    for seed in range(4):
        check(function(body, "x, s"), data(5, seed=seed), 0.3)
