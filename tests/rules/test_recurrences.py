"""Recurrences along rows, several of them side by side."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, nests_of, random

from loopbook.errors import IllegalStepError
from loopbook.rules.recurrences import recurrences_together, sweeps_together


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


def diagonally(A, B):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1] - 1):
            A[i, j] = B[i, j] * A[i, j - 1] + A[i - 1, j + 1]


def whole_numbers(A, B):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = A[i, j - 1] + A[i - 1, j]


def eliminated(A):
    for k in range(A.shape[0]):
        for i in range(k + 1, A.shape[0]):
            for j in range(k + 1, A.shape[0]):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]


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


def _swept(kernel, *arrays, rows: int = 40) -> list[tuple[str, tuple]]:
    (nest, *_) = nests_of(kernel, [*arrays])
    trips = {loop.name: rows for loop in nest.loops}
    return [(s.op, s.args) for _, steps in sweeps_together(nest, trips) for s in steps]


def test_rows_of_a_sweep_are_put_together(tmp_path):
    recipe = _swept(both_ways, random(9, 7), random(9, 7))
    assert recipe
    cases = [[random(n, m), random(n, m)] for n, m in ((16, 5), (19, 33), (7, 9), (3, 2))]
    check_recipe(both_ways, cases, recipe, tmp_path)


def test_sweeps_that_are_not():
    assert not _swept(along_rows, random(9, 7), random(9, 7))  # `recurrences_together` does
    assert not _swept(down_columns, random(9, 7), random(9, 7))
    assert not _swept(both_ways, random(9, 7), random(9, 7), rows=7)
    assert not _swept(eliminated, random(9, 9))  # rows need the pivot's only
    counts = random(9, 7).astype(int)
    assert not _swept(whole_numbers, counts, counts.copy())


def test_a_diagonal_s_neighbour_keeps_rows_apart(tmp_path):
    recipe = _swept(diagonally, random(9, 7), random(9, 7))
    with pytest.raises(IllegalStepError):
        check_recipe(diagonally, [[random(9, 7), random(9, 7)]], recipe, tmp_path)
