"""Walks across rows are done in columns where they meet few sets of a cache, and nowhere else."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, nests_of, random

from loopbook.rules.transposes import transposed

LARGE = {"L0": 1024, "L1": 1024}


def turned(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[j, i] = A[i, j]


def straight(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] = A[i, j] + B[i, 0]


def found(kernel, trips):
    (nest,) = nests_of(kernel, [random(9, 9), random(9, 9)])
    return transposed(nest, trips)


@pytest.mark.parametrize(
    ("kernel", "trips", "tiled"),
    [
        (turned, LARGE, True),
        (turned, {"L0": 704, "L1": 1000}, True),
        (turned, {"L0": 1000, "L1": 1024}, False),
        (turned, {"L0": 64, "L1": 64}, False),
        (turned, {}, False),
        (straight, LARGE, False),
    ],
)
def test_rows_of_such_lengths_are_tiled(kernel, trips, tiled):
    assert bool(found(kernel, trips)) == tiled


def test_columns_are_right_for_every_size(tmp_path):
    steps = [(one.op, one.args) for one in found(turned, LARGE)]
    cases = [[random(n, m), random(m, n)] for n, m in ((9, 40), (40, 9), (16, 16), (1, 33))]
    check_recipe(turned, cases, steps, tmp_path)
