"""Parts of lists, lists turned round, and lists of what is gone through: new lists, as Python's."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, copied, data, function

FILLED = "p = []\nfor i in range(len(x)):\n    if x[i] > s:\n        p.append({})\n"

BODIES = [
    FILLED.format("i") + "return p[::-1], len(p[1:]), sum(p[:-1])",
    FILLED.format("x[i]")
    + "p.reverse()\nq = p[::2]\nq.append(s * x[0])\nreturn p, len(q), np.array(q)",
    FILLED.format("(i, x[i])") + "return p[::-1], p[1:3]",
    FILLED.format("(i, 2 * i)") + "p.reverse()\nreturn p, [b for a, b in p[1:]]",
    FILLED.format("x * i") + "return p[::-1]",
    FILLED.format("x[i]") + "return list(reversed(p)), sum(p), sum(v * 2 for v in p)",
    "q = list(np.flatnonzero(x > s))\nr = []\nwhile q:\n    v = q.pop()\n    r.append(v)\n"
    "    if v % 2 and len(r) < 9:\n        q.append(v - 1)\nreturn r",
    "q = list(np.flatnonzero(x > s))\nr = []\nwhile q:\n    v = q.pop(0)\n    r.append(v)\n"
    "    if v % 2 and len(r) < 9:\n        q.append(v - 1)\nreturn r[-2:]",
    "q = [i for i in range(len(x)) if x[i] > s]\nr = []\n"
    "while q:\n    v = q.pop(0)\n    r.append(v)\n"
    "    if v % 2 and len(r) < 9:\n        q.append(v - 1)\nreturn r, len(r) == len(x)",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("s", [-9.5, 0.25, 9.5])
def test_they_are_lists_of_the_same_numbers(body, s):
    kernel, x = function(body, "x, s"), data(7)
    lowered = lower(kernel, [x, s])
    assert lowered is not None
    expected, got = kernel(*copied((x, s))), lowered.plain(*copied((x, s)))
    assert _shown(expected) == _shown(got), lowered.source


def _shown(value):
    if isinstance(value, tuple | list):
        return type(value), [_shown(item) for item in value]
    return (type(value), value.tolist()) if isinstance(value, np.ndarray) else (type(value), value)


SORTED = [
    "o = []\nfor v in x:\n    if v > s: o.append(v)\no.sort()\nreturn np.array(o), o[0], len(o)",
    "o = [v * 2 for v in x]\no.sort(reverse=True)\nreturn np.array(o)",
    "for i in range(3):\n    o = []\n    for v in x:\n        if v > s * i: o.append(v)\n"
    "    o.sort()\n    for a, b in zip(o[::2], o[1::2]):\n        y[i] += a * b\nreturn y",
]


@pytest.mark.parametrize("body", SORTED)
def test_lists_are_put_in_order(body):
    for dtype in (np.float64, np.int64):
        check(function(body, "x, y, s"), data(9, dtype=dtype), data(4), 0.1)


PUT = [
    "o = []\nfor v in x:\n    i, n = 0, len(o)\n    while i < n and o[i] < v:\n        i += 1\n"
    "    if i == n:\n        o.append(v)\n    else:\n        o[i] = v\nreturn np.array(o), len(o)",
    "o, c = [x[0]], [1]\nfor v in x[1:]:\n    if (v > s) == (o[-1] > s):\n        c[-1] += 1\n"
    "    else:\n        o.append(v)\n        c.append(1)\nreturn np.array(o), np.array(c)",
    "o = []\nfor v in x:\n    o.append(v)\n    i = len(o) - 1\n"
    "    while i > 0 and o[i // 2] > o[i]:\n        o[i // 2], o[i] = o[i], o[i // 2]\n"
    "        i //= 2\nreturn np.array(o)",
    "o = []\nd = o\nr = 0.0\nfor v in x:\n    o.append(v)\n    old = o[0]\n    d[0] = v * 2\n"
    "    r += old * o[0]\nreturn np.array(d), r",
]


@pytest.mark.parametrize("body", PUT)
def test_items_are_put_in_place_of_others(body):
    for dtype in (np.float64, np.int64):
        check(function(body, "x, s"), data(9, dtype=dtype), 0.1)


def test_an_item_is_put_in_place_of_one_that_there_is():
    """Python raises for others, so such calls are Python's; a list may hold other types as well."""
    body = (
        "o = []\nfor v in x:\n    o.append(v)\n    if v > 0:\n        o[k] = s\nreturn np.array(o)"
    )
    kernel = function(body, "x, k, s")
    lowered = check(kernel, np.array([-1.0, -2, 3, 4]), 2, 0.5)
    for k in (5, -4):
        with pytest.raises(IndexError):
            lowered.wrap(lowered.plain_kernel, kernel)(np.array([-1.0, -2, 3, 4]), k, 0.5)
    with pytest.raises(LoweringError, match="different types"):
        lower(function(body, "x, k, s"), [np.arange(4), 1, 0.5])
