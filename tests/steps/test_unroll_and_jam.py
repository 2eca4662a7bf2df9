"""`unroll_and_jam`: right numbers, one step for four, all of it or nothing."""

from __future__ import annotations

import numpy as np
import pytest
from client_kit import nests_of, product
from sdfg_kit import bench_of, check_recipe, random, steps

from loopbook.errors import IllegalStepError
from loopbook.predict.features import Features
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.similarity import only_reorders, similarity
from loopbook.rules import TuningContext
from loopbook.steps.workbench import transformed

JAM = "unroll_and_jam L0 4 L1"
LONG = "tile L0 4\ninterchange L0 L1\npeel L0\nunroll L0*"


def rows_by_vector(A, x, y):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            y[i] += A[i, j] * x[j]


def against(A):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1] - 1):
            A[i, j] += A[i - 1, j + 1]


def test_numbers_are_right_for_every_size(tmp_path):
    sizes = ((9, 10), (8, 3), (3, 31), (5, 2))
    cases = [[random(m, n), random(n), random(m)] for m, n in sizes]
    check_recipe(rows_by_vector, cases, steps(JAM), tmp_path)


def test_loops_are_named_as_the_class_says():
    bench = bench_of(rows_by_vector, [random(9, 10), random(10), random(9)])
    before = set(bench.names)
    bench.apply(*steps(JAM)[0])
    assert set(bench.names) - before == {"L0.tile", "L0.rest"}


def test_what_has_to_run_in_order_is_not_jammed():
    bench = bench_of(against, [random(9, 10)])
    with pytest.raises(IllegalStepError, match=r"step 1: .*interchange"):
        bench.apply(*steps(JAM)[0])


def test_models_see_what_it_stands_for():
    short, long = Recipe.parse(JAM), Recipe.parse(LONG)
    nest = nests_of(product)[0]
    features = Features(nest, TuningContext("sequential", lanes=8))
    one, other = (features(transformed(nest, each)[0], each) for each in (short, long))
    np.testing.assert_array_equal(one, other)
    assert similarity(short, long) == pytest.approx(1.0)
    assert only_reorders(short)
