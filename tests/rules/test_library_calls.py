"""Products that only parts of nests are: triangles, symmetric matrices, solves, factorisations."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from sdfg_kit import bench_of, check_recipe, nests_of, random, steps

from loopbook.errors import IllegalStepError
from loopbook.program import walk
from loopbook.program.accesses import accesses
from loopbook.program.dataflow import Reference
from loopbook.rules import TuningContext
from loopbook.rules.library import library_call, library_calls
from loopbook.workloads.polybench.cholesky import kernel as cholesky
from loopbook.workloads.polybench.lu import kernel as lu

from .test_staircase import by_rows, by_scaled_rows, in_place, symmetric

AROUND = TuningContext("sequential", 4, libraries=True)


def lower_result(A, C):
    for i in range(C.shape[0]):
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += 1.5 * A[i, k] * A[j, k]


def upper_result(A, C):
    for i in range(C.shape[0]):
        for j in range(i, C.shape[0]):
            for k in range(A.shape[0]):
                C[i, j] += A[k, i] * A[k, j]


def above_the_diagonal(A, C):
    for i in range(C.shape[0] - 1):
        for j in range(i + 1, C.shape[0]):
            for k in range(A.shape[0]):
                C[i, j] += A[k, i] * A[k, j]


def below_the_diagonal(A, C):
    for i in range(C.shape[0]):
        for j in range(i):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * A[j, k]


def two_products(A, B, C):
    for i in range(C.shape[0]):
        for k in range(A.shape[1]):
            for j in range(i + 1):
                C[i, j] += A[j, k] * B[i, k] + B[j, k] * A[i, k]


def lower_operand(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(i + 1):
                C[i, j] += A[i, k] * B[k, j]


def scalar_sums(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[i, k] * B[k, j]
            C[i, j] = 2.0 * s + 0.5 * C[i, j]


def scalar_sums_of_triangle(A, C):
    for i in range(C.shape[0]):
        for j in range(i + 1):
            s = 0.0
            for k in range(A.shape[1]):
                s += A[i, k] * A[j, k]
            C[i, j] = s


def solve(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(i):
                B[i, j] -= A[i, k] * B[k, j]
            B[i, j] /= A[i, i]


def solve_with_scalars(A, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            s = B[i, j]
            for k in range(i):
                s -= A[i, k] * B[k, j]
            B[i, j] = s / A[i, i]


def cholesky_by_sums(A):
    for i in range(A.shape[0]):
        for j in range(i):
            s = 0.0
            for k in range(j):
                s += A[i, k] * A[j, k]
            A[i, j] -= s
            A[i, j] /= A[j, j]
        t = 0.0
        for k in range(i):
            t += A[i, k] * A[i, k]
        A[i, i] -= t
        A[i, i] = np.sqrt(A[i, i])


def _definite(n: int) -> np.ndarray:
    a = random(n, n)
    return a @ a.T + n * np.eye(n)


def _square(n: int, m: int) -> list[np.ndarray]:
    return [random(n, m), random(n, n)]


def _system(n: int, m: int) -> list[np.ndarray]:
    return [random(n, n) / n + np.eye(n), random(n, m)]


KERNELS = {
    lower_result: (_square, 2),
    upper_result: (lambda n, m: [random(m, n), random(n, n)], 2),
    above_the_diagonal: (lambda n, m: [random(m, n), random(n, n)], 2),
    below_the_diagonal: (_square, 2),
    two_products: (lambda n, m: [random(n, m), random(n, m), random(n, n)], 4),
    lower_operand: (lambda n, m: [random(n, n), random(n, m), random(n, m)], 1),
    in_place: (_system, 1),
    symmetric: (lambda n, m: [random(n, n), random(n, m), random(n, m)], 2),
    by_rows: (lambda n, m: [random(n, n), random(n, m), random(n, m), random(m)], 2),
    by_scaled_rows: (lambda n, m: [random(n, n), random(n, m), random(n, m), random(m)], 2),
    scalar_sums: (lambda n, m: [random(n, 7), random(7, m), random(n, m)], 1),
    scalar_sums_of_triangle: (_square, 2),
    solve: (_system, 1),
    solve_with_scalars: (_system, 1),
    cholesky: (lambda n, m: [_definite(n)], 2),
    cholesky_by_sums: (lambda n, m: [_definite(n)], 2),
    lu: (lambda n, m: [_definite(n)], 1),
}
"""Arguments for so many rows and columns, and how many calls come out."""

SIZES = ((75, 20), (33, 3), (32, 1), (7, 9), (1, 2))
"""Tiles have 32 rows: two of them and a part, one and a row, one, and less."""


def _called(kernel, args, around: TuningContext = AROUND) -> list:
    """The rule's recipe for the kernel's first nest."""
    return [(s.op, s.args) for s in library_call(nests_of(kernel, args)[0], Random(0), around)]


@pytest.mark.parametrize("target", ["sequential", "openmp"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_called_for_parts_gives_the_numbers_of_the_loops(kernel, target, tmp_path):
    arguments, calls = KERNELS[kernel]
    cases = [arguments(*size) for size in SIZES]
    around = TuningContext(target, 4, trips={"L0": 75}, libraries=True)
    recipe = _called(kernel, cases[0], around)
    assert sum(op == "library" for op, _ in recipe) <= calls
    check_recipe(kernel, cases, recipe, tmp_path, target)


@pytest.mark.parametrize("kernel", [two_products, lower_operand])
def test_single_precision_is_called_too(kernel, tmp_path):
    cases = [[a.astype(np.float32) for a in KERNELS[kernel][0](41, 6)]]
    check_recipe(kernel, cases, _called(kernel, cases[0]), tmp_path)


@pytest.mark.parametrize("kernel", [above_the_diagonal, below_the_diagonal, upper_result])
def test_of_a_matrix_and_its_transpose_the_diagonals_squares_begin_in_one_place(kernel):
    args = KERNELS[kernel][0](75, 20)
    bench = bench_of(kernel, args)
    for position, (op, names) in enumerate(_called(kernel, args)):
        bench.apply(op, names, position)
    references = [n for n in walk.preorder(bench.program) if isinstance(n, Reference)]
    starts = Counter(access.subset for one in references for access in accesses(one))
    assert any(subset and count > 1 for subset, count in starts.items())


def test_what_is_not_wanted_of_a_square_is_left_alone(tmp_path):
    """Above the diagonal nothing is written, and what is read of it changes nothing."""
    A, C = _square(75, 20)
    C[np.triu_indices(75, 1)] = np.nan
    check_recipe(lower_result, [[A, C]], _called(lower_result, [A, C]), tmp_path)
    L, B, D = random(75, 75), random(75, 20), random(75, 20)
    L[np.triu_indices(75, 1)] = np.nan
    check_recipe(lower_operand, [[L, B, D]], _called(lower_operand, [L, B, D]), tmp_path)


def beyond(A, C):
    """The later rows have no columns, and A ends before them."""
    for i in range(C.shape[0]):
        for j in range(i, A.shape[0]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * A[j, k]


def test_rows_of_a_triangle_that_are_empty_are_not_read(tmp_path):
    cases = [[random(20, 6), random(75, 20)], [random(40, 6), random(45, 40)]]
    check_recipe(beyond, cases, _called(beyond, cases[0]), tmp_path)


def test_a_triangle_that_may_be_large_is_refused():
    bench = bench_of(lower_operand, KERNELS[lower_operand][0](9, 4))
    with pytest.raises(IllegalStepError, match="bounds of what is added up"):
        bench.apply("library", ("L0",))
    bench = bench_of(scalar_sums_of_triangle, _square(9, 4))
    for op, args in steps("expand L0 L1\ndistribute L1\ndistribute L0"):
        bench.apply(op, args)
    with pytest.raises(IllegalStepError, match="not known to be small"):
        bench.apply("library", ("L0.part1",))


def searched_then_scaled(A, x, B):
    for t in range(2):
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                B[i, j] += A[i, j] * x[t]
            k = 0
            while k < x.shape[0] - 1 and x[k] < B[i, 0]:
                k += 1
            B[i, 0] = x[k]


def test_a_loop_that_counts_nothing_is_no_part_of_a_solve():
    (nest,) = nests_of(searched_then_scaled, (random(6, 7), random(5), random(6, 7)))
    assert any(not loop.indvar for loop in nest.loops)
    assert list(library_calls(nest, AROUND)) == []
