"""Where rows begin in an array of places: not tested for every place in them."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from loopbook.frontend import lower
from loopbook.frontend.only_read import only_read

from .kit import check, data, function

ROWS = """\
for i in range(len(p) - 1):
    low, high = p[i], p[i + 1]
    for k in range(low, high):
        y[i] += v[k] * v[k]
"""

DIRECT = ROWS.replace("low, high):", "p[i], p[i + 1]):").replace(
    "    low, high = p[i], p[i + 1]\n", ""
)


@pytest.mark.parametrize("body", [ROWS, DIRECT])
def test_places_in_rows_are_not_tested(body):
    begins = np.array([0, 2, 2, 7, 9])
    kernel = function(body, "p, v, y")
    lowered = check(kernel, begins, data(9), data(4))
    assert "< 0" not in lowered.kernel_source
    assert lowered.looked_into == {"p"}
    assert not lowered.holds(np.array([-3, 2, 2, 7, 9]), data(9), data(4))
    other = check(kernel, np.array([-3, -1, 0, 7, 9]), data(9), data(4))
    assert "< 0" in other.kernel_source
    assert not other.looked_into


def test_arrays_that_change_are_not_looked_at_before():
    for change in ("p[0] = 0", "q = p\nq[0] = 0", "p.sort()", "p[1:] += 1"):
        kernel = function(f"{change}\n{ROWS}", "p, v, y")
        lowered = check(kernel, np.array([0, 2, 2, 7, 8]), data(10), data(4))
        assert not lowered.looked_into
        assert "< 0" in lowered.kernel_source


def test_what_begins_before_a_place_is_tested():
    lowered = lower(function(ROWS.replace("range(low,", "range(low - 1,"), "p, v, y"),
                    (np.array([1, 2, 2, 7, 9]), data(9), data(4)))  # fmt: skip
    assert lowered is not None
    assert "< 0" in lowered.kernel_source


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("y = x[i] + x.shape[0] + len(x)", "x"),
        ("x[i] = 1", ""),
        ("x[i] += 1", ""),
        ("y = x", ""),
        ("y = x[1:]", ""),
        ("f(x)", ""),
        ("x.fill(0)", ""),
        ("x = 1", ""),
        ("for i in x: pass", ""),
    ],
)
def test_what_is_only_read(body, found):
    assert only_read(ast.parse(body).body, ["x"]) == frozenset(found.split())
