"""Numbers that are loaded for nobody are left out, where that cannot be noticed."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.frontend.code import Line
from loopbook.frontend.unread import without_unread


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a = t[i]\nb = t[i + 1]\nx[0] = b", "b = t[i + 1]\nx[0] = b"),
        ("a = t[i]\nb = u[a]\nx[0] = 1", "x[0] = 1"),  # nor what is only used for such a load
        ("a = x[i]\nx[0] = 1", "a = x[i]\nx[0] = 1"),  # of an argument: it may raise
        ("a = t[i]\nx[a] = 1", "a = t[i]\nx[a] = 1"),
        ("a = t[f(i)]\nx[0] = 1", "a = t[f(i)]\nx[0] = 1"),
        ("for i in range(3):\n a = t[i]", "for i in range(3):\n a = t[i]"),  # a block holds one
        ("for i in range(3):\n a = t[i]\n x[i] = 1", "for i in range(3):\n x[i] = 1"),
    ],
)
def test_loads_of_what_was_made(text, left):
    lines = [Line(len(line) - len(line.lstrip()), line.strip(), 0) for line in text.splitlines()]
    found = without_unread(lines, {"t", "u"})
    assert "\n".join(" " * line.depth + line.text for line in found) == left


def matched(bids, asks):
    fills, i, j = [], 0, 0
    while i < len(bids) and j < len(asks) and bids[i, 0] >= asks[j, 0]:
        amount = min(bids[i, 1], asks[j, 1])
        fills.append(((bids[i, 0] + asks[j, 0]) / 2, amount))
        bids[i, 1] -= amount
        asks[j, 1] -= amount
        i += bids[i, 1] == 0
        j += asks[j, 1] == 0
    return fills, sum(q for _, q in fills), sum(p for p, _ in fills)


def test_a_column_that_is_not_asked_for_confuses_nobody():
    random = np.random.default_rng(3)
    compiled = loopbook.native(matched, strict=True)
    for n in (6, 40):
        prices, amounts = np.sort(random.random((2, n))), random.integers(1, 9, (2, n)) * 1.0
        bids = np.column_stack([prices[0][::-1] + 0.3, amounts[0]])
        asks = np.column_stack([prices[1], amounts[1]])
        others = bids.copy(), asks.copy()
        expected, got = matched(*others), compiled(bids, asks)
        np.testing.assert_allclose(got[0], expected[0])
        np.testing.assert_allclose(got[1:], expected[1:])
        np.testing.assert_allclose(bids, others[0])
