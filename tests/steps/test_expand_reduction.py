"""`expand_reduction`: sums of rows that threads share, each with places of its own."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import bench_of, both_ways, check_recipe, check_refused, random, steps

from loopbook.errors import IllegalStepError

SHARED = "tile L0 4\nexpand_reduction L0.tile\nparallel L0.tile"


def gram(A, C):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            for k in range(A.shape[1]):
                C[j, k] += A[i, j] * A[i, k]


def inner_part(A, s):
    for i in range(A.shape[0]):
        for j in range(1, A.shape[1] - 1):
            s[j] -= A[i, j - 1] + A[i, j + 1]


def counts(A, n):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            n[j] += A[i, j]


def below(A, s):
    for i in range(A.shape[0]):
        for j in range(i):
            s[j] += A[i, j]


def running(A, s):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[j] += A[i, j]
            A[i, j] = s[j]


def rows_above(A, s):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1]):
            s[j] += A[i - 1, j]
            A[i, j] = A[i - 1, j]


SIZES = ((9, 10), (8, 3), (4, 7), (3, 5), (13, 2))


@pytest.mark.parametrize("target", ["sequential", "openmp"])
def test_sums_of_rows_are_right_for_every_size(tmp_path, target):
    cases = [[random(m, n), random(m), random(n), random(n), random(m)] for m, n in SIZES]
    check_recipe(both_ways, cases, steps(SHARED), tmp_path, target)


COLUMNS = "interchange L0 L1\ntile L1 4\nexpand_reduction L1.tile\nparallel L1.tile"
"""docc has the parallel loop outside."""


def test_a_matrix_is_added_up_too(tmp_path):
    cases = [[random(m, n), random(n, n)] for m, n in SIZES if m != n]
    recipe = "interchange L1 L2\ninterchange L0 L2\nexpand_reduction L2\nparallel L2"
    check_recipe(gram, cases, steps(recipe), tmp_path, "openmp")


def test_only_what_is_added_to_has_places(tmp_path):
    cases = [[random(m, n), random(n)] for m, n in ((9, 10), (6, 4), (5, 3))]
    check_recipe(inner_part, cases, steps(COLUMNS), tmp_path, "openmp")


def test_whole_numbers(tmp_path):
    cases = [[np.arange(m * n).reshape(m, n), np.arange(n)] for m, n in ((9, 10), (6, 4))]
    check_recipe(counts, cases, steps(COLUMNS), tmp_path, "openmp")


def test_loops_are_named_as_the_class_says():
    args = [random(9, 10), random(9), random(10), random(10), random(9)]
    bench = bench_of(both_ways, args)
    for op, values in steps(SHARED):
        bench.apply(op, values)
    assert {"L0.tile.zero", "L0.tile.sum"} <= set(bench.names)


@pytest.mark.parametrize("kernel", [running, rows_above])
def test_what_is_read_in_order_is_refused(kernel):
    bench = bench_of(kernel, [random(9, 10), random(10)])
    with pytest.raises(IllegalStepError, match=r"depend on each other|add nothing"):
        bench.apply("expand_reduction", ("L0",))
    assert "L0.zero" not in bench.names


def test_ends_that_change_are_refused():
    bench = bench_of(below, [random(9, 9), random(9)])
    with pytest.raises(IllegalStepError, match="add nothing"):
        bench.apply("expand_reduction", ("L0",))


def rows_added(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += x[j] * A[i, j]


def test_what_is_around_has_no_threads(tmp_path):
    """The memory is there once, for all of its iterations."""
    args = [random(9, 7), random(7), random(9)]
    check_refused(rows_added, args, "parallel L0", "expand_reduction L1", "shared out already")
    check_refused(rows_added, args, "expand_reduction L1", "parallel L0", "no parallel loop")
    check_recipe(rows_added, [args], steps("expand_reduction L1"), tmp_path, "openmp")
