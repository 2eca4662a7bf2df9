"""Arrays in a row, and in other shapes, are read where they lie."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import normal_form_of, random

import loopbook
from loopbook.program import walk
from loopbook.program.tree import Loop


def in_a_row(x):
    return np.cumsum(x.ravel())


def in_pairs(x):
    pairs = x.reshape(-1, 2)
    return np.cumsum(pairs[:, 0] * pairs[:, 1])


def turned(x):
    return np.cumsum(x.T.ravel())


def overwritten(x):
    before = x.flatten()
    x[1:, :] = 0.0
    return np.cumsum(before)


def changed(x):
    row = x.flatten()
    row[3] = 7.0
    return np.cumsum(row)


def in_rounds(x, n):
    total = 0.0
    for _ in range(n):
        total += np.cumsum(x.ravel())[-1]
        x[0, 0] += 1.0
    return total


LOOPS = {in_a_row: 1, in_pairs: 1, turned: 2, overwritten: 3, changed: 2, in_rounds: None}


@pytest.mark.parametrize("kernel", [kernel for kernel in LOOPS if LOOPS[kernel]])
def test_a_copy_in_the_same_order_is_not_made(kernel):
    program = normal_form_of(kernel, [random(6, 8)])
    inner = [n for n in walk.preorder(program) if isinstance(n, Loop) and walk.band(n) == [n]]
    assert len(inner) == LOOPS[kernel]


@pytest.mark.parametrize("kernel", LOOPS)
def test_results_stay_what_they_are(kernel):
    rest = [3] if kernel is in_rounds else []
    args, copies = [random(6, 8), *rest], [random(6, 8), *rest]
    np.testing.assert_allclose(loopbook.native(kernel)(*args), kernel(*copies), rtol=1e-12)
    np.testing.assert_array_equal(args[0], copies[0])
