"""Whole numbers that the last place of a float decides: bins, cells, shades of grey."""

from __future__ import annotations

import json

import numpy as np
import pytest

import loopbook
from loopbook.program.read import read
from loopbook.program.rounds import accumulates, rounds
from loopbook.sdfg import build

pytestmark = pytest.mark.usefixtures("no_book")


def cells(x, width, count):
    bins = np.floor(x / width).astype(np.int64)
    grey = (0.2126 * x + 0.7152 * x + 0.0722 * x).astype(np.uint8)
    count[:-1] = (x - 0.1) / 0.1
    return bins, grey


def counted(x, width, count):
    for i in range(x.shape[0]):
        count[int((x[i] - 0.1) / width)] += 1.0
    return count.sum(), count[:9].mean()


def mixed(x, width, count):
    shade = (0.3 * x + (1 - 0.3) * count[:-1]).astype(np.uint8)
    return shade, count.sum(), (x * x).mean()


def scaled(x, width, count):
    count[:-1] = x / width
    return (x * width + count[0]).sum()


def made(function):
    """The function compiled for numbers on the edges of cells, and what it and Python give."""
    x, width = np.arange(2000) * 0.1, 0.1
    program = loopbook.native(function, strict=True)
    counts = np.zeros((2, 2001))
    return (
        program,
        (program(x, width, counts[0]), counts[0]),
        (function(x, width, counts[1]), counts[1]),
    )


def finished(program):
    return read(json.loads(build.finish(program.last_sdfg.to_json(), "sequential", {})))


@pytest.mark.parametrize("function", [cells, counted])
def test_numbers_on_an_edge_are_in_the_cell_that_numpy_puts_them_in(function):
    program, (got, count), (want, counts) = made(function)
    for one, other in zip((*got, count), (*want, counts), strict=True):
        np.testing.assert_array_equal(one, other)
    tree = finished(program)
    assert rounds(tree)
    assert accumulates(tree) == (function is counted)


def test_sums_in_any_order_leave_other_numbers_in_numpys():
    x = np.arange(200.0)
    count = np.append(x, 1.0)
    program = loopbook.native(mixed, strict=True)
    got, want = program(x, 0.1, count), mixed(x, 0.1, count)
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_allclose(got[1:], want[1:])


def test_other_programs_may_keep_more_digits():
    program, got, want = made(scaled)
    np.testing.assert_allclose(got[0], want[0])
    assert not rounds(finished(program))


def roots(a, b, c):
    d = b * b - 4 * a * c
    return np.where(d < 0, 9.0, (np.sqrt(np.abs(d)) - b) / (2 * a))


def turns(a, b, c):
    left = flat = 0
    for i in range(2, a.shape[0]):
        z = (a[i - 1] - a[i - 2]) * (b[i] - b[i - 2]) - (b[i - 1] - b[i - 2]) * (a[i] - a[i - 2])
        if z > 0:
            left += 1
        elif not z < 0:
            flat += 1
    return left, flat


def sides(a, b, c):
    n = a * b - b * c
    return np.where(n > 0, a, 0.0) + np.sign(n)


@pytest.mark.parametrize("function", [roots, turns, sides])
def test_products_that_cancel_out_leave_nothing(function):
    """Which side of 0 that is decides what comes out."""
    a = np.repeat(np.random.default_rng(3).random(40) + 0.1, 2)
    args = (a, 2 * a if function is roots else a[::-1] * 0.3, a.copy())
    program = loopbook.native(function, strict=True)
    np.testing.assert_allclose(program(*args), function(*args))
