"""Products of a matrix and vectors, some rows at a time."""

from __future__ import annotations

import pytest
from client_kit import product
from sdfg_kit import check_recipe, nests_of, random

from loopbook.rules.vectors import rows_together


def rows(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += 1.5 * A[i, j] * x[j]


def columns(A, x, y):
    for j in range(A.shape[1]):
        for i in range(A.shape[0]):
            y[j] = y[j] - A[i, j] * x[i]


def rows_and_columns(A, x, y, r, s):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[j] = s[j] + r[i] * A[i, j]
            y[i] = y[i] + A[i, j] * x[j]


def column_sums(A, y):
    for j in range(A.shape[1]):
        for i in range(A.shape[0]):
            y[j] += A[i, j]


def two_matrices(A, B, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j] + B[i, j]


def update(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] += x[i] * y[j]


def triangle(A, x, y):
    for i in range(A.shape[0]):
        for j in range(i):
            y[i] += A[i, j] * x[j]


def one_sum(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[0] += A[i, j] * x[j]


def strided(A, x, y):
    for i in range(A.shape[0] // 2):
        for j in range(A.shape[1] // 2):
            y[i] += A[2 * i, 2 * j] * x[j]


PRODUCTS = {
    rows: lambda n, m: [random(n, m), random(m), random(n)],
    columns: lambda n, m: [random(n, m), random(n), random(m)],
    rows_and_columns: lambda n, m: [random(n, m), random(m), random(n), random(n), random(m)],
    column_sums: lambda n, m: [random(n, m), random(m)],
}

OTHERS = {
    two_matrices: [random(9, 7), random(9, 7), random(7), random(9)],
    update: [random(9, 7), random(9), random(7)],
    triangle: [random(9, 9), random(9), random(9)],
    one_sum: [random(9, 7), random(7), random(1)],
    strided: [random(9, 7), random(3), random(4)],
    product: [random(9, 7), random(7, 5), random(9, 5)],
}


@pytest.mark.parametrize("kernel", PRODUCTS)
def test_the_numbers_stay_whatever_the_tiles_leave_over(kernel, tmp_path):
    cases = [PRODUCTS[kernel](n, m) for n, m in ((16, 5), (19, 33), (7, 9), (1, 2))]
    recipe = [(one.op, one.args) for one in rows_together(nests_of(kernel, cases[0])[0])]
    assert recipe
    check_recipe(kernel, cases, recipe, tmp_path)


@pytest.mark.parametrize("kernel", OTHERS)
def test_other_nests_are_left_alone(kernel):
    (nest,) = nests_of(kernel, OTHERS[kernel])
    assert not rows_together(nest)
