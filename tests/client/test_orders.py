"""Loops that docc cannot order, since a scalar is carried along each column: row by row."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from sdfg_kit import nests_of

import loopbook
from loopbook.client.fit import Fit, Refusal
from loopbook.client.layered import LayeredBook
from loopbook.client.orders import taken_apart
from loopbook.client.plan import make_plan
from loopbook.sdfg import frontend


def summed(A, y):
    for j in range(A.shape[1]):
        s = 0.0
        for i in range(A.shape[0]):
            s += A[i, j]
        y[j] = s


def faded(A, y):
    for j in range(A.shape[1]):
        s = 0.0
        for i in range(A.shape[0]):
            s = s * 0.9 + A[i, j]
            A[i, j] = s
        y[j] = s


def spread(A, y):
    for j in range(A.shape[1]):
        s = 0.0
        for i in range(A.shape[0]):
            s += A[i, j]
        m = s / A.shape[0]
        q = 0.0
        for i in range(A.shape[0]):
            q += (A[i, j] - m) * (A[i, j] - m)
        y[j] = q


def of_rows(A, y):
    for i in range(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j]
        y[i] = s


def orthonormal(Q, R):
    for j in range(Q.shape[1]):
        for k in range(j):
            s = 0.0
            for i in range(Q.shape[0]):
                s += Q[i, k] * Q[i, j]
            R[k, j] = s
            for i in range(Q.shape[0]):
                Q[i, j] -= s * Q[i, k]
        s = 0.0
        for i in range(Q.shape[0]):
            s += Q[i, j] * Q[i, j]
        R[j, j] = math.sqrt(s)
        for i in range(Q.shape[0]):
            Q[i, j] /= R[j, j]


def orthonormal_copy(A, Q, R):
    for j in range(A.shape[1]):
        for i in range(A.shape[0]):
            Q[i, j] = A[i, j]
        for k in range(j):
            s = 0.0
            for i in range(A.shape[0]):
                s += Q[i, k] * Q[i, j]
            R[k, j] = s
            for i in range(A.shape[0]):
                Q[i, j] -= s * Q[i, k]
        s = 0.0
        for i in range(A.shape[0]):
            s += Q[i, j] * Q[i, j]
        R[j, j] = math.sqrt(s)
        for i in range(A.shape[0]):
            Q[i, j] /= R[j, j]


def later_columns(Q, R):
    for k in range(Q.shape[1]):
        for j in range(k + 1, Q.shape[1]):
            s = 0.0
            for i in range(Q.shape[0]):
                s += Q[i, k] * Q[i, j]
            R[k, j] = s
            for i in range(Q.shape[0]):
                Q[i, j] -= Q[i, k] * s * 0.01


def turned(A, V, c):
    for _ in range(3):
        for p in range(A.shape[0] - 1):
            for k in range(A.shape[0]):
                x = A[p, k]
                A[p, k] = c * x - A[p + 1, k]
                A[p + 1, k] += c * x
                y = V[k, p]
                V[k, p] = c * y - V[k, p + 1]
                V[k, p + 1] += c * y


def arguments() -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).random((19, 37)), np.zeros(37)


def planned(kernel, target: str = "sequential"):
    text = frontend.trace(kernel, arguments())
    with LayeredBook([]) as books:
        (report,) = make_plan(text, target, books).nests
    return report


@pytest.mark.parametrize(("kernel", "count"), [(summed, 1), (faded, 1), (spread, 2)])
def test_columns_are_gone_along_row_by_row(kernel, count):
    report = planned(kernel)
    assert report.tier == "order"
    steps = [line.split()[0] for line in report.recipe.splitlines()]
    assert steps == ["expand", "distribute", *["interchange"] * count]
    assert planned(kernel, "openmp").recipe == f"{report.recipe}single\n"
    expected, got = arguments(), arguments()
    kernel(*expected)
    loopbook.native(kernel, strict=True)(*got)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def square(*counts: int) -> tuple[np.ndarray, ...]:
    numbers = np.random.default_rng(1)
    return tuple(numbers.random((rows, 11)) + np.eye(rows, 11) for rows in counts)


@pytest.mark.parametrize(
    ("kernel", "given", "steps"),
    [
        (orthonormal, square(17, 11), "right_looking expand distribute interchange interchange"),
        (
            orthonormal_copy,
            square(17, 17, 11),
            "distribute right_looking expand distribute interchange interchange",
        ),
        (later_columns, square(17, 11), "expand distribute interchange interchange"),
        (turned, (*square(11, 11), 0.3), "distribute"),
    ],
)
def test_columns_that_depend_on_each_other(kernel, given, steps):
    text = frontend.trace(kernel, given)
    with LayeredBook([]) as books:
        (report,) = make_plan(text, "sequential", books).nests
    assert [line.split()[0] for line in report.recipe.splitlines()] == steps.split()
    expected, got = copy.deepcopy(given), copy.deepcopy(given)
    kernel(*expected)
    loopbook.native(kernel, strict=True)(*got)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def correlated(x, y):
    for j in range(9):
        s = 0.0
        for i in range(x.shape[0] - 9):
            s += x[i] * x[i + j]
        y[j] = s


def test_rows_stay_rows():
    assert planned(of_rows).tier != "order"
    text = frontend.trace(correlated, (np.ones(40), np.ones(9)))
    with LayeredBook([]) as books:
        (report,) = make_plan(text, "sequential", books).nests
    assert report.tier != "order"


def test_what_is_refused_is_no_choice():
    (nest,) = nests_of(summed, arguments())
    assert taken_apart(nest, lambda *_: Refusal("none is legal")) == ()
    assert taken_apart(nest, lambda _, recipe: Fit(recipe, ()))
