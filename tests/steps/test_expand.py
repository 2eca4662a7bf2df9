"""Temporaries that each iteration has for itself, and what asks of them."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import bench_of, check_recipe, random, steps

from loopbook.errors import IllegalStepError

APART = steps("expand L0 L1\ndistribute L1\ndistribute L0")


def rectified(X, W, b, Y):
    for i in range(X.shape[0]):
        for j in range(W.shape[1]):
            s = b[j]
            for k in range(X.shape[1]):
                s += X[i, k] * W[k, j]
            if s < 4.0:
                s = 4.0
            Y[i, j] = s


def leaky(X, W, b, Y):
    for i in range(X.shape[0]):
        for j in range(W.shape[1]):
            s = b[j]
            for k in range(X.shape[1]):
                s += X[i, k] * W[k, j]
            if s > 6.0:
                Y[i, j] = 6.0
            elif s > 4.0:
                Y[i, j] = s
            else:
                Y[i, j] = 0.1 * s


def until(X, W, b, Y):
    for i in range(X.shape[0]):
        for j in range(W.shape[1]):
            s = b[j]
            while s < 4.0:
                s = 2.0 * s + X[i, 0] * W[0, j]
            Y[i, j] = s


def given(rows=7, inner=8, columns=9):
    return [random(rows, inner), random(inner, columns), random(columns), np.zeros((rows, columns))]


@pytest.mark.parametrize("kernel", [rectified, leaky])
def test_branches_ask_of_what_an_iteration_has_for_itself(kernel, tmp_path):
    check_recipe(kernel, [given(), given(1, 3, 2), given(4, 20, 5)], APART, tmp_path)


def test_loops_that_end_on_a_temporary_keep_it():
    with pytest.raises(IllegalStepError):
        bench_of(until, given()).apply("expand", ("L0", "L1"))
