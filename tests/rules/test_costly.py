"""Maths functions beside recurrences get vectors of their own, whatever neighbours suggest."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from sdfg_kit import nests_of, random

import loopbook
from loopbook.rules import TuningContext
from loopbook.rules.costly import apart


def grown(Z, S, r):
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            S[i, j + 1] = S[i, j] * math.exp(r + 0.1 * Z[i, j])


def by_columns(Z, r):
    n, m = Z.shape
    S = np.empty((n, m + 1))
    S[:, 0] = 1.0
    for t in range(m):
        S[:, t + 1] = S[:, t] * np.exp(r + 0.1 * Z[:, t])
    return S


def faded(x, y):
    h = 0.0
    for t in range(x.shape[0]):
        h = 0.9 * h + 0.1 * math.sin(x[t])
        y[t] = h


@pytest.mark.parametrize(
    ("kernel", "args", "steps"),
    [
        (grown, lambda n: (random(n, 2 * n), random(n, 2 * n + 1), 0.1), ["strip_distribute"]),
        (by_columns, lambda n: (random(n, 2 * n), 0.1), ["interchange", "strip_distribute"]),
        (faded, lambda n: (random(n), random(n)), ["strip_distribute"]),
    ],
)
def test_what_is_served(kernel, args, steps):
    compiled = loopbook.native(kernel, strict=True, target="sequential")
    for n in (300, 301, 7, 1):
        expected, got = args(n), args(n)
        for one, other in zip(got, expected, strict=True):
            if isinstance(one, np.ndarray):
                one[...] = other
        results = compiled(*got), kernel(*expected)
        if results[0] is not None:
            np.testing.assert_allclose(*results, rtol=1e-12)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
        if n == 300:
            assert compiled.plan is not None
            (*_, served) = compiled.plan.nests
            assert [line.split()[0] for line in served.recipe.splitlines()] == steps


def test_the_tuner_tries_it():
    (nest,) = nests_of(faded, (random(9), random(9)))
    context = TuningContext("sequential", 8)
    assert [step.op for step in apart(nest, Random(0), context)] == ["strip_distribute"]
