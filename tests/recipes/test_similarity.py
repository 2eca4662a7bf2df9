"""Similarity of recipes: what they do counts, not what it is done to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.recipes.recipe import Recipe
from loopbook.recipes.similarity import only_reorders, similarity, size_distance
from loopbook.steps import STEPS, Container, Integer, Keyword, Loop, Step

PACKED = Recipe.parse(
    "tile L0 4\ntile L1 32\ntile L2 256\ninterchange L0 L1.tile\nstage L0.tile A1 in\n"
    "stage L2 A2 out\npad L1\npeel L0\nvectorize L1*\nunroll L0*\n"
)
TRIANGULAR = Recipe.parse(
    "tile L2 256\nblock L0 L1 4 24\ninterchange L1 L2.tile\nbuffer L0.tile L2 L1\n"
    "buffer L2 L0 L1\npad L1\npeel L0\nvectorize L1*\nunroll L0*\n"
)
JAMMED = Recipe.parse("tile L0 8\ninterchange L0 L1\npeel L0\nunroll L0*\n")


def _arguments(op: str) -> st.SearchStrategy[Step]:
    makes = {
        Loop: lambda _: st.sampled_from(["L0", "L1", "L2"]),
        Container: lambda _: st.sampled_from(["A0", "A1"]),
        Keyword: lambda keyword: st.sampled_from(keyword.words),
        Integer: lambda one: st.integers(max(2, one.low), min(16, one.high)),
    }
    kinds = STEPS[op].arguments
    return st.tuples(
        *(next(make(a) for kind, make in makes.items() if isinstance(a, kind)) for a in kinds)
    ).map(lambda args: Step(op, args))


RECIPES = st.lists(st.sampled_from(sorted(STEPS)).flatmap(_arguments), max_size=12)


@given(RECIPES, RECIPES)
def test_similarity_is_a_share_and_the_same_both_ways(one, other):
    share = similarity(one, other)
    assert 0.0 <= share <= 1.0
    assert similarity(other, one) == pytest.approx(share)
    assert similarity(one, one) == pytest.approx(1.0)
    assert 0.0 <= size_distance(one, other) <= 1.0
    assert size_distance(one, one) == 0.0


@given(RECIPES)
def test_names_do_not_count(steps):
    swapped = Recipe(tuple(steps)).rename({"L0": "L2", "L2": "L0"}, {"A0": "A1"})
    assert similarity(steps, swapped) == pytest.approx(1.0)


def test_two_ways_to_tile_a_product_are_alike_a_jam_is_not():
    assert similarity(PACKED, TRIANGULAR) > 0.6
    assert similarity(PACKED, JAMMED) < 0.4
    assert similarity(PACKED, ()) == 0.0


def test_sizes_are_compared_by_doublings():
    near, far = Recipe.parse("tile L0 16\n"), Recipe.parse("tile L0 256\n")
    assert (
        size_distance(near, near)
        < size_distance(near, Recipe.parse("tile L1 32\n"))
        < size_distance(near, far)
    )
    assert size_distance(near, Recipe.parse("strip_and_sink L0 256\n")) == 0.0


def test_what_only_reorders():
    assert only_reorders(JAMMED)
    assert only_reorders(())
    assert not only_reorders(PACKED)
    assert not only_reorders(Recipe.parse("time_tile L0 8 8\n"))
