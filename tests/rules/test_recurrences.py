"""Recurrences along rows, several of them side by side."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, nests_of, random

from loopbook.rules.recurrences import recurrences_together


def along_rows(A, B):
    for i in range(A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = B[i, j] / (A[i, j - 1] + 2.0)


def back_along_rows(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1] - 2, -1, -1):
            A[i, j] = B[i, j] * A[i, j + 1]


def down_columns(A, B):
    for j in range(A.shape[1]):
        for i in range(1, A.shape[0]):
            A[i, j] = B[i, j] / (A[i - 1, j] + 2.0)


def apart(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = B[i, j] + 1.0


def both_ways(A, B):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = B[i, j] * A[i, j - 1] + A[i - 1, j]


def _found(kernel, rows: int = 40) -> list[tuple[str, tuple]]:
    """The steps for a kernel's first nest."""
    (nest, *_) = nests_of(kernel, [random(9, 7), random(9, 7)])
    trips = {loop.name: rows for loop in nest.loops}
    return [(s.op, s.args) for _, steps in recurrences_together(nest, trips) for s in steps]


@pytest.mark.parametrize("kernel", [along_rows, back_along_rows])
def test_the_numbers_stay_whatever_the_tiles_leave_over(kernel, tmp_path):
    recipe = _found(kernel)
    assert recipe
    cases = [[random(n, m), random(n, m)] for n, m in ((16, 5), (19, 33), (7, 9), (3, 2))]
    check_recipe(kernel, cases, recipe, tmp_path)


@pytest.mark.parametrize("kernel", [down_columns, apart, both_ways])
def test_other_nests_are_left_alone(kernel):
    assert not _found(kernel)


def test_a_few_rows_are_left_alone():
    assert not _found(along_rows, rows=7)
