"""Loops over arrays with short rows know how far apart these are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import loopbook
from loopbook.errors import InterpretedWarning
from loopbook.frontend import lower
from loopbook.frontend.check import copied


def random(*shape):
    return np.random.default_rng(len(shape)).random(shape)


def attracted(p, m, a):
    for i in range(p.shape[0]):
        x = 0.0
        y = 0.0
        for j in range(p.shape[0]):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            w = m[j] / (dx * dx + dy * dy + 0.1)
            x += w * dx
            y += w * dy
        a[i, 0] = x
        a[i, 1] = y


def convolved(x, w, y):
    for k in range(y.shape[0]):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                s = 0.0
                for c in range(x.shape[0]):
                    for p in range(w.shape[2]):
                        for q in range(w.shape[3]):
                            s += x[c, i + p, j + q] * w[k, c, p, q]
                y[k, i, j] = s


def chained(x, w, y):
    """docc cannot simplify it while it takes the square of a size for a stride."""
    for k in range(w.shape[0]):
        for i in range(y.shape[1]):
            s = 0.0
            for c in range(x.shape[0]):
                one = s + x[c, i] * w[k, c, 0, 0]
                two = one + x[c, i] * w[k, c, 0, 1]
                three = two + x[c, i + 1] * w[k, c, 1, 0]
                s = three + x[c, i + 1] * w[k, c, 1, 1]
            y[k, i] = s


def least(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = min(x[i - 1], x[i], x[i + 1]) - max(x[i - 1] + 1.0, x[i], x[i + 1], 0.5)


GIVEN = {
    attracted: (random(9, 2), random(9), random(9, 2)),
    convolved: (random(2, 9, 25), random(3, 2, 3, 3), random(3, 7, 23)),
    chained: (random(5, 21), random(6, 5, 2, 2), random(6, 20)),
    least: (random(30), random(30)),
}


@pytest.mark.parametrize("kernel", GIVEN)
def test_loops_are_compiled_rightly(kernel):
    native = loopbook.native(kernel, strict=True)
    expected, got = copied(GIVEN[kernel]), copied(GIVEN[kernel])
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterpretedWarning)
        native(*got)
    kernel(*expected)
    for one, other in zip(expected, got, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_rows_of_that_length_only():
    native = loopbook.native(attracted, strict=True)
    for width in (2, 3, 5):
        given = random(9, width), random(9), random(9, width)
        expected, got = copied(given), copied(given)
        native(*got)
        attracted(*expected)
        np.testing.assert_allclose(expected[2], got[2], rtol=1e-12)


def test_long_rows_stay_loops_of_their_own():
    assert lower(attracted, GIVEN[attracted]) is not None
    assert lower(attracted, (random(9, 5), random(9), random(9, 5))) is None
