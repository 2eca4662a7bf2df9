"""Threads for what is planned for one thread."""

from __future__ import annotations

import math

import numpy as np
import pytest
from client_kit import layered
from sdfg_kit import check_library

from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.plan import build_plan, make_plan
from loopbook.client.sharing import shared_among_threads
from loopbook.errors import IllegalStepError
from loopbook.program.trips import trip_counts
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import frontend, program


def batched(A, B, C):
    for b in range(A.shape[0]):
        for i in range(A.shape[1]):
            for j in range(B.shape[2]):
                for k in range(A.shape[2]):
                    C[b, i, j] += A[b, i, k] * B[b, k, j]


def swept(A, steps):
    for _t in range(steps):
        for j in range(A.shape[1]):
            for i in range(1, A.shape[0]):
                A[i, j] += 0.5 * A[i - 1, j]


def summed(P, F):
    for i in range(P.shape[0]):
        for j in range(P.shape[0]):
            d = P[j] - P[i]
            F[i] += d / math.sqrt(d * d + 1.0)


def weighted(A, w, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            s = 0.0
            for p in range(w.shape[0]):
                for q in range(w.shape[1]):
                    s += A[i + p, j + q] * w[p, q]
            B[i, j] = s


def shared(kernel, given, recipe: str = "") -> str | None:
    text = frontend.trace(kernel, given)
    document, tree, (nest,) = program.prepare_tree(text)
    trials = Trials(str(document), tree)
    trips = trip_counts(nest, frontend.size_symbols(kernel, given))

    def fit(nest, recipe) -> Fit | Refusal:
        try:
            return trials.fit(nest, recipe.steps)
        except IllegalStepError as error:
            return Refusal(str(error))

    found = shared_among_threads(nest, fit, Recipe.parse(recipe), trips, 2)
    return None if found is None else found.text()


def test_threads_share_the_outermost_loop_and_not_a_tile_inside():
    given = [np.ones((50, 8, 20)), np.ones((50, 20, 32)), np.ones((50, 8, 32))]
    recipe = "tile L1 4\nstage L3 A2 out\n"
    assert shared(batched, given, "tile L1 4") == f"{recipe}parallel L0\nsingle\n"


def test_threads_are_not_woken_for_little():
    given = [np.ones((5, 8, 20)), np.ones((5, 20, 32)), np.ones((5, 8, 32))]
    assert shared(batched, given) is None


def test_what_runs_in_order_keeps_its_order():
    found = shared(swept, [np.ones((400, 500)), 3])
    assert found is not None
    assert "parallel L1\n" in found
    assert "parallel L0\n" not in found
    assert shared(swept, [np.ones((40, 50)), 3]) is None


def test_sums_stay_in_registers():
    found = shared(summed, [np.ones(900), np.ones(900)])
    assert found is not None
    assert "stage L1 A0 out" in found or "stage L1 A1 out" in found


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (summed, [np.random.default_rng(1).random(400), np.zeros(400)]),
        (swept, [np.random.default_rng(2).random((400, 300)), 3]),
        (batched, [np.ones((50, 8, 20)), np.ones((50, 20, 32)), np.ones((50, 8, 32))]),
    ],
)
def test_plans_for_several_threads_are_right(kernel, given, tmp_path):
    empty = layered(tmp_path)
    text = frontend.trace(kernel, given)
    plan = make_plan(text, "openmp", empty, sizes=frontend.size_symbols(kernel, given))
    assert any("parallel" in nest.recipe for nest in plan.nests)
    check_library(kernel, [given], build_plan(text, plan, tmp_path / "built").library)


def test_what_cannot_be_shared_gives_way_where_threads_gain_more(tmp_path):
    random = np.random.default_rng(4)
    given = [random.random((106, 217)), random.random((7, 8)), np.zeros((100, 210))]
    text, sizes = frontend.trace(weighted, given), frontend.size_symbols(weighted, given)
    empty = layered(tmp_path)
    (alone,) = make_plan(text, "sequential", empty, sizes=sizes).nests
    assert "strip_and_sink" in alone.recipe
    plan = make_plan(text, "openmp", empty, sizes=sizes)
    assert plan.nests[0].recipe == "parallel L0\nsingle\n"
    check_library(weighted, [given], build_plan(text, plan, tmp_path / "built").library)
