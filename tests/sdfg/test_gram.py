"""Products of a matrix with its own transpose: one half is computed, where that is right."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import check_recipe, matmul, matmul_args, prepared_text, random, steps

from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.gram import with_halves

CALL = steps("library L0")


def rows(A, C):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            for k in range(A.shape[1]):
                C[i, j] += 1.5 * A[i, k] * A[j, k]


def columns(A, C):
    for i in range(A.shape[1]):
        for k in range(A.shape[0]):
            for j in range(A.shape[1]):
                C[i, j] += A[k, i] * A[k, j]


def symmetric(n: int) -> np.ndarray:
    a = random(n, n)
    return a + a.T


def with_nan(n: int, i: int, j: int) -> np.ndarray:
    a = symmetric(n)
    a[i, j] = np.nan
    return a


@pytest.mark.parametrize("kernel", [rows, columns])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_halves_give_the_numbers_of_the_loops(kernel, dtype, tmp_path):
    cases = []
    for n, m in ((70, 40), (33, 32), (32, 90), (5, 40), (40, 3)):
        for start in (np.zeros((n, n)), symmetric(n), random(n, n), with_nan(n, 4, 1)):
            a = random(n, m) if kernel is rows else random(m, n)
            cases.append([a.astype(dtype), start.astype(dtype)])
    check_recipe(kernel, cases, CALL, tmp_path)


def test_other_products_are_whole(tmp_path):
    check_recipe(matmul, [matmul_args(40, 40, 40)], CALL, tmp_path)


def test_what_is_called_looks_at_its_operands(tmp_path):
    text = prepared_text(rows, [random(40, 40), random(40, 40)])
    built = build_tuned(text, "sequential", {0: CALL}, tmp_path)
    (source,) = built.library.parent.rglob("*.cpp")
    assert "loopbook_dgemm(CblasRowMajor" in source.read_text()
    assert "sgemm" not in source.read_text()


def test_code_without_products_stays():
    code = 'extern "C" void f(double *A)\n{\n    cblas_ddot(A);\n}\n'
    assert with_halves(code) == code
