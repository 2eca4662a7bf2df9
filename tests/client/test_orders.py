"""Loops that docc cannot order, since a scalar is carried along each column: row by row."""

from __future__ import annotations

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


def test_rows_stay_rows():
    assert planned(of_rows).tier != "order"


def test_what_is_refused_is_no_choice():
    (nest,) = nests_of(summed, arguments())
    assert taken_apart(nest, lambda *_: Refusal("none is legal")) == ()
    assert taken_apart(nest, lambda _, recipe: Fit(recipe, ()))
