"""Counts that only grow are never negative, so that indices need no test for it."""

from __future__ import annotations

import ast

import pytest

from loopbook.frontend.rising import never_negative

from .kit import check, data, function

PACKED = """\
k = 0
for i in range(n):
    if x[i] > 0.0:
        y[k] = x[i]
        k += 1
return k
"""

RUNS = """\
i = k = 0
while i < n:
    j = i + 1
    while j < n and x[j] > x[i]:
        j += 1
    y[k] = j - i
    k, i = k + 1, j
return k
"""

MERGED = """\
i, j = 0, n // 2
for k in range(n):
    if j >= n or (i < n // 2 and x[i] < x[j]):
        y[k] = x[i]
        i = i + 1
    else:
        y[k] = x[j]
        j = j + 1
"""

FROM_THE_END = """\
k = 0
for i in range(4):
    y[k] = x[i] + y[k - 1]
    k -= 1 if x[i] > 0.0 else 2
return k
"""


BUTTERFLIES = """\
size = 2
while size <= n:
    half, step = size // 2, n // size
    for i in range(0, n, size):
        for k in range(half):
            t = x[i + k + half] * y[k * step]
            x[i + k + half] = x[i + k] - t
            x[i + k] = x[i + k] + t
    size = size * 2
"""


@pytest.mark.parametrize("body", [PACKED, RUNS, MERGED, BUTTERFLIES])
def test_an_index_that_only_grows_is_not_looked_at(body):
    lowered = check(function(f"n = len(x)\n{body}", "x, y"), data(16), data(16, seed=1))
    assert "< 0" not in lowered.kernel_source


def test_one_that_falls_counts_from_the_end():
    lowered = check(function(FROM_THE_END, "x, y"), data(9), data(9, seed=1))
    assert "< 0" in lowered.kernel_source


def test_what_was_found_of_one_function_is_none_of_another():
    def last(x, k):
        k = k + 1
        return x[k]

    kernel = function(
        "k = 0\nfor i in range(3):\n    y[i] = last(x, k - i - 2)\n    k += 1", "x, y"
    )
    kernel.__globals__["last"] = last
    check(kernel, data(9), data(9, seed=1))


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("i = 0\ni += 3", "i"),
        ("i, (j, k) = 1, (len(x), x.shape[0] // 2)", "i j k"),
        ("i = 0\nwhile c:\n    j = i\n    i = j * 2 + (j % 7)", "i j"),
        ("for i in range(4):\n    j = i\nfor k in range(4, -1, -1):\n    pass", "i j"),
        ("i, j = 1, len(x)\nwhile c:\n    k = j // i + j % i\n    i = i * 2", "i j k"),
        ("n = 2\nfor i in range(0, len(x), n):\n    j = i // 0", "n i j"),
        ("for i in range(0, len(x), n):\n    pass", ""),
        ("i = 0\ni = i - 1", ""),
        ("i = 0\nj = i\ni = x[0]", ""),
        ("i = 0.5\nj = True\nk = -1", ""),
        ("i = 0\nfor i, j in enumerate(x):\n    pass", ""),
        ("i = 0\nwith c as i:\n    pass", ""),
        ("i = 5 if c else -1\nj = (k := 3)", "k"),
    ],
)
def test_names_that_are_never_negative(body, found):
    names = never_negative(ast.parse(body).body)
    assert names == frozenset(found.split())
