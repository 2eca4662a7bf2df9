"""`roll`: right numbers for sweeps that are late, rows kept, refused where that cannot be."""

from __future__ import annotations

import pytest
from regions_kit import smoothed, two_sweeps
from sdfg_kit import bench_of, check_recipe, check_refused, normal_form_of, random, steps

from loopbook.program import walk
from loopbook.program.accesses import accesses
from loopbook.program.nests import nests
from loopbook.program.regions import with_regions
from loopbook.program.signed import sign_counters
from loopbook.steps.workbench import Workbench


def three_sweeps(A, T, n):
    for t in range(n):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(A.shape[1]):
                T[i, j] = A[i - 1, j] + A[i + 1, j]
        for i in range(2, A.shape[0] - 2):
            for j in range(A.shape[1]):
                A[i, j] = 0.25 * T[i - 1, j] + T[i + 1, j]
        for i in range(2, A.shape[0] - 2):
            for j in range(A.shape[1]):
                T[i, j] = A[i, j] - T[i, j]


def upside_down(A, T, n):
    for t in range(n):  # noqa: B007
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                T[i, j] = 2.0 * A[i, j]
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                A[i, j] = T[A.shape[0] - 1 - i, j]


@pytest.mark.parametrize("shape", [(9, 7), (4, 5), (40, 3)])
def test_two_sweeps_are_one(tmp_path, shape):
    check_recipe(two_sweeps, [[random(*shape), random(*shape), 3]], steps("roll L1 1"), tmp_path)


@pytest.mark.parametrize("recipe", ["roll L1 2", "roll L1 1", "roll L3 1"])
@pytest.mark.parametrize("shape", [(9, 7), (5, 4), (40, 3)])
def test_some_of_three_are_one(tmp_path, shape, recipe):
    check_recipe(three_sweeps, [[random(*shape), random(*shape), 3]], steps(recipe), tmp_path)


def test_the_loops_inside_keep_their_names(tmp_path):
    bench = bench_of(two_sweeps, [random(9, 7), random(9, 7), 3])
    bench.apply("roll", ("L1", 1))
    assert list(bench.names) == ["L0", "L1.rolled", "L2", "L4"]
    recipe = steps("roll L1 1\ntile L2 4\nvectorize L4")
    check_recipe(two_sweeps, [[random(9, 7), random(9, 7), 3]], recipe, tmp_path)


def test_what_needs_the_end_first_is_refused():
    args = [random(9, 7), random(9, 7), 2]
    check_refused(upside_down, args, "", "roll L1 1", "cannot be one")


def test_there_must_be_so_many():
    check_refused(two_sweeps, [random(9, 7), random(9, 7), 2], "", "roll L1 2", "cannot be one")
    check_refused(two_sweeps, [random(9, 7), random(9, 7), 2], "", "roll L2 1", "cannot be one")


def test_of_a_temporary_a_few_rows_are_kept():
    program = sign_counters(normal_form_of(smoothed, [random(12, 12), random(12, 12)]))
    joined = with_regions(program)
    (region,) = nests(joined)
    bench = Workbench(joined, region)
    bench.apply("roll", ("L1", 1))
    indices = {
        access.subset[0].text
        for node in walk.preorder(bench.program)
        if not isinstance(node, type(bench.program))
        for access in accesses(node)
        if access.container == "u_0" and access.subset
    }
    assert indices
    assert all("imod" in index for index in indices)
