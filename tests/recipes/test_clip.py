"""Tiles that would never be whole, left out of recipes."""

from __future__ import annotations

import pytest
from packed_kit import MICRO

from loopbook.recipes.clip import clipped
from loopbook.recipes.recipe import Recipe

TILED = """tile L0 4
tile L1 24
tile L2 512
interchange L0 L1.tile
interchange L1 L2.tile
interchange L0 L2.tile
peel L0
interchange L1 L2
stage L2 A2 out
vectorize L1*
unroll L0*
"""

SHORTER = """tile L0 4
tile L1 24
interchange L0 L1.tile
peel L0
interchange L1 L2
stage L2 A2 out
vectorize L1*
unroll L0*
"""


def test_a_tile_longer_than_its_loop_is_left_out():
    trips = {"L0": 60, "L1": 61, "L2": 5}
    assert clipped(Recipe.parse(TILED), trips) == Recipe.parse(SHORTER)


@pytest.mark.parametrize("trips", [{}, {"L0": 4, "L1": 24}, {"L0": 9, "L1": 99, "L2": 512}])
def test_tiles_that_may_be_whole_stay(trips):
    recipe = Recipe.parse(TILED)
    assert clipped(recipe, trips) is recipe


@pytest.mark.parametrize(
    "text",
    [
        "tile L0 64\nparallel L0.tile\n",
        "tile L0 64\ntile L0.tile 4\n" + MICRO,
        "tile L0 64\nstage L0.tile A1 in\n",
    ],
)
def test_a_recipe_that_does_more_with_its_tiles_stays(text):
    recipe = Recipe.parse(text)
    assert clipped(recipe, {"L0": 5}) is recipe


@pytest.mark.parametrize(("depth", "copied"), [(5, False), (40, True)])
def test_panels_that_are_worth_a_copy_stay(depth, copied):
    recipe = Recipe.parse("tile L0 64\ntile L1 4\nstage L1.tile A1 in\n")
    assert (clipped(recipe, {"L0": depth}) is recipe) == copied
