"""Sums that branches add to."""

from __future__ import annotations

import json

import numpy as np
import pytest

import loopbook
from loopbook.program.read import read
from loopbook.program.tree import Branch
from loopbook.program.walk import preorder
from loopbook.sdfg import build
from loopbook.sdfg.conditional_sums import with_conditional_sums
from loopbook.sdfg.decided import decide

pytestmark = pytest.mark.usefixtures("no_book")


def both_sides(x, y):
    positive, negative, product, count = 0.0, 0.0, 1.0, 3
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            positive += x[i]
            count += 2
            if x[i] > 0.5:
                product *= y[i]
                count -= 1
        elif x[i] < 0.0:
            negative -= x[i] * y[i]
        else:
            negative += y[i]
    return positive, negative, product, count


def rows(x, y):
    for i in range(0, x.shape[0], 10):
        total, count = -0.0, 0
        for j in range(i, x.shape[0]):
            if x[j] > y[i]:
                total += x[j]
                count += 1
        y[i] = total / count if count > 2 else total
    return y.sum()


def in_order(x, y):
    """The place of the next one is asked for in the loop, and one sum begins anew."""
    total, count = 0.0, 0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            total += x[i]
            y[count] = total
            count += 1
    return total, count


def begun_anew(x, y):
    total, count = 0.0, 0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            total += x[i]
            count += 1
        else:
            total = 0.0
    return total, count


def one(x, y):
    total = 2.0
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            total += x[i] * y[i]
    return total


def arguments():
    random = np.random.default_rng(2)
    x, y = random.random((2, 203)) - 0.5
    x[3], x[50:60] = np.nan, 0.0
    return x, y


@pytest.mark.parametrize("function", [both_sides, rows, in_order, begun_anew, one])
def test_numbers_are_pythons(function):
    program = loopbook.native(function, strict=True)
    for begin in (1, 3, 4):  # elements of which none is positive, and more
        got, want = (arguments() for _ in range(2))
        if begin < 4:
            got, want = ([a[51 : 51 + begin].copy() for a in each] for each in (got, want))
        found, expected = program(*got), function(*want)
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(got, want)
        if isinstance(expected, tuple):
            assert [*map(type, found)] == [*map(type, expected)]


@pytest.mark.parametrize("function", [both_sides, rows, in_order, begun_anew])
def test_they_are_added_behind_the_branch_where_nothing_else_is_carried(function):
    program = loopbook.native(function, strict=True)
    program(*arguments())
    text = build.finish(program.last_sdfg.to_json(), "sequential", {})
    tree = decide(read(json.loads(text)))
    assert any(isinstance(node, Branch) for node in preorder(tree))
    assert (with_conditional_sums(tree) is tree) == (function in (in_order, begun_anew))
