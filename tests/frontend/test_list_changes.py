"""Lists that grow are changed and searched in the middle."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

BODIES = [
    "o = []\nfor v in x:\n    if v not in o:\n        o.append(v)\nreturn np.array(o), k in o",
    "o = []\nfor v in x:\n    i = 0\n    while i < len(o) and o[i] < v:\n        i += 1\n"
    "    o.insert(i, v)\nreturn np.array(o)",
    "o = []\nfor v in x:\n    o.insert(-2, v)\nreturn np.array(o), o[0]",
    "o, r, i = list(range(len(x))), [], 0\nwhile o:\n    i = (i + k) % len(o)\n"
    "    r.append(o.pop(i))\nreturn r",
    "o = list(range(9))\ni = 0\nwhile len(o) > 1:\n    i = (i + k) % len(o)\n    del o[i]\n"
    "return o[0]",
    "o, r = list(range(1, len(x))), 0.0\nwhile o:\n    j = min(o, key=lambda i: x[i])\n"
    "    o.remove(j)\n    r = r * 0.5 + x[j]\nreturn r",
    "o, r = [], 0.0\nfor v in x:\n    o.append(v)\n    old = o[0]\n    o.insert(0, v * 2)\n"
    "    r += old * o[-1] - o[0]\n    if len(o) > 5:\n        o.pop(-2)\nreturn r, np.array(o)",
    "o, r = [], []\nfor v in x:\n    o.append(v)\n    if len(o) == 3:\n        r.append(sum(o))\n"
    "        o.clear()\nreturn np.array(r), len(o)",
    "o = []\nfor v in x:\n    o.append(v)\n    if len(o) > 2:\n        o.pop(0)\n"
    "    if len(o) > 1 and v > 1:\n        o.pop(1)\nreturn np.array(o)",
    "o = []\nfor v in x:\n    if v > 0:\n        o.append(v)\nreturn o.index(o[-1]), o.count(o[0])",
    "return x[2] in x, k in x, 99 not in x, sum(v in y for v in x)",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_they_hold_the_same(body, dtype):
    kernel = function(body, "x, y, k")
    check(kernel, data(9, dtype=dtype), data(5, dtype=dtype), 3)
    twice = np.array([2, 2, -3, 1, -3, 3, 3, 0, 1], dtype)
    check(kernel, twice, twice[2:5].copy(), 3)


@pytest.mark.parametrize(
    ("change", "error"),
    [("o.pop(k)", IndexError), ("o.remove(k)", ValueError), ("s = o.index(k)", ValueError)],
)
def test_what_is_not_there_is_pythons(change, error):
    body = f"s = 0\no = []\nfor v in x:\n    o.append(v)\n{change}\nreturn len(o), s"
    kernel, x = function(body, "x, k"), np.array([0, 1, 2, 3])
    lowered = check(kernel, x, 2)
    for k in (4, -5):
        with pytest.raises(error):
            lowered.wrap(lowered.plain_kernel, kernel)(x, k)


def test_a_nan_is_found_where_it_is_the_same_one():
    body = "o = []\nfor v in x:\n    if v not in o:\n        o.append(v)\nreturn len(o)"
    lowered, called = check(function(body, "x"), data(5)), []
    lowered.wrap(lowered.plain_kernel, lambda *args: called.append(args))(np.array([1.0, np.nan]))
    assert len(called) == 1


def test_lists_of_other_things_are_not_changed_in_the_middle():
    body = "o = []\nfor v in x:\n    o.append((v, 1))\no.pop(k)\nreturn len(o)"
    with pytest.raises(LoweringError, match="holds no numbers"):
        lower(function(body, "x, k"), [data(5), 1])


def test_places_in_tuples_of_numbers():
    body = """ways, total = [x[0]], 0.0
for v in x:
    options = (v, v * v, 1.0, v)
    k = options.index(min(options))
    total += [5, 7, 7][k % 3] * v + k + (3, n, 5, n).index(n)
return total, ("a", n, 2.5).index(n) if n > 9 else 0, k == 0"""
    check(function(body, "x, n"), data(9), 4)
    check(function(body, "x, n"), -data(9), 5)


def test_a_number_that_is_in_no_tuple_is_pythons():
    kernel = function("return (1.0, x[0], 3.0).index(k)", "x, k")
    lowered = check(kernel, np.array([2.0]), 2.0)
    for x, k in (([5.0], 2.0), ([np.nan], np.nan)):
        with pytest.raises(ValueError, match="not in tuple"):
            lowered.wrap(lowered.plain_kernel, kernel)(np.array(x), k)
