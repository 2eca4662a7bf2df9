"""Schedule rules are applied on nests they fit, like a recipe of another nest; decisions by a
script."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from client_kit import nests_of, product, product_permuted, stencil
from hypothesis import given
from hypothesis import strategies as st

from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.similarity import similarity, size_distance
from loopbook.rules import TuningContext
from loopbook.rules.decisions import SampledDecisions, best_decisions
from loopbook.rules.schedule_rule import applicable, candidate_rules, firsts, with_threads
from loopbook.sdfg import frontend, program
from loopbook.steps import Step

AROUND = TuningContext("sequential", 8, l2_bytes=1 << 20)
THREADED = TuningContext("openmp", 8, l2_bytes=1 << 20, threads=2)


def only(kernel) -> Nest:
    return nests_of(kernel)[0]


def rule_of(nest: Nest, name: str):
    return next(one for one in candidate_rules(nest) if one.name == name)


@given(st.lists(st.integers(0, 5), max_size=6), st.integers(1, 5))
def test_a_script_decides_all_draws(script, count):
    def decided(random: Random) -> tuple:
        order = list(range(count))
        random.shuffle(order)
        return random.choice("abc"), random.random() < 0.3, random.randint(0, 3), tuple(order)

    decisions = SampledDecisions(script)
    first = decided(decisions)
    assert decided(SampledDecisions(script)) == first
    assert sorted(first[-1]) == list(range(count))
    assert len(decisions.sizes) == 4


@given(st.integers(0, 9), st.integers(0, 9), st.booleans())
def test_the_best_draws_are_found_one_by_one(wanted, other, more):
    def build(random: Random) -> tuple[int, int, bool]:
        return random.randrange(10), random.choice(range(10)), random.random() < 0.2

    def score(made: tuple[int, int, bool]) -> float:
        return -abs(made[0] - wanted) - abs(made[1] - other) - (made[2] != more)

    assert best_decisions(build, score) == (wanted, other, more)


def test_no_more_is_built_than_allowed():
    built = []

    def build(random: Random) -> int:
        built.append(random.randrange(1000))
        return built[-1]

    assert best_decisions(build, float, limit=7) == 6
    assert len(built) == 7


@pytest.mark.parametrize("kernel", [product, product_permuted, stencil])
@pytest.mark.parametrize("around", [AROUND, THREADED])
def test_every_kind_builds_a_recipe_or_nothing(kernel, around):
    nest = only(kernel)
    for one in candidate_rules(nest):
        steps = one.first(nest, around)
        Recipe(steps)
        assert (one.name in applicable(nest, around)) == bool(steps)


def test_a_product_s_tiles_are_built_with_the_sizes_wanted():
    nest = only(product_permuted)
    wanted = Recipe.parse(
        "serialize L2\ntile L0 6\ntile L1 16\ntile L2 2048\nstage L0.tile A1 in\nstage L2 A2 out\n"
        "pad L1\npeel L0\nvectorize L1*\nunroll L0*\n"
    ).steps
    packed = rule_of(nest, "packed_tiles")
    made = packed.like(wanted, nest, AROUND)
    first = packed.first(nest, AROUND)
    assert similarity(made, wanted) > 0.8
    assert size_distance(made, wanted) < min(0.1, size_distance(first, wanted))


def test_variants_with_threads_are_for_openmp_only():
    steps = (Step("tile", ("L0", 8)),)
    assert with_threads(steps, AROUND) == [steps]
    first, *others = with_threads(steps, THREADED)
    assert first == steps
    assert others
    assert all(any(step.op in ("parallel", "single") for step in one) for one in others)
    shared = (*steps, Step("parallel", ("L0.tile",)))
    assert with_threads(shared, THREADED) == [shared]


def settling(a, b):
    rest = 1.0
    while rest > 0.001:
        for i in range(a.shape[0]):
            b[i] = 0.5 * a[i]
            a[i] = b[i]
        rest = rest * 0.5


@pytest.mark.apart
def test_loops_inside_a_while_have_kinds_too():
    prepared = program.prepare(frontend.trace(settling, [np.ones(5), np.ones(5)]))
    (nest,) = program.nests(prepared)
    assert firsts(nest, AROUND)
