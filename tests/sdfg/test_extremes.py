"""The greatest and least numbers of loops, in vectors: a NaN counts as it did, so does infinity."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import prepared_text

import loopbook
from loopbook.program.dataflow import Block, MathsCall
from loopbook.program.json_text import loaded
from loopbook.program.read import read
from loopbook.program.tree import Program
from loopbook.program.walk import preorder
from loopbook.sdfg.decided import decide
from loopbook.sdfg.extremes import found_in_vectors, has_own


def greatest(x, y):
    y[:] = x.max(axis=1)


def least_difference(x, y):
    y[:] = np.min(np.abs(x - x[0]), axis=1)


def of_all(x, y):
    y[:] = np.max(x) - np.min(x * x)


def chosen(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            if x[i, j] > m:
                m = x[i, j]
        y[i] = m


def chosen_least(x, y):
    for i in range(x.shape[0]):
        m = np.inf
        total = 0.0
        for j in range(x.shape[1]):
            d = x[i, j] * x[i, j]
            total += d
            if d <= m:
                m = d
        y[i] = m + total


def computed_again(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            if (x[i, j] - x[i, j - 1]) * x[i, j] > m:
                m = (x[i, j] - x[i, j - 1]) * x[i, j]
        y[i] = m


def running_sum(x, y):
    for i in range(x.shape[0]):
        s = m = x[i, 0]
        for j in range(1, x.shape[1]):
            s = s + (x[i, j] - x[i, j - 1])
            if s > m:
                m = s
        y[i] = m


def grown(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            if x[i, j] > m:
                m = m + x[i, j]
        y[i] = m


def computed_otherwise(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1]):
            if (x[i, j] - x[i, j - 1]) * x[i, j] > m:
                m = (x[i, j - 1] - x[i, j]) * x[i, j]
        y[i] = m


def place_of_it(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        at = 0
        for j in range(1, x.shape[1]):
            if x[i, j] < m:
                m = x[i, j]
                at = j
        y[i] = at


def next_one(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(1, x.shape[1] - 1):
            if x[i, j] > m:
                m = x[i, j + 1]
        y[i] = m


def running(x, y):
    for i in range(x.shape[0]):
        m = x[i, 0]
        for j in range(x.shape[1]):
            if x[i, j] > m:
                m = x[i, j]
            y[i] = y[i] + m


def both(x, y):
    y[:] = x.max(axis=1) - x.min(axis=1)


def compared(x, y):
    m = x[0, 0]
    for i in range(x.shape[0]):
        m = max(m, y[i])
    y[0] = m


CHANGED = [compared, chosen, chosen_least, computed_again, running_sum]
LEFT = [computed_otherwise, grown, place_of_it, next_one, running]


def numbers(dtype: str) -> np.ndarray:
    x = np.random.default_rng(0).standard_normal((16, 70)).astype(dtype)
    x[1, 7], x[2, 9], x[3, 11] = np.nan, np.inf, -np.inf
    x[4], x[5], x[6], x[7, 0], x[8, -1] = -np.inf, np.inf, np.nan, np.nan, np.nan
    x[9], x[10], x[11] = np.inf, -np.inf, 0.0
    x[9, 3], x[10, 4], x[11, ::2] = np.nan, np.nan, -0.0
    x[12, 1:4] = np.nan, np.inf, -np.inf
    return x


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize(
    "kernel",
    [
        greatest,
        least_difference,
        of_all,
        both,
        chosen,
        chosen_least,
        computed_again,
        computed_otherwise,
        place_of_it,
        next_one,
        running,
    ],
)
def test_what_is_no_number_or_infinite_stays_so(kernel, dtype):
    plain = np.random.default_rng(1).standard_normal((16, 70)).astype(dtype)
    compiled = loopbook.native(kernel)
    for x in (plain, plain, plain, numbers(dtype)):
        found, expected = np.zeros((2, 16), dtype)
        compiled(x, found)
        with np.errstate(all="ignore"):
            kernel(x, expected)
        assert np.allclose(found, expected, rtol=1e-5, equal_nan=True)


def functions(program: Program) -> set[str]:
    return {
        node.function
        for block in preorder(program)
        if isinstance(block, Block)
        for node in block.nodes
        if isinstance(node, MathsCall)
    }


def decided(kernel) -> Program:
    return decide(read(loaded(prepared_text(kernel, [np.ones((16, 70)), np.zeros(16)]))))


@pytest.mark.parametrize("kernel", CHANGED)
def test_one_that_nothing_else_asks_is_found_in_vectors(kernel):
    program = decided(kernel)
    assert functions(found_in_vectors(program)) >= {"nexttoward"}
    assert has_own(found_in_vectors(program))


@pytest.mark.parametrize("kernel", LEFT)
def test_one_that_is_asked_otherwise_stays(kernel):
    program = decided(kernel)
    assert found_in_vectors(program) is program
