"""Recipes for large products on loops that run a few times."""

from __future__ import annotations

import pytest
from client_kit import layered, product, product_permuted, record, text_of
from packed_kit import MICRO, packed

from loopbook.client.plan import make_plan
from loopbook.recipes.recipe import Recipe

PACKED = Recipe.parse(packed(4, 16, 256).replace("stage L0.tile A1 in\n", "") + MICRO)


def depths(kernel, depth, tmp_path):
    """Tiles of the summed loop, where that runs so many times."""
    text, books = text_of(kernel), layered(tmp_path, record(product, PACKED.text()))
    plan = make_plan(text, "sequential", books, sizes={"_s0": 300, "_s1": depth, "_s2": 300})
    (recipe,) = plan.recipes.values()
    return [step.args[1] for step in recipe if step.op == "tile" and step.args[1] not in (4, 16)]


@pytest.mark.parametrize("kernel", [product, product_permuted])
@pytest.mark.parametrize(("depth", "kept"), [(300, [256]), (5, [])])
def test_tiles_fit_into_their_loops(kernel, depth, kept, tmp_path):
    assert depths(kernel, depth, tmp_path) == kept
