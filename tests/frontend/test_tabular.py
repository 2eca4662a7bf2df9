"""Tables of numbers, written as lists of lists."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import loopbook
from loopbook.frontend import lower
from loopbook.frontend.tabular import with_tables

RNG = np.random.default_rng(3)
WORDS = RNG.integers(0, 4, 11), RNG.integers(0, 4, 9)
LINES = RNG.random(10), RNG.random(12)


def common(a, b):
    n, m = len(a), len(b)
    best = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        for j in range(m):
            if a[i] == b[j]:
                best[i + 1][j + 1] = best[i][j] + 1
            else:
                best[i + 1][j + 1] = max(best[i + 1][j], best[i][j + 1])
    return best[n][m], best[-1][-2], len(best), len(best[0])


def warped(x, y):
    away = [[float("inf") for _ in range(len(y) + 1)] for _ in range(len(x) + 1)]
    away[0][0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            least = min(away[i - 1][j], away[i][j - 1], away[i - 1][j - 1])
            away[i][j] = abs(x[i - 1] - y[j - 1]) + least
    return (float(away[len(x)][len(y)]),)


def added_up(x, y):
    """Whole numbers in the beginning, and floats later."""
    total = [[0] * len(y) for _ in x]
    table = [[0] * len(y) for _ in range(len(x))]
    for i in range(len(x)):
        for j in range(len(y)):
            table[i][j] += x[i] * y[j]
            table[i][j] *= 2
    return np.array([table[i][i] for i in range(len(x))]), len(total)


def deeper(x, y):
    n = len(x)
    ways = [[[1] * 3 for _ in range(n)] for _ in range(n)]
    for i in range(1, n):
        for j in range(1, n):
            for k in range(3):
                ways[i][j][k] = ways[i - 1][j][k] + ways[i][j - 1][(k + 1) % 3]
    return ways[n - 1][n - 1][2], max(ways[2][2])


@pytest.mark.parametrize(
    ("func", "args"), [(common, WORDS), (warped, LINES), (added_up, LINES), (deeper, WORDS)]
)
def test_tables_are_arrays(func, args):
    lowered = lower(func, args, loops_too=True)
    assert lowered is not None
    for one, other in zip(func(*args), lowered.plain(*args), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12)


def test_a_table_is_compiled(no_book):
    assert loopbook.native(common, strict=True)(*WORDS) == common(*WORDS)


MADE = "t = [[0] * m for _ in range(n)]\n"

OTHER = [
    MADE + "t[0] = t[1]\nt[0][0] = 1",
    MADE + "r = t[1]\nr[0] = 1",
    MADE + "t.append([1])",
    MADE + "u = t",
    MADE + "f(t)",
    MADE + "return t",
    MADE + "for r in t:\n    r[0] = 1",
    MADE + "t[0][1:3] = [1, 2]",
    MADE + "def g():\n    return t[0][0]",
    "t = [[0] * m] * n\nt[0][0] = 1",
    "t = [[i] * m for i in range(n)]\nt[0][0] = 1",
    "t = [[0] * i for i in range(n)]\nt[0][0] = 1",
    "t = [[f() for _ in range(m)] for _ in range(n)]\nt[0][0] = 1",
    "t = [[0] * m for _ in range(n) if n > 2]\nt[0][0] = 1",
]


@pytest.mark.parametrize("text", OTHER)
def test_other_lists_of_lists_stay(text):
    body = ast.parse(text).body
    assert list(map(ast.dump, with_tables(body))) == list(map(ast.dump, body))


def test_places_of_places_are_found():
    body = ast.parse(MADE + "t[t[0][1]][0] = len(t[2]) + t[-1][-1]").body
    last = with_tables(body)[-1]
    assert ast.unparse(last) == "t[t[0, 1], 0] = len(t[2]) + t[-1, -1]"
