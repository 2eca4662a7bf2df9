"""Loops that divide their count in an index, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.frontend import lower
from loopbook.frontend.plain import is_plain
from loopbook.frontend.symbols import Int

from .kit import check, data, function

BODIES = {
    "halves": """
for i in range(n):
    y[i] = x[i // 2]""",
    "of others": """
for i in range(1, n - 1):
    y[i] = x[(i - 1) // 2] + 0.5 * x[(i + 1) // 2] * (i % 2)""",
    "thirds": """
for i in range(n):
    y[i // 3] += x[i] * (i % 3)""",
    "carried": """
s = 0.0
for i in range(n):
    s = s * 0.5 + x[i // 2]
    y[i] = s""",
    "the count is used later": """
for i in range(2, n):
    y[i] = x[i // 2]
y[0] = i + i // 2""",
    "backwards": """
for i in range(-4, n - 4):
    y[i + 4] = x[i // 4] * (i // 3)""",
    "rows": """
for k in range(3):
    for i in range(k, n):
        y[i] += x[(i + k) // 2]""",
    "goes on": """
for i in range(n):
    if x[i] > 0.5:
        continue
    y[i] = x[i // 2]""",
    "the count changes": """
for i in range(n):
    i = i // 2
    y[i] = x[i // 2]""",
    "of both signs": """
for i in range(-12, n - 12):
    if i >= 0:
        y[i] += x[i // 5]
    else:
        y[i + 12] -= x[i // 5]""",
    "two divisors": """
for i in range(n):
    y[i] = x[i // 2] + x[i // 3]""",
}

WHOLE = ("rows", "the count changes", "two divisors")
"""Of which each iteration stays one."""


@pytest.mark.parametrize("n", [5, 15, 16, 17, 18, 19, 24])
@pytest.mark.parametrize("body", BODIES)
def test_all_iterations_do_what_they_did(body, n):
    func = function(f"n = x.shape[0]\n{BODIES[body]}\nreturn y", "x, y")
    check(func, data(n), np.zeros(n))


@pytest.mark.parametrize(
    ("body", "divides"),
    [(b, False) for b in ("halves", "of others", "thirds", "goes on")] + [(b, True) for b in WHOLE],
)
def test_nothing_is_divided_where_some_iterations_are_one(body, divides):
    func = function(f"n = x.shape[0]\n{BODIES[body]}\nx[:] = y", "x, y")
    lowered = lower(func, (data(24), np.zeros(24)))
    assert lowered is not None
    assert ("//" in lowered.kernel_source) == divides


def test_other_sizes_are_other_cases():
    func = function(f"n = x.shape[0]\n{BODIES['halves']}\nx[:] = y", "x, y")
    lowered = lower(func, (data(24), np.zeros(24)))
    assert lowered is not None
    assert lowered.holds(data(30), np.zeros(30))
    assert not lowered.holds(data(31), np.zeros(31))


def doubled(x, y):
    for i in range(y.shape[0]):
        y[i] = x[i // 2]


def halved(x, y):
    for i in range(x.shape[0] // 2):
        y[i] = x[i] // 2


def test_only_functions_with_such_indices_are_written_otherwise():
    assert not is_plain(doubled, (data(12), data(24)))
    assert is_plain(halved, (data(12), data(24)))


@pytest.mark.parametrize("last", [-5, -4, 0, 3])
def test_polynomials_are_divided_as_python_divides(last):
    n = Int.atom("n")
    quotient, rest = (n * 6 + last).divided(3) or (n, 0)
    assert (quotient, rest) == (n * 2 + last // 3, last % 3)
    assert (n * 6 + last).divided(4) is None
