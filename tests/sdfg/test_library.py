"""Library calls: what is the same as BLAS's gemm, what is not, and what the tuner makes of it."""

from __future__ import annotations

import json
from random import Random

import numpy as np
import pytest
from sdfg_kit import (
    bench_of,
    can_apply,
    check_recipe,
    matmul,
    matmul_args,
    nests_of,
    prepared_nests,
    prepared_text,
    random,
    rows,
    steps,
)

from loopbook.errors import IllegalStepError
from loopbook.program.read import read
from loopbook.program.signed import sign_counters
from loopbook.rules import TuningContext, propose, seed_population
from loopbook.sdfg import frontend
from loopbook.sdfg.transformed import transform
from loopbook.steps.editor import Editor
from loopbook.steps.workbench import Workbench

CALL = steps("library L0")
SIZES = ((9, 10, 11), (5, 17, 33), (3, 2, 4))


def both_transposed(alpha, A, B, C):
    for k in range(A.shape[0]):
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                C[i, j] += alpha * B[j, k] * A[k, i]


def subtracted(A, B, C):
    for i in range(C.shape[0]):
        for k in range(A.shape[1]):
            for j in range(C.shape[1]):
                C[i, j] -= A[i, k] * B[j, k]


def result_transposed(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                C[j, i] += 2.5 * A[i, k] * B[k, j]


def gram(A, C):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            for k in range(A.shape[1]):
                C[i, j] = A[i, k] * A[j, k] + C[i, j]


def shifted(A, B, C):
    for i in range(C.shape[0] - 1):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i + 1, j] += A[i, k] * B[k, j]


def inner_part(A, B, C):
    for i in range(1, C.shape[0]):
        for j in range(2, C.shape[1] - 1):
            for k in range(3, A.shape[1]):
                C[i, j] += A[i, k] * B[k - 3, j + 1]


def stacked_rows(A, B, C):
    for r in range(C.shape[0]):
        for q in range(C.shape[1]):
            for p in range(C.shape[2]):
                for s in range(B.shape[0]):
                    C[r, q, p] += A[r, q, s] * B[s, p]


def stacked(A, B, C):
    for s in range(C.shape[0]):
        for i in range(C.shape[1]):
            for j in range(C.shape[2]):
                for k in range(A.shape[2]):
                    C[s, i, j] += A[s, i, k] * B[s, j, k]


def rows_apart(A, B, C):
    for r in range(C.shape[0]):
        for q in range(1, C.shape[1]):
            for p in range(C.shape[2]):
                for s in range(B.shape[0]):
                    C[r, q, p] += A[q, r, s] * B[s, p]


def times_vector(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]


def _transposed(m, n, k):
    return [1.5, random(k, m), random(n, k), random(m, n)]


CASES = {
    "product": (matmul, [matmul_args(*size) for size in SIZES]),
    "both transposed": (both_transposed, [_transposed(*size) for size in SIZES]),
    "subtracted": (subtracted, [[random(9, 7), random(5, 7), random(9, 5)]]),
    "result transposed": (result_transposed, [[random(9, 7), random(7, 5), random(5, 9)]]),
    "times itself": (gram, [[random(n, m), random(n, n)] for n, m in ((7, 9), (9, 2))]),
    "shifted": (shifted, [[random(9, 7), random(7, 5), random(10, 5)]]),
    "inner part": (inner_part, [[random(9, 7), random(4, 7), random(9, 7)]]),
    "stacked rows": (stacked_rows, [[random(2, 3, 4), random(4, 5), random(2, 3, 5)]]),
    "single precision": (matmul, [[a.astype(np.float32) for a in matmul_args(5, 6, 7)]]),
}


@pytest.mark.parametrize("name", CASES)
def test_calls_give_the_numbers_of_the_loops(name: str, tmp_path):
    kernel, cases = CASES[name]
    code = transform(frontend.trace(kernel, cases[0]), "sequential", {0: CALL}).sdfg.to_cpp()
    assert code.count("gemm(") == 1
    assert code.count("for(") == 1
    check_recipe(kernel, cases, CALL, tmp_path)


AROUND = {
    "stacked": (stacked, [[random(3, 4, 5), random(3, 6, 5), random(3, 4, 6)]]),
    "rows apart": (rows_apart, [[random(4, 3, 5), random(5, 6), random(3, 4, 6)]]),
}


@pytest.mark.parametrize("target", ["sequential", "openmp"])
@pytest.mark.parametrize("name", AROUND)
def test_loops_are_left_around_products_of_parts(name: str, target: str, tmp_path):
    kernel, cases = AROUND[name]
    code = transform(frontend.trace(kernel, cases[0]), target, {0: CALL}).sdfg.to_cpp()
    assert code.count("gemm(") == 1
    assert code.count("for(") == 2
    assert "omp" not in code
    check_recipe(kernel, cases, CALL, tmp_path, target)


def test_calls_are_right_with_threads_and_after_an_interchange(tmp_path):
    recipe = steps("interchange L0 L1\nlibrary L1")
    check_recipe(matmul, CASES["product"][1], recipe, tmp_path, "openmp")


def test_empty_matrices_are_not_handed_over(tmp_path):
    cases = [matmul_args(3, 4, 0), matmul_args(0, 4, 3)]
    check_recipe(matmul, cases, CALL, tmp_path)


# -- refusals --------------------------------------------------------------------------------------


def triangle(A, B, C):
    for i in range(C.shape[0]):
        for j in range(i + 1):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def in_place(A, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * C[k, j]


def overlapping(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1] + 1):
                C[i, j] += A[i, k] * B[k, j]


def three_factors(alpha, beta, A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += alpha * beta * A[i, k] * B[k, j]


def elementwise(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[i, j] += A[i, j] * B[i, j]


def quotient(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] / B[k, j]


def every_other(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(0, A.shape[1], 2):
                C[i, j] += A[i, k] * B[k, j]


def strided(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                C[i, 2 * j] += A[i, k] * B[k, j]


def counted(A, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * j


def outer_product(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += y[i] * x[j]


VECTORS = [random(7, 9), random(9), random(7)]
SQUARE = [random(8, 8) for _ in range(3)]


@pytest.mark.parametrize(
    ("kernel", "args", "reason"),
    [
        (triangle, SQUARE, "not known to be small"),
        (in_place, SQUARE[:2], "factors too"),
        (overlapping, matmul_args(), "rows that are apart"),
        (three_factors, [1.5, 2.5, *matmul_args()], "more than one number"),
        (elementwise, SQUARE, "no product of matrices"),
        (quotient, matmul_args(), "not only a product"),
        (every_other, matmul_args(), "by ones"),
        (strided, [random(5, 6), random(6, 7), random(5, 14)], "neighbouring elements"),
        (times_vector, VECTORS, "no product of matrices"),
        (outer_product, VECTORS, "no product of matrices"),
        (counted, SQUARE[:2], "same in every iteration"),
        (rows, [random(9, 4), random(4, 4), random(4)], "perfectly nested"),
        (matmul, [*matmul_args()[:2], matmul_args()[2].astype(np.float32)], "not all double"),
    ],
)
def test_what_is_no_product_is_refused(kernel, args, reason):
    bench = bench_of(kernel, args)
    with pytest.raises(IllegalStepError, match=reason):
        bench.apply(*CALL[0])
    assert not can_apply(bench, *CALL[0])


def test_arrays_that_may_overlap_are_refused():
    _, (nest,) = prepared_nests(matmul, matmul_args())
    editor = Editor(read(json.loads(prepared_text(matmul, matmul_args()))), {}, {})
    editor.put_first(editor.address("C", "A"))
    bench = Workbench(sign_counters(editor.program), nest)
    with pytest.raises(IllegalStepError, match="A may be a part of another array"):
        bench.apply(*CALL[0])


def test_tiles_are_no_whole_product():
    bench = bench_of(matmul, matmul_args())
    bench.apply("tile", ("L1", 8))
    with pytest.raises(IllegalStepError, match=r"L[012]"):
        bench.apply(*CALL[0])


@pytest.mark.parametrize("after", ["library L0", "tile L0 4", "parallel L0", "stage L0 A2 out"])
def test_nothing_follows_a_call(after):
    bench = bench_of(matmul, matmul_args())
    bench.apply(*CALL[0])
    with pytest.raises(IllegalStepError, match="call of a library"):
        bench.apply(*steps(after)[0])


# -- the tuner -------------------------------------------------------------------------------------


def _with_calls(kernel, args, libraries: bool) -> tuple[bool, bool]:
    """Whether the seed population, and whether random recipes, hold a call."""
    nest, random = nests_of(kernel, args)[0], Random(1)
    around = TuningContext("sequential", 8, libraries=libraries)
    drawn = [propose(nest, random, around) for _ in range(300)]
    opened = seed_population(nest, around)
    return tuple(any(s.op == "library" for r in rs for s in r) for rs in (opened, drawn))  # type: ignore[return-value]


def test_calls_are_proposed_only_where_libraries_may_be_called():
    assert _with_calls(matmul, matmul_args(), True) == (True, True)
    assert _with_calls(matmul, matmul_args(), False) == (False, False)
    assert _with_calls(elementwise, SQUARE, True) == (False, False)
    assert _with_calls(times_vector, VECTORS, True) == (False, False)
