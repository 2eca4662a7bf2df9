"""Updates by pivots, branches that become minima, and loads before loops."""

from __future__ import annotations

import copy
from random import Random

import numpy as np
import pytest
from sdfg_kit import bench_of, check_recipe, matmul, nests_of, steps
from sdfg_kit import random as filled

import loopbook
from loopbook.errors import IllegalStepError
from loopbook.program.accesses import accesses
from loopbook.rules import TuningContext, seed_population
from loopbook.rules.pivots import pivot_cuts
from loopbook.workloads.polybench import floyd_warshall

AROUND = TuningContext("sequential", 8)


def lesser(A, b):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] + b[i] < A[i, j]:
                A[i, j] = A[i, j] + b[i]


def greatest(A, b):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > b[i]:
                b[i] = A[i, j]


def clipped(A, b):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > b[i]:
                A[i, j] = b[i]


def other_value(A, b):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] > b[i]:
                A[i, j] = b[i] + 1


def other_place(A, b):
    for i in range(A.shape[0] - 1):
        for j in range(A.shape[1]):
            if A[i, j] > b[i]:
                A[i + 1, j] = b[i]


def equal(A, b):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] != b[i]:
                A[i, j] = b[i]


def scaled(A, b):
    for i in range(A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = A[i, j] + A[i, 0]


def scaled_from_first(A, b):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] + A[i, b.shape[0]]


def whole(*shape: int, low: int = -9) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(low, 99, shape, dtype=np.int32)


def test_paths_are_right_with_the_opening(tmp_path):
    # Negative lengths, too: then the order in which a row's own pivot is met matters.
    cases = [[whole(n, n, low=low)] for n, low in ((2, 0), (33, 0), (3, -2), (8, -2))]
    (nest,) = nests_of(floyd_warshall.kernel, cases[0])
    recipe = pivot_cuts(nest, Random(0), AROUND)
    assert tuple(recipe) in seed_population(nest, AROUND)
    assert "hoist" in {single.op for single in recipe}
    check_recipe(floyd_warshall.kernel, cases, [(s.op, s.args) for s in recipe], tmp_path)
    check_recipe(floyd_warshall.kernel, cases, steps("if_convert L0"), tmp_path / "straight")


def shortest(A):
    for k in range(A.shape[0]):
        for i in range(A.shape[0]):
            for j in range(A.shape[0]):
                A[i, j] = min(A[i, j], A[i, k] + A[k, j])


@pytest.mark.parametrize("kernel", [shortest, floyd_warshall.kernel])
def test_paths_of_any_length_are_right(kernel, tmp_path):
    cases = [[filled(n, n) - shift] for n, shift in ((2, 0.0), (33, 0.0), (8, 0.25))]
    (nest,) = nests_of(kernel, cases[0])
    recipe = pivot_cuts(nest, Random(0), AROUND)
    assert {"cut", "hoist", "vectorize"} == {one.op for one in recipe} - {"mark_parallel"}
    check_recipe(kernel, cases, [(one.op, one.args) for one in recipe], tmp_path)


def test_other_nests_have_no_pivots():
    (nest,) = nests_of(matmul, [filled(3, 4), filled(4, 5), filled(3, 5)])
    assert pivot_cuts(nest, Random(0), AROUND) == []


@pytest.mark.parametrize("kernel", [lesser, greatest, clipped])
def test_branches_become_minima_and_maxima(kernel, tmp_path):
    cases = [[whole(m, n), whole(m)] for m, n in ((2, 3), (5, 9), (8, 33))]
    check_recipe(kernel, cases, steps("if_convert L0"), tmp_path)


@pytest.mark.parametrize(
    ("kernel", "make"),
    [
        (lesser, filled),  # what is not a number is not less
        (clipped, filled),
        (other_value, whole),
        (other_place, whole),
        (equal, whole),
        (matmul, None),
    ],
)
def test_other_branches_stay(kernel, make):
    args = [make(7, 9), make(7)] if make else [whole(5, 5), whole(5, 5), whole(5, 5)]
    bench = bench_of(kernel, args)
    with pytest.raises(IllegalStepError, match="lesser or greater"):
        bench.apply("if_convert", ("L0",))


def test_what_a_loop_does_not_change_is_loaded_before_it(tmp_path):
    cases = [[filled(m, n), filled(2)] for m, n in ((2, 3), (5, 9), (8, 2), (9, 33))]
    check_recipe(scaled, cases, steps("hoist L1"), tmp_path)


def told_apart(A, b):
    for i in range(A.shape[0]):
        for j in range(1, A.shape[1]):
            if A[i, j] < A[i, 0]:
                A[i, j] = A[i, 0] * b[i]


def test_a_branch_takes_what_was_loaded_too(tmp_path):
    bench = bench_of(told_apart, [filled(5, 9), filled(5)])
    bench.apply("hoist", ("L1",))
    (kept,) = (name for name in bench.program.containers if name.startswith("A_kept"))
    reads = [access for access in accesses(bench.program.body) if access.container == kept]
    assert [access.write for access in reads].count(False) == 2
    cases = [[filled(m, n), filled(m)] for m, n in ((2, 3), (5, 9), (8, 2))]
    check_recipe(told_apart, cases, steps("hoist L1"), tmp_path)


@pytest.mark.parametrize("recipe", ["hoist L0", "hoist L1"])
def test_what_a_loop_may_change_is_not_loaded_before_it(recipe):
    bench = bench_of(scaled_from_first, [filled(9, 9), filled(3)])
    (single,) = steps(recipe)
    with pytest.raises(IllegalStepError, match="not known to be legal"):
        bench.apply(*single)


def paths_and_ways(D, P):
    for k in range(D.shape[0]):
        for i in range(D.shape[0]):
            for j in range(D.shape[0]):
                if D[i, k] + D[k, j] < D[i, j]:
                    D[i, j] = D[i, k] + D[k, j]
                    P[i, j] = k


def ways_by_rows(D, P):
    for k in range(D.shape[0]):
        for i in range(D.shape[0]):
            d = D[i, k]
            for j in range(D.shape[0]):
                s = d + D[k, j]
                if s < D[i, j]:
                    D[i, j] = s
                    P[i, j] = P[k, j]


@pytest.mark.parametrize("kernel", [paths_and_ways, ways_by_rows])
def test_ways_beside_paths(kernel):
    compiled = loopbook.native(kernel, strict=True, target="sequential")
    for n in (40, 9, 3, 1):
        got = [filled(n, n) * 7 % 5 + 0.25, whole(n, n)]
        if n == 9:
            got[0][4, 4] = -0.5  # a circle that shortens what goes round it
        expected = copy.deepcopy(got)
        compiled(*got)
        kernel(*expected)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        if n == 40:
            assert compiled.plan is not None
            (report,) = compiled.plan.nests
            assert report.recipe.startswith("cut L1 L0\n")
