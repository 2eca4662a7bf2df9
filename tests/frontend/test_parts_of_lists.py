"""Parts of lists, lists turned round, and lists of what is gone through: new lists, as Python's."""

from __future__ import annotations

import numpy as np
import pytest

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
