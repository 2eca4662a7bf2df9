"""Nests inside a loop that runs in order, looked up by themselves."""

from __future__ import annotations

import numpy as np

from loopbook.client.decision import Choice
from loopbook.client.fit import Fit, Refusal, Trials
from loopbook.client.inner_nests import InnerNest, inner_nests, of_inner_nests
from loopbook.client.plan import make_plan
from loopbook.program.json_text import dumped
from loopbook.program.nest import Nest
from loopbook.program.trips import trip_counts
from loopbook.recipes.recipe import Recipe
from loopbook.sdfg import frontend, program
from loopbook.sdfg.build import build_tuned
from loopbook.toolchain.run import compare

STEPS = 3


def repeated(A, B, C, x, steps):
    for _t in range(steps):
        x[0] = x[0] + C[0, 0]
        for i in range(C.shape[0]):
            for j in range(C.shape[1]):
                for k in range(B.shape[0]):
                    C[i, j] += A[i, k] * B[k, j]
        for i in range(A.shape[0]):
            A[i, 0] = A[i, 0] + x[0]


def given() -> list:
    A, B, C = np.random.default_rng(5).random((3, 40, 40))
    return [A, B, C, np.zeros(1), STEPS]


def test_the_loops_that_a_loop_repeats_are_nests_of_their_own():
    _, tree, (nest,) = program.prepare_tree(frontend.trace(repeated, given()))
    trips = trip_counts(nest, frontend.size_symbols(repeated, given()))
    (inner,) = inner_nests(nest, tree, trips)
    assert [loop.indvar for loop in inner.nest.loops] == ["i", "j", "k"]
    assert inner.trips == {"L0": 40, "L1": 40, "L2": 40}
    assert 0.95 < inner.share < 1.0
    own = {array.data: array.name for array in inner.nest.arrays}
    its = {array.data: array.name for array in nest.arrays}
    recipe = inner.renamed(Recipe.parse(f"tile L0 4\nstage L0.tile {own['C']} out"))
    assert recipe == Recipe.parse(f"tile L1 4\nstage L1.tile {its['C']} out")


def test_what_is_known_of_them_serves_the_whole(tmp_path):
    document, tree, (nest,) = program.prepare_tree(frontend.trace(repeated, given()))
    trips = trip_counts(nest, frontend.size_symbols(repeated, given()))
    trials = Trials("", tree)

    def known(inner: InnerNest) -> tuple[Choice, ...]:
        (result,) = (array.name for array in inner.nest.arrays if array.written)
        recipe = Recipe.parse(f"tile L0 4\ninterchange L1 L2\nstage L0 {result} out")
        useless = Choice("near", None, 0.5, Recipe(), 0, 9.0)
        return useless, Choice(
            "near", None, 0.5, inner.trials.fit(inner.nest, recipe).recipe, 0, 4.0
        )

    found = of_inner_nests(nest, trials.fit, known, trips)
    assert found is not None
    assert found.recipe.base_loops() == ("L1", "L2", "L3")
    assert 3.5 < found.predicted_speedup < 4.0
    want = given()
    repeated(*want)
    library = build_tuned(dumped(document), "sequential", {0: found.recipe}, tmp_path).library
    compare(frontend.binding(repeated, given()).results(library), want[:4])


def test_a_recipe_that_the_whole_does_not_allow_is_left_out():
    _, tree, (nest,) = program.prepare_tree(frontend.trace(repeated, given()))
    trips = trip_counts(nest, frontend.size_symbols(repeated, given()))
    refused = Choice("near", None, 0.5, Recipe.parse("tile L0 4"), 0, 4.0)

    def fit(_: Nest, recipe: Recipe) -> Fit | Refusal:
        return Refusal("") if len(recipe) else Trials("", tree).fit(nest, recipe)

    assert of_inner_nests(nest, fit, lambda _: (refused,), trips) is None


def test_a_record_of_one_is_ported_to_it(good):
    sizes = frontend.size_symbols(repeated, given())
    plan = make_plan(frontend.trace(repeated, given()), "sequential", good, sizes=sizes)
    assert plan.nests[0].neighbour == "product:0"
    assert plan.recipes[0].base_loops()[0] == "L1"
