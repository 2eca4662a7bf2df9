"""Schedule rules are well formed, and reorder does what it says."""

from __future__ import annotations

from random import Random

import pytest
from client_kit import chain as chained
from client_kit import nests_of, product, product_permuted, stencil
from hypothesis import given
from hypothesis import strategies as st

from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe
from loopbook.rules import (
    BAND_RULES,
    TuningContext,
    propose,
    random_step,
    reorder,
    seed_population,
    with_tiles,
)
from loopbook.rules.bands import Band, bands

TARGETS = ("sequential", "openmp")
KERNELS = (product, product_permuted, stencil, chained)


def only_band(nest: Nest) -> Band:
    (found,) = bands(nest)
    return found


@given(st.permutations([f"L{n}" for n in range(6)]), st.permutations([f"L{n}" for n in range(6)]))
def test_interchanges_of_neighbours_bring_the_wanted_order(before, after):
    order = list(before)
    for op, (outer, inner) in reorder(before, after):
        place = order.index(str(outer))
        assert op == "interchange"
        assert order[place + 1] == inner, "only a loop and the one right inside it change places"
        order[place : place + 2] = order[place + 1], order[place]
    assert order == list(after)


def test_tiles_stand_right_outside_their_loops():
    assert with_tiles(["L0", "L1", "L2"], ["L0", "L2"]) == ["L0.tile", "L0", "L1", "L2.tile", "L2"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("target", TARGETS)
def test_all_that_is_proposed_makes_a_recipe(kernel, target):
    around = TuningContext(target, 4)
    ops = set()
    for nest in nests_of(kernel):
        for steps in seed_population(nest, around):
            Recipe(steps)
        for seed in range(60):
            random = Random(seed)
            recipe = Recipe((*propose(nest, random, around), random_step(nest, random, around)))
            assert Recipe.parse(recipe.text()) == recipe
            ops |= {step.op for step in recipe.steps}
    assert {"tile", "interchange", "vectorize", "unroll", "peel"} <= ops
    assert ("parallel" in ops) == (target == "openmp")


@pytest.mark.parametrize("rule", BAND_RULES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_rule_works_on_every_band(rule, kernel):
    for nest in nests_of(kernel):
        known = {loop.name for loop in nest.loops}
        for band in bands(nest):
            for seed in range(20):
                recipe = Recipe(tuple(rule(band, Random(seed), TuningContext("sequential", 8))))
                named = {
                    str(arg).split(".")[0].rstrip("*")
                    for step in recipe.steps
                    for arg in step.args
                    if str(arg).startswith("L")
                }
                assert named <= known


def test_the_seed_population_is_the_same_every_time_and_begins_with_doccs_own_schedule():
    (nest,) = nests_of(product)
    around = TuningContext("sequential", 8)
    first = seed_population(nest, around)
    assert first == seed_population(nest, around)
    assert first[0] == ()
    assert len(set(first)) == len(first)


def test_each_loop_stands_in_one_chain():
    for kernel in KERNELS:
        for nest in nests_of(kernel):
            names = [name for band in bands(nest) for name in band.names]
            assert sorted(names) == sorted(loop.name for loop in nest.loops)
    outer, *inner = bands(nests_of(stencil)[0])
    assert len(outer.loops) == 1
    assert [len(band.loops) for band in inner] == [2, 2]


def test_a_product_is_seen_through_whatever_the_order_of_its_loops():
    """Innermost belongs the column: it is contiguous in the result and in the right operand."""
    assert only_band(nests_of(product)[0]).by_locality()[-1] == "L1"
    for kernel in (product, product_permuted):
        band = only_band(nests_of(kernel)[0])
        reductions = [loop for loop in band.loops if not band.moves_output(loop)]
        assert len(reductions) == 1
        (result,) = band.staged_outputs(reductions[0].name)
        assert result not in band.inputs()
        assert len(band.inputs()) == 2
