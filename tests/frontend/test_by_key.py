"""Dicts that loops and branches store into."""

from __future__ import annotations

import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

X, Y = data(5), data(5, seed=1)


def doubled(p):
    return {name: 2 * value for name, value in p.items()}


def same(p):
    return p


BODIES = [
    "p = {'m': np.zeros_like(x), 'v': np.zeros_like(x)}\n"
    "for i in range(4):\n    p['m'] = 0.9 * p['m'] + x\n    p['v'] = p['v'] + p['m'] ** 2\n"
    "return p['m'], p['v']",
    "p = {'a': 0.0, 'n': 1}\nfor v in x:\n    p['a'] += v\n    if v > 0:\n        p['n'] += 1\n"
    "return p['a'] / p['n']",
    "p = {'w': x.copy(), 'b': 0.0}\nfor i in range(3):\n    g = doubled(p)\n"
    "    for k in p:\n        p[k] = p[k] - 0.1 * g[k]\nreturn p['w'], p['b']",
    "p = {'w': x.copy(), 'b': 0.0}\nfor i in range(3):\n    g = {'w': p['w'] * y, 'b': 1.0}\n"
    "    for k, v in g.items():\n        p[k] -= 0.1 * v\nreturn p['w'], p['b']",
    "p = {'w': x}\nfor i in range(3):\n    p['w'] *= 0.5\nreturn p['w'].sum()",
    "p = {'w': x, 'n': 0}\nfor i in range(3):\n    p['w'] = p['w'] * 0.5\n    p['n'] += 1\n"
    "return p['w'], p['n']",
    "p = dict(s=x.sum())\nif x[0] > 9:\n    p['s'] = 0.0\nreturn p['s']",
]


@pytest.mark.parametrize("body", BODIES)
def test_items_are_as_the_last_store_left_them(body):
    kernel = function(body, "x, y")
    kernel.__globals__["doubled"] = doubled
    check(kernel, X, Y)


@pytest.mark.parametrize(
    "body",
    [
        "p = {'n': 0.0}\nq = p\nfor v in x:\n    p['n'] += v\nreturn q['n']",
        "p = {'n': 0.0}\nq = same(p)\nfor v in x:\n    p['n'] += v\nreturn q['n']",
        "p = {'n': 0.0}\nq = [p]\nfor v in x:\n    p['n'] += v\nreturn q[0]['n']",
        "p = {'w': x, 'n': 0}\nfor i in range(3):\n    p['w'] *= 0.9\n    p['n'] += 1\n"
        "return p['n']",
    ],
)
def test_dicts_and_arrays_with_two_names_are_pythons(body):
    kernel = function(body, "x, y")
    kernel.__globals__["same"] = same
    with pytest.raises(LoweringError):
        lower(kernel, (X, Y))


def test_a_callers_dict_is_not_made_anew():
    body = "for v in x:\n    p['n'] = p['n'] + v\np = {'n': 1.0}\nreturn p['n']"
    inner = "def f(p):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(LoweringError, match="storing into p"):
        lower(function(f"{inner}q = {{'n': 0.0}}\nf(q)\nreturn q['n']", "x"), (X,))
