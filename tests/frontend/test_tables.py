"""Numbers of tuples and lists, of which only the loops know which is meant."""

from __future__ import annotations

import pytest

from .kit import check, data, function

TABLES = {
    "a number that is computed": """
lut, w = [10, 20, 30, 40], (0.5, 1.5, 2.5)
s = 0
for i in range(n):
    s += lut[(3 * i) % 4] * w[i % 3]
return s""",
    "from the end": "m = [31, 28, 31, 30]\nreturn m[k - 4], m[k % 3] + x[0]",
    "of whole numbers and others": """
for i in range(n):
    y[i] = [1, 0.5][i & 1] * x[i]""",
    "of what the arguments give": """
w = (s, 2.0 * s, 1.0)
for i in range(n):
    y[i] = w[i % 3]""",
    "twice the same": """
for i in range(n):
    y[i] = [1, 2][i % 2] + (1, 2)[(i + 1) % 2]""",
    "in loops that are long": """
for i in range(n):
    j = 0
    while j < 3:
        y[i] += [1.0, 4.0, 1.0][j] * x[i]
        j += 1""",
    "narrow numbers beside them": """
z = np.zeros(n, np.uint8)
for i in range(n):
    z[i] = [200, 100, 50][i % 3] + z[i - 1] // 4
return z""",
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_looked_up(name):
    kernel = function(TABLES[name], "n, k, s, x, y")
    for n in (7, 4, 1):
        check(kernel, n, 2, 0.75, data(n), data(n))


def test_short_loops_over_a_table_are_written_out():
    source = check(
        function(
            "for i in range(n):\n    for k in range(3):\n        y[i] += [1, 0, -1][k] * x[k]",
            "n, x, y",
        ),
        8,
        data(8),
        data(8),
    ).kernel_source
    assert source.count("for ") == 1, source


def test_rolling_along_several_axes():
    body = """
moves = [[1, 0], [0, -1], [2, 1]]
for k in range(3):
    y += np.roll(x, moves[k], axis=(0, 1)) + np.roll(x, 1, axis=(0, 1))"""
    check(function(body, "x, y"), data(5, 6), data(5, 6))
