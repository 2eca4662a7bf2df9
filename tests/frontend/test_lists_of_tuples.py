"""Lists whose items are tuples: what is taken off, asked for or gone through is a tuple again."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import loopbook
from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, copied, data, function

FILLED = "for i in range(len(x)):\n    o.append((i, x[i]))\n"

KEPT = [
    # a whole number beside a float, above what a float can hold
    "o = []\nfor i in range(5):\n    o.append((2**53 + i, x[i]))\nt = 0\nwhile o:\n"
    "    i, v = o.pop()\n    t += i\nreturn t, v",
    # an index beside a float
    f"o = [(0, x[0])]\n{FILLED}t = 0.0\nwhile o:\n    i, v = o.pop(0)\n    t += x[i] * v\nreturn t",
    # a truth value beside a whole number: ~ of it is never 0
    "o = []\nfor i in range(5):\n    o.append((x[i] > 0.5, i))\nc = 0\nwhile o:\n"
    "    b, i = o.pop()\n    if not b:\n        c += i\nreturn c, b, i",
    # one behind the other
    "o = [(1, 2)]\nfor i in range(4):\n    o.append((i, 5 * i))\na = o.pop()\nc = a + o.pop()\n"
    "return c, len(c)",
    f"o = []\n{FILLED}t = 0.0\nfor i, v in o:\n    t += i * v\nfor p in o:\n    t += p[0] - p[1]\n"
    "for j in range(len(o)):\n    t += o[j][0] * o[-j][1]\nfor j, (i, v) in enumerate(o):\n"
    "    t += j * i * v\nreturn t, o[0], o[-1], len(o)",
    # as an array
    f"o = []\n{FILLED}A = np.array(o)\nreturn A, A[:, 1].sum()",
    "o = []\nfor i in range(5):\n    if x[i] > 0.2:\n        o.append((i, x[i] > 0.5))\n"
    "return np.array(o)",
    # read from where it is stored
    "o = [(1, 2)]\nfor i in range(4):\n    a, b = o.pop()\n    o.append((b, a + i))\n"
    "    o.append((o[0][1], o[0][0]))\nreturn o[-1], o[0], len(o)",
]


@pytest.mark.parametrize("body", KEPT)
def test_items_are_tuples_of_numbers_of_their_own_types(body):
    kernel, x = function(body, "x"), data(6)
    lowered = check(kernel, x)
    assert _types(lowered.plain(x)) == _types(kernel(x))


@pytest.mark.parametrize("item", ["(i, i + 1)", "(i, x[i])", "(x[i], x[i] > 1)", "[i, 0.5 * i]"])
def test_they_are_returned_as_tuples_also_if_there_were_none_at_first(item):
    body = (
        f"o = []\nfor i in range(len(x)):\n    if x[i] > 0.5:\n        o.append({item})\nreturn o"
    )
    kernel, none, some = function(body, "x"), np.zeros(6), np.arange(6.0)
    lowered = lower(kernel, [none])
    assert lowered is not None
    for x in (none, some):
        expected, got = kernel(x), lowered.plain(*copied([x]))
        assert (got, _types(got)) == (expected, _types(expected))


def test_items_of_a_list_of_pythons_numbers_are_pythons():
    body = (
        "o = []\nfor i in range(5):\n    o.append(i)\nt = 0\nfor v in o:\n    t += v\n"
        "return t, o[-1], o[2]"
    )
    kernel, x = function(body, "x"), data(5)
    assert _types(check(kernel, x).plain(x)) == _types(kernel(x))


def _types(value):
    if isinstance(value, tuple | list):
        return type(value), [_types(item) for item in value]
    return type(value)


@pytest.mark.parametrize(
    "result",
    ["o", ", ".join(f"x + {i}" for i in range(60))],
    ids=["rows of a list", "arrays"],
)
def test_what_would_be_stored_one_by_one_has_an_end(result):
    row = ", ".join(f"i + {k}" for k in range(40))
    filled = f"o = []\nfor i in range(3):\n    o.append([{row}])\n" if result == "o" else ""
    body = f"{filled}return {result}"
    with pytest.raises(LoweringError, match="many numbers"):
        lower(function(body, "x"), [data(200)])


Peak = namedtuple("Peak", "place height")


def peaks(x, t):
    found = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1] and x[i] > t:
            found.append(Peak(i, float(x[i])))
    return found


def highest(x, t):
    found, best = [], 0.0
    for i in range(len(x)):
        if x[i] > t:
            found.append(Peak(i, x[i]))
    for peak in found:
        best = max(best, peak.height)
    return best, sum(p.place for p in found), len(found)


def walked(x, t):
    waiting, total = [Peak(0, x[0])], 0.0
    while waiting:
        peak = waiting.pop()
        total += peak.height
        if peak.place + 1 < len(x):
            waiting.append(peak._replace(place=peak.place + 1, height=x[peak.place + 1]))
    return total


def two_kinds(x, t):
    found = []
    for i in range(len(x)):
        if x[i] > t:
            found.append(Peak(i, x[i]))
        else:
            found.append((i, x[i]))
    return found


@pytest.mark.parametrize("kernel", [peaks, highest, walked])
def test_they_may_have_names(kernel):
    compiled = loopbook.native(kernel, strict=True)
    for count, t in ((9, 0.2), (30, -1.0), (30, 5.0)):
        x = data(count)
        expected, got = kernel(x, t), compiled(x, t)
        assert repr(expected) == repr(got)
        assert _types(expected) == _types(got)


def test_tuples_with_and_without_names_are_not_alike():
    with pytest.raises(LoweringError, match="different types"):
        lower(two_kinds, (data(9), 0.2))
