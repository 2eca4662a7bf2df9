"""Names that are None until they are a number."""

from __future__ import annotations

import numpy as np
import pytest

from .kit import check, data, function

BODIES = {
    "largest": "b = None\nfor v in x:\n    if b is None or v > b: b = v\nreturn b",
    "before": "p = None\nt = 0.0\nfor v in x:\n    if p is not None: t += abs(v - p)\n    p = v\n"
    "return t",
    "place": "p = None\nn = 0\nfor i in range(len(x)):\n    if x[i] < s: continue\n"
    "    if p is not None and x[i] > x[p]: n += 1\n    p = i\nreturn n",
    "two at once": "lo = hi = None\nfor v in x:\n    if lo is None: lo = hi = v\n"
    "    elif v < lo: lo = v\n    elif v > hi: hi = v\nreturn lo, hi",
    "in a branch": "b = None\nif x[0] > s: b = x[0] * 2\nif b is None: return -1.0\nreturn b",
    "again for each row": "for i in range(4):\n    b = None\n    for v in x:\n"
    "        if v > s * i and (b is None or v < b): b = v\n    if b is not None: y[i] = b\n"
    "return y",
    "equal to nothing": "p = None\nn = 0\nfor v in k:\n    if v == p: n += 1\n"
    "    if p != v: n += 10\n    p = v\n    if v == 2: p = None\nreturn n",
    "with a number": "b, p = 9.0, None\nfor i, v in enumerate(x):\n    if v < b: b, p = v, i\n"
    "return b, p",
    "swapped": "p, q = None, 0.0\nfor v in x:\n    if p is not None: q, p = p, q\n    p = v\n"
    "return p, q",
    "in a function of ours": "def f(z):\n    b = None\n    for v in z:\n"
    "        if b is None or v > b: b = v\n    return b\nreturn f(x) + f(y)",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("seed", range(3))
def test_none_first(body, seed):
    k = np.random.default_rng(seed).integers(0, 3, 12)
    for dtype in (np.float64, np.float32, np.int64):
        x, y = data(9, dtype=dtype, seed=seed), data(7, dtype=dtype, seed=seed + 5)
        check(function(body, "x, y, k, s"), x, y, k, 0.5)


def test_a_call_that_returns_none_is_left_to_python():
    func = function("b = None\nfor v in x:\n    if v > s: b = v\nreturn b", "x, s")
    lowered = check(func, np.arange(5.0), 2.0)
    called = []
    lowered.wrap(lowered.plain_kernel, lambda *args: called.append(args))(np.arange(5.0), 9.0)
    assert len(called) == 1


@pytest.mark.parametrize(
    "body",
    [
        "for k in range(2):\n    y[: k - 1 or None] += x[1 - k :]\nreturn y",
        "for k in range(3):\n    y[k : k - 3 or None] = x[k : -3 + k or None] * k\nreturn y",
        "t = 0.0\nfor k in range(2):\n    e = k and None\n    t += x[:e].sum()\nreturn t",
    ],
)
def test_a_number_or_none_is_what_the_loop_says(body):
    check(function(body, "x, y"), data(6), data(6, seed=1))


ARRAYS = {
    "what was before": "p = None\nfor i in range(n):\n    y = 0.5 * (x + 4.0 / x)\n"
    "    if p is not None and np.max(np.abs(y - p)) < s:\n        return y, i\n    p = y\n"
    "    x = y\nreturn x, -1",
    "kept": "p = None\nt = 0.0\nfor i in range(n):\n    y = x * i\n    if p is not None:\n"
    "        t += (y * p).sum()\n    p = y\nreturn t, p",
    "a mean that moves": "g = None\nfor i in range(n):\n    d = x * (i + 1)\n"
    "    g = d if g is None else 0.9 * g + d\nreturn g",
    "rows": "g = None\nfor v in A:\n    if g is None:\n        g = v.copy()\n    else:\n"
    "        g += v\nreturn g",
    "of a function": "def step(g, m, x):\n    if m is None:\n        m = np.zeros_like(g)\n"
    "    m = 0.9 * m + g\n    return x - 0.1 * m, m\nm = None\nfor i in range(n):\n"
    "    x, m = step(x * (i + 1), m, x)\nreturn x",
    "of a function by name": "def step(g, m=None):\n    return g if m is None else m + g\n"
    "m = None\nfor i in range(n):\n    m = step(x * i, m=m)\nreturn m",
    "for as long as it takes": "k = 0\np = None\nwhile True:\n    k += 1\n    y = x * 0.5\n"
    "    if p is not None and abs(y - p).max() < s:\n        break\n    p = y\n    x = y\n"
    "return x, k",
}


@pytest.mark.parametrize("body", ARRAYS.values(), ids=ARRAYS)
def test_what_is_none_until_the_first_iteration_has_made_an_array(body):
    for s in (0.3, 0.001):
        check(function(body, "x, A, s, n"), np.arange(3.0) + 1, data(4, 3), s, 6)
