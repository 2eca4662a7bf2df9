"""Loops whose first and last iterations are others, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.frontend import lower
from loopbook.frontend.plain import is_plain

from .kit import check, data, function

BODIES = {
    "both ends": """
for i in range(n):
    if i == 0 or i == n - 1:
        y[i] = x[i]
    else:
        y[i] = x[i - 1] + x[i + 1]""",
    "goes on": """
for i in range(n):
    if i < 2 or i >= n - 2:
        y[i] = x[i]
        continue
    s = 0.0
    for k in range(-2, 3):
        s += x[i + k]
    y[i] = s""",
    "one after the other": """
for i in range(n):
    if i == 0:
        y[i] = x[i + 1] - x[i]
    elif i == n - 1:
        y[i] = x[i] - x[i - 1]
    else:
        y[i] = x[i + 1] - x[i - 1]""",
    "neighbours that exist": """
for i in range(n):
    for k in range(-2, 3):
        j = i + k
        if 0 <= j < n:
            y[i] += x[j]""",
    "of a tuple": """
for i in range(n):
    for k in (-1, 0, 3):
        if i + k >= 0 and i + k <= n - 1:
            y[i] += x[i + k]""",
    "clamped": """
for i in range(1, n):
    left = i - 2 if i > 1 else 0
    right = n - 1 if i >= n - 1 else i + 1
    y[i] = x[left] * x[right]""",
    "clamped by a function": """
for i in range(n):
    left = max(i - 1, 0)
    right = min(i + 2, n - 1)
    y[i] = x[left] + x[right] - x[max(0, i - 3)] * min(float(i), 4.0)""",
    "the greater count": """
for i in range(n):
    y[i] = x[max(i, 2)] * max(x[i], 0.0) + max(i, n - 2)""",
    "backwards from the count": """
for i in range(n):
    if 3 > i:
        y[i] = 1.0
    if n - i <= 2:
        y[i] += x[i]
    if not (i != 5):
        y[i] -= 2.0""",
    "the count is used later": """
for i in range(n):
    if i > 0:
        y[i] = x[i - 1]
y[0] = i""",
    "carried": """
s = 1.0
for i in range(n):
    if i > 2:
        s = s * 0.5 + x[i]
    y[i] = s""",
    "not near an end": """
for i in range(n):
    if i == n // 2:
        y[i] = 7.0""",
    "left early": """
for i in range(n):
    if i == n - 1:
        break
    y[i] = x[i + 1]""",
    "the count changes": """
for i in range(n):
    if i < 2:
        i += 1
    y[i] = x[i]""",
    "signs below a test": """
for i in range(n):
    if i > 2 and x[i - 3] > 0:
        y[i] = x[i - 3]
    else:
        y[i] = x[i - 1]""",
    "another's range": """
for i in range(n):
    for j in range(i + 1, n):
        if i < j - 1:
            y[j] += x[j - i - 2]
        if i == j - 1:
            y[i] -= x[j - 1]""",
}


@pytest.mark.parametrize("n", [3, 5, 15, 16, 17, 24])
@pytest.mark.parametrize("body", BODIES)
def test_all_iterations_do_what_they_did(body, n):
    func = function(f"n = x.shape[0]\n{BODIES[body]}\nreturn y", "x, y")
    check(func, data(n), np.zeros(n))


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("body", ["goes on", "neighbours that exist", "of a tuple", "carried"])
def test_few_iterations_do_what_they_did(body, n):
    func = function(f"n = x.shape[0]\n{BODIES[body]}\nreturn y", "x, y")
    check(func, data(n), np.zeros(n))


def _lowered(body: str, n: int = 24) -> str:
    func = function(f"n = x.shape[0]\n{BODIES[body]}\nx[:] = y", "x, y")
    lowered = lower(func, (data(n), np.zeros(n)))
    assert lowered is not None
    return lowered.kernel_source


@pytest.mark.parametrize("body", ["both ends", "goes on", "one after the other", "clamped"])
def test_nothing_is_tested_in_the_middle(body):
    assert "if " not in _middle(body)


def _middle(body: str) -> str:
    parts = _lowered(body).split("\n    for ")
    return next(part for part in parts if " in range(" in part and " - " in part.split("\n")[0])


def test_nothing_is_clamped_in_the_middle():
    middle = _middle("clamped by a function")
    assert " - 1] + x[" in middle
    assert "max(" not in middle


def clamped(x, y):
    for i in range(x.shape[0]):
        y[i] = x[max(i - 1, 0)]


def only_chosen(x, y):
    for i in range(x.shape[0]):
        for j in range(max(i - 1, 0), x.shape[0]):
            y[i] = max(y[i], x[j])


def test_loops_that_clamp_their_count_are_divided():
    assert not is_plain(clamped, (data(24), data(24)))
    assert is_plain(only_chosen, (data(24), data(24)))


@pytest.mark.parametrize("body", ["not near an end", "left early", "the count changes"])
def test_other_loops_stay_whole(body):
    assert _lowered(body).count("\n    for ") == 2


def test_few_iterations_stay_together():
    assert _lowered("both ends", 15).count("\n    for ") == 2


def test_a_tested_index_counts_from_no_end():
    source = _lowered("signs below a test")
    assert source.count("< 0:") == 1


def test_no_element_is_read_that_only_the_other_side_may_read():
    body = """
for i in range(n):
    y[i] = (0.0 if i == 0 else x[i - 1]) + (x[0] if i + 1 >= n else x[i + 1])
    y[i] += x[i] if x[i] > 0 else x[n - 1 - i]"""
    kernel = function(body, "n, x, y")
    for n in (3, 7, 40):  # reading behind the end is an IndexError where loops run as Python
        lowered = lower(kernel, [n, data(n), data(n)], loops_too=True)
        assert lowered is not None
        mine, other = data(n), data(n)
        kernel(n, data(n), mine)
        lowered.plain(n, data(n), other)
        np.testing.assert_allclose(mine, other, rtol=1e-12)
