"""Searches that look at a block of elements at a time."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.sdfg import frontend
from loopbook.sdfg.decided import decide
from loopbook.sdfg.searches import AHEAD, with_block_searches
from loopbook.sdfg.transformed import transform

pytestmark = pytest.mark.usefixtures("no_book")


def first(x, v):
    for i in range(x.shape[0]):
        if x[i] == v:
            return i
    return -1


def rises(x, v):
    at, low = -2, v
    for i in range(1, x.shape[0]):
        if x[i] < x[i - 1] and not x[i] > v:
            at = i
            low = x[i]
            break
    return at, low


def in_rows(x, v):
    n = x.shape[0] // 4
    found = np.zeros(4, dtype=np.int64)
    for r in range(4):
        for i in range(n):
            if x[r * n + i] > v:
                found[r] = i
                break
    return found


def added(x, v):
    """What it adds up is carried: nothing is looked at ahead."""
    s, at = 0.0, 0
    for i in range(x.shape[0]):
        s += x[i]
        if s > v:
            at = i
            break
    return s, at


@pytest.mark.parametrize("function", [first, rises, in_rows, added])
def test_the_first_one_is_found(function):
    program = loopbook.native(function, strict=True)
    for size in (5, AHEAD, 4 * AHEAD + 3, 9 * AHEAD):
        for place in {0, size // 2, AHEAD - 1, AHEAD, size - 1, size}:
            x = np.arange(size) * 0.5
            x[2::7] = np.nan
            if place < size:
                x[place] = -1.0 if function is rises else 1e3
            value = {rises: 0.0, added: 900.0}.get(function, 1e3 - (function is in_rows))
            np.testing.assert_array_equal(program(x, value), function(x, value))


def found(x, v, at):
    for i in range(x.shape[0]):
        if x[i] > v:
            at[0] = i
            break


def behind_the_end(x, v, at):
    for i in range(x.shape[0]):
        if x[i + 1] > v:
            at[0] = i
            break


@pytest.mark.parametrize("function", [found, behind_the_end])
def test_nothing_is_looked_at_that_may_not_be_there(function):
    text = frontend.trace(function, [np.ones(2000), 0.5, np.zeros(1)])
    tree = decide(transform(text, "sequential", {}, late=True).tree)
    assert (with_block_searches(tree) is tree) == (function is behind_the_end)
