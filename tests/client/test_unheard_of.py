"""What comes before recipes of neighbours: rows that data chooses, elements that are computed again
and again, and tiles in registers no wider than a row."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import random as filled

import loopbook
from loopbook.frontend.check import copied


def bags(W, places, out):
    for i in range(places.shape[0]):
        for k in range(places.shape[1]):
            for d in range(W.shape[1]):
                out[i, d] += W[places[i, k], d]


def columns_of_data(W, places, out):
    for i in range(places.shape[0]):
        for k in range(places.shape[1]):
            for d in range(W.shape[0]):
                out[i, d] += W[d, places[i, k]]


def spreading(s, i, steps, rate):
    for _ in range(steps):
        for k in range(s.shape[0]):
            new = rate * s[k] * i[k]
            s[k] -= new
            i[k] += new - 0.1 * i[k]


def channels(X, B, C, M):
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            for k in range(X.shape[2]):
                for r in range(M.shape[1]):
                    M[i, r] += X[i, j, k] * B[j, r] * C[k, r]


def _looked_up(d, n=9):
    places = np.arange(n * 5).reshape(n, 5) * 7 % 13 - 4
    return [filled(13, d), places, filled(n, d)]


def _compiled(kernel, *cases):
    """What the nests of a function get; it is called with all arguments, as Python is."""
    native = loopbook.native(kernel, strict=True)
    for given in cases:
        expected, got = copied(given), copied(given)
        kernel(*expected)
        native(*got)
        for one, other in zip(expected, got, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    assert native.plan is not None
    return [(report.tier, report.recipe) for report in native.plan.nests]


def test_rows_that_data_chooses_are_gone_along():
    (told,) = _compiled(bags, _looked_up(16), _looked_up(17, 2))
    assert told == ("order", "interchange L1 L2\n")


def test_other_rows_are_not():
    across = [filled(16, 13), *_looked_up(16)[1:]]
    assert ("order", "interchange L1 L2\n") not in _compiled(columns_of_data, across)


def test_elements_that_are_computed_again_and_again_are_left_to_take_steps_together():
    cases = [[filled(n), filled(n), steps, 0.3] for n, steps in ((300, 9), (257, 1), (3, 4))]
    (told,) = _compiled(spreading, *cases)
    assert told == ("order", "")


@pytest.mark.parametrize("rank", [16, 24, 100, 20])
def test_a_tile_in_registers_is_no_wider_than_a_row(rank):
    given = [filled(20, 21, 22), filled(21, rank), filled(22, rank), filled(20, rank)]
    ((tier, recipe),) = _compiled(channels, given)
    width = int(recipe.split()[2])
    assert (tier, recipe.split()[:2]) == ("tiles", ["tile", "L0"])
    assert width <= rank
    assert rank % width <= max(rank // 8, rank % 16, 4)
