"""Python's whole numbers that outgrow a word."""

from __future__ import annotations

import ast
import textwrap

import numpy as np
import pytest

import loopbook
from loopbook.frontend import lower
from loopbook.frontend.growing import with_checks


def series(n):
    s, f = 0.0, 1
    for k in range(1, n):
        f *= k
        s += 1.0 / f + 1 / 16**k - (-1) ** k / 3**k
    return s


def pairs(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def doubled(n):
    p, k = 1, 0
    while p < n:
        p = p * 2
        k += 1
    return p, k


@pytest.mark.parametrize(
    ("function", "few", "many"), [(series, 9, 60), (pairs, 50, 150), (doubled, 1000, 2**63 - 1)]
)
def test_numbers_that_are_no_words_are_pythons(function, few, many):
    program = loopbook.native(function)
    for n in (few, many, few):
        assert program(n) == pytest.approx(function(n), rel=1e-14)
        assert type(program(n)) is type(function(n))


def test_where_the_ends_of_a_loop_say_so_nothing_is_looked_at_inside():
    def halves(n, x):
        for k in range(n):
            x[k] = x[k] / 2**k + (-1) ** k

    lowered = lower(halves, (20, np.ones(20)), loops_too=True)
    assert lowered is not None
    assert "failed" not in lowered.source
    assert not lowered.holds(70, np.ones(70))
    lowered = lower(halves, (70, np.ones(70)), loops_too=True)
    assert lowered is not None
    assert "failed" in lowered.source


def checked(text: str) -> list[str]:
    body = ast.parse(textwrap.dedent(text)).body
    found = [node for one in with_checks(body) for node in ast.walk(one)]
    return [ast.unparse(node) for node in found if hasattr(node, "checks_room")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("for i in range(n):\n  f = f * i + g * i", ["f * i"]),
        ("for i in range(n):\n  a, b = b, a - b", ["a - b"]),
        ("while a:\n  s += 1 << a", ["1 << a"]),
        ("while a:\n  if a:\n    x = 3 * x + 1", ["3 * x"]),
        ("for i in range(n):\n  r = r * b % m", ["r * b"]),
        ("for i in range(n):\n  h = h * 31 ^ i", ["h * 31"]),
    ],
)
def test_what_may_grow_is_looked_at(text, parts):
    assert checked(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "f = f * n",
        "for i in range(n):\n  s += i * i",
        "for i in range(n):\n  s += a[i]\n  t = s * s",
        "s = 0.0\nfor i in range(n):\n  s = s * x[i] + c[i]",
        "for i in range(n):\n  p *= a[i]",
        "for i in range(n):\n  x = (1103515245 * x + 12345) % 2147483648",
        "for i in range(n):\n  h = (h * 33 + i) & 0xFFFFFFFF",
        "for i in range(n):\n  a, b = b, (a + b) % 1000000007",
        "for i in range(n):\n  x = x * 0.5",
        "for i in range(n):\n  y = 2 ** 5 * i",
    ],
)
def test_what_stays_small_or_is_no_whole_number_of_pythons_is_not(text):
    assert checked(text) == []
