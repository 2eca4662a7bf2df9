"""Short loops over neighbours are written out; others stay loops."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.frontend import lower

from .kit import check, data, function

HEAD = "m, k = A.shape\nfor i in range(1, m - 1):\n    for j in range(1, k - 1):\n"

WINDOWS = {
    "least": """
low = A[i, j]
for p in range(-1, 2):
    for q in range(-1, 2):
        if A[i + p, j + q] < low:
            low = A[i + p, j + q]
B[i, j] = low""",
    "all but the middle": """
s = 0.0
for p in range(3):
    for q in range(3):
        if p != 1 or q != 1:
            s += A[i + p - 1, j + q - 1]
B[i, j] = s""",
    "around": """
for p in range(-1, 2):
    B[i, j] += A[(i + p) % m, (j - p) % k]""",
    "maxima by name": """
s = A[i, j]
for p in range(2):
    s = max(s, A[i + p, j])
B[i, j] = s - p""",
    "by a list": """
for p in range(4):
    ii = i + [-1, 1, 0, 0][p]
    if A[ii, j] > 0.5:
        B[i, j] += 1""",
    "where it is": """
best, at = -1.0, 0
for p in range(3):
    if A[i, j + p - 1] > best:
        best = A[i, j + p - 1]
        at = p
B[i, j] = at""",
}

LOOPS = {
    "left early": """
for p in range(3):
    if A[i, j + p - 1] > 0.5:
        break
    B[i, j] += 1""",
    "long": """
for p in range(40):
    if p % 7 == i % 7:
        B[i, j] += 1""",
    "much code": """
s = 0.0
for p in range(-2, 3):
    for q in range(-2, 3):
        for r in range(2):
            if p * q < r:
                s += A[i, j] * p + q
B[i, j] = s""",
}


def written(body: str) -> str:
    """The loops of a body, which is put in two loops over the inner part of `A`."""
    lines = "".join(f"        {line}\n" for line in body.strip().splitlines())
    found = [(9, 8), (3, 3), (2, 5)]
    sources = [
        check(function(f"{HEAD}{lines}", "A, B, x"), data(m, k), np.zeros((m, k)), data(5))
        for m, k in found
    ]
    return sources[0].kernel_source


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_are_written_out(name):
    source = written(WINDOWS[name])
    assert source.count("for ") == 2, source


@pytest.mark.parametrize("name", LOOPS)
def test_what_gains_nothing_stays_a_loop(name):
    lines = "".join(f"        {line}\n" for line in LOOPS[name].strip().splitlines())
    made = lower(function(f"{HEAD}{lines}", "A, B, x"), (data(9, 8), np.zeros((9, 8)), data(5)))
    assert made is None or "for p" in made.kernel_source


def test_a_loop_that_is_in_no_other_one_stays():
    body = "s = 0.0\nfor p in range(3):\n    if x[p] > 0.5:\n        s += x[p]\nreturn s"
    assert "for p" in check(function(body, "x"), data(5)).kernel_source


def test_loops_in_loops_that_are_short_stay():
    body = "for p in range(4):\n    for q in range(3):\n        if A[p, q] > 0.5: A[p, q] = 0.5"
    assert lower(function(body, "A"), (data(5, 5),)) is None


def test_what_the_loop_leaves_is_what_python_leaves():
    body = """
for i in range(1, n - 1):
    for p in range(-1, 2):
        if x[i + p] > 0.5:
            y[i] += p
y[0] = p + i"""
    check(function(body, "n, x, y"), 12, data(12), np.zeros(12))


def test_few_updates_of_whole_arrays_become_one_loop():
    body = """
n, m = B.shape
for p in range(3):
    for q in range(3):
        win = A[p:p + n, q:q + m]
        B += win * w[p, q]
        if_any = win
B -= 1.0
return if_any, p, q"""
    source = check(function(body, "A, B, w"), data(9, 8), np.zeros((7, 6)), data(3, 3))
    assert source.kernel_source.count("B[i0, i1] = ") == 10, source.kernel_source


@pytest.mark.parametrize("times", [40, 2])
def test_updates_that_are_many_or_of_parts_stay_loops(times):
    body = f"for p in range({times}):\n    B[p % 3] += A[p % 3]\n    B[0] *= 2.0"
    source = check(function(body, "A, B"), data(3, 8), data(3, 8)).kernel_source
    assert "for p" in source


def test_what_is_updated_may_be_what_is_read():
    body = "for p in range(3):\n    A += A[p] * w[p]\nreturn A"
    check(function(body, "A, w"), data(5, 6), data(3))
