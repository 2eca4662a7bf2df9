"""Arrays that change places at the end of an iteration, as loops run as Python."""

from __future__ import annotations

import pytest

from loopbook.frontend import lower

from .kit import check, data, function

X, Y, Z = data(7), data(7, seed=1), data(7, seed=2)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    "body",
    [
        "for t in range(n):\n    y[1:] = x[:-1] + t\n    x, y = y, x\nreturn x, y",
        "for t in range(n):\n    y[1:] = x[:-1] + t\n    tmp = x\n    x = y\n    y = tmp\nreturn x",
        "for t in range(1, n + 1):\n    z[:-1] = y[1:] - x[:-1]\n    x, y, z = y, z, x\nreturn y",
        "v = x.copy()\nfor _ in range(n):\n    for i in range(1, 6):\n        v[i] = x[i - 1]\n"
        "    x, v = v, x\nreturn x",
        "a, b = x, y * 2\nfor t in range(n):\n    a += b\n    if t > 1:\n        a[t] = 0.0\n"
        "    a, b = b, a\nreturn a.sum(), b",
    ],
)
def test_arrays_change_places(body, steps):
    check(function(body, "x, y, z, n"), X, Y, Z, steps)


def test_nothing_is_copied():
    body = "for t in range(n):\n    y[1:] = x[:-1] + t\n    x, y = y, x\nreturn x"
    lowered = lower(function(body, "x, y, n"), (X, Y, 6))
    assert lowered is not None
    assert not lowered.allocations
    assert lowered.holds(X, Y, 8)
    assert not lowered.holds(X, Y, 7)
    assert not lowered.holds(X, Y, -2)


@pytest.mark.parametrize(
    "body",
    [
        "a, b = x * 1, y * 1\nfor t in range(n):\n    if a[t] > 0:\n        break\n"
        "    b[t] = a[t]\n    a, b = b, a\nreturn a, b",
        "a, b = x * 1, y * 1\nfor t in range(n):\n    a = a + t\n    a, b = b, a\nreturn a, b",
    ],
)
def test_other_exchanges_stay_right(body):
    check(function(body, "x, y, z, n"), X, Y, Z, 5)
