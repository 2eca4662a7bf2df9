"""Arrays that change their names in loops and branches, and tuples and None that live there."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

RIGHT = [
    "a = np.zeros(5)\nb = x * 2\nfor i in range(3):\n    a, b = b, a\n    a[i] = 7\nreturn a, b",
    "u = x.copy()\nfor i in range(3):\n    p = u\n    u = u * 2\n    p[0] = 5\nreturn u, p",
    "p = x * 1\nfor i in range(4):\n    n = x + p\n    n[0] = i\n    p = n\nreturn p",
    "st = (0.0, 1.0, x)\nfor i in range(4):\n    st = (st[1] + 1, st[0] * 2, st[2] + 1)\nreturn st",
    "p, q = (1, 2), (3, x)\nfor i in range(4):\n    p, q = (p[1], p[0] + i), (q[0] * 2, q[1] * 2)\n"
    "return p, q",
    "best = (np.inf, 0)\nfor i in range(5):\n    if x[i] < best[0]:\n        best = (x[i], i)\n"
    "return best",
    "return np.inf, -np.inf",
    "z = x.copy() if s > 0 else x * 2\nz[0] = 1\nv = x if s > 1 else z\nx = x + 1\nreturn v, x, z",
    "z = x * 0\nfor k in range(9):\n    e = 0.0\n    for i in range(5):\n"
    "        n = 0.5 * z[i] + x[i]\n        e = max(e, abs(n - z[i]))\n        z[i] = n\n"
    "    if e < s:\n        return z, k\nreturn z, 9",
    "z = np.zeros(5)\ni = 0\nwhile True:\n    z[i] = x[i]\n    if x[i] > s or i == 4:\n"
    "        return z[:i]\n    i += 1",
    "def f(v):\n    r = v * 1\n    for i in range(5):\n        if r[i] > s:\n            return r\n"
    "        r[i] += 1\n    return r\nfor i in range(3):\n    x = f(x)\n    x[i] = 0\nreturn x",
    "def f(v):\n    for i in range(5):\n        if v[i] > s:\n            return v\n"
    "        v[i] += 1\n    return v\nz = x * 1\ny = f(z)\nz[0] = 9\nreturn y",
]

BRANCHES = [
    "if s > 1:\n    A = np.sign(A)\nelse:\n    A = A + 1\nreturn A",
    "B = A * 2\nif s > 1:\n    B = B * 2\nelse:\n    B *= 3\nreturn B",
    "B = A * 2\nif s > 1:\n    B = B * 2\nelif s > 0.7:\n    B = B + 1\nreturn B",
    "k = s * 2\nif s > 1:\n    k = A.sum()\nelif s > 0.7:\n    k = k + 1\nreturn k",
    "B = A * 2\nif s > 1:\n    B = B * 2\nelse:\n    for i in range(A.shape[0] - 3):\n"
    "        B = B + 1\nreturn B",
    "B = A * 2\nif s > 1:\n    B = B * 2\nelse:\n    for i in range(3):\n"
    "        if A[i, 0] > 0.5:\n            break\n        B = B + A[i, 0]\nreturn B",
    "B = A[A > 0]\nif s > 1:\n    B = B[B > 1]\nelse:\n    B = B[B < 1]\nreturn B",
    "if s > 1:\n    return A[A > 0]\nreturn A[A < 0]",
]

REFUSED = [
    "z = x if s > 0 else x.copy()\nz[0] = 1\nreturn z",
    "z = x * 2 if s > 0 else y\ny[0] = 7\nreturn z",
    "(x if s > 0 else y)[1] = 4",
    "if s > 0:\n    z = x\nelse:\n    z = y\nz += 1\nreturn z",
    "z = x\nfor i in range(3):\n    z[0] = z[0] + 1\n    z = y\nreturn z",
    "u = x * 1\nfor i in range(3):\n    v = u + 1\n    u = v\n    v[0] = 100\nreturn u",
    "for i in range(3):\n    x, y = y, x\n    x[0] = x[0] + i + y[1]\nreturn x, y",
    "A = A * 1\ng = A[0]\nfor i in range(3):\n    A[0, i] = 5.0\n    if g[1] > s:\n"
    "        g = A[1].copy()\nreturn g",
    "u = x * 1\nh = []\nfor i in range(3):\n    u[0] += 1\n    h.append(u)\nreturn h[0]",
    "u = x * 1\nh = []\nfor i in range(3):\n    u = u * 2\n    h.append(u)\n    u[0] = 1\n"
    "return h[0]",
    "h = []\nfor i in range(3):\n    h.append(A[i])\nA[0, 0] = 7\nreturn h[0]",
    "h = []\nfor i in range(3):\n    h.append(x)\nwhile h:\n    v = h.pop()\n    v[0] += 1\n"
    "return x",
]

LISTED = [
    "u = x * 1\nh = []\nfor i in range(3):\n    u = u * 2\n    u[0] = i\n    h.append(u)\n"
    "return np.array(h)",
    "u = x * 1\nh = []\nfor i in range(3):\n    u[0] += 1\n    h.append(u.copy())\n"
    "return np.array(h)",
    "h = []\nfor i in range(3):\n    h.append(x * i)\nt = 0.0\nwhile h:\n    v = h.pop()\n"
    "    v[0] += 1\n    t += v.sum()\nreturn t",
]


@pytest.mark.parametrize("body", RIGHT)
def test_names_of_arrays_change_in_loops(body):
    check(function(body, "A, x, y, s"), data(3, 5), data(5), data(5, seed=3), 0.5)


@pytest.mark.parametrize("body", BRANCHES)
@pytest.mark.parametrize("s", [0.5, 0.8, 1.5])
def test_both_branches_read_what_was_there_before(body, s):
    check(function(body, "A, s"), data(3, 5), s)


@pytest.mark.parametrize("body", REFUSED)
def test_two_names_of_an_array_that_changes_are_refused(body):
    with pytest.raises(LoweringError, match="by a second name"):
        lower(function(body, "A, x, y, s"), [data(3, 5), data(5), data(5, seed=3), 0.5])


@pytest.mark.parametrize("body", LISTED)
def test_a_list_has_arrays_that_do_not_change(body):
    check(function(body, "A, x, y, s"), data(3, 5), data(5), data(5, seed=3), 0.5)


def test_a_number_here_and_a_tuple_there_are_no_result():
    body = "for i in range(5):\n    if x[i] > 0.9:\n        return -i\nreturn i, s"
    with pytest.raises(LoweringError, match="tuple of another length"):
        lower(function(body, "x, s"), [data(5), 0.5])


def test_a_tuple_keeps_its_length():
    body = "t = (1, 2)\nfor i in range(3):\n    t = (1, 2, i)\nreturn t"
    with pytest.raises(LoweringError, match="tuple of another length"):
        lower(function(body, "x"), [np.ones(3)])


@pytest.mark.parametrize(
    "body",
    [
        "e = None\nfor i in range(5):\n    if e is None or x[i] > e:\n        e = x[i]\nreturn e",
        "e = None\nfor i in range(5):\n    if e is not None and x[i] > e:\n        s += 1\n"
        "    e = x[i]\nreturn s",
    ],
)
def test_none_that_becomes_a_number_is_not_taken_for_none_in_each_iteration(body):
    check(function(body, "x, s"), data(5), 0.5)


def test_none_that_may_become_an_array_is_refused():
    body = "e = None\nfor i in range(5):\n    if e is not None: x = x + e\n"
    body += "    if x[i] > 0.5: e = x * i\nreturn x"
    with pytest.raises(LoweringError, match="None here and something else there"):
        lower(function(body, "x"), [data(5)])


def test_none_that_is_a_number_before_anybody_asks_is_none():
    body = (
        "e = None\nfor i in range(5):\n    for j in range(2):\n        e = x[i] + j\n    x[i] = e"
    )
    check(function(body + "\nreturn x", "x"), data(5))
