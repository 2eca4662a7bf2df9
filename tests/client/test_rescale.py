"""Recipes of one machine served on another: sizes fit its vectors, and the numbers stay right."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from client_kit import SIMPLE, layered, nests_of, product, product_permuted, record, text_of
from packed_kit import MICRO, packed

from loopbook.client.plan import build_plan, make_plan
from loopbook.recipes.hardware import ISAS, HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.rescale import rescaled
from loopbook.sdfg import frontend

WIDE = HardwareProfile(isa="avx512", vector_bits=512, l1d_bytes=32 << 10, l2_bytes=1 << 20)

PACKED = "serialize L2\n" + packed(6, 32, 64) + MICRO


@pytest.mark.parametrize("march", ["x86-64-v2", "x86-64-v3"])
@pytest.mark.parametrize("kernel", [product, product_permuted])
def test_a_recipe_for_wide_vectors_is_served_for_narrow_ones(kernel, march, tmp_path, monkeypatch):
    monkeypatch.setenv("LOOPBOOK_MARCH", march)
    lanes = next(isa for isa in ISAS.values() if isa.march == march).vector_bits // 64
    books = layered(tmp_path, record(product, PACKED, hardware=WIDE))
    plan = make_plan(text_of(kernel), "sequential", books)
    served = plan.recipes[0]
    vectors = {str(s.args[0]).rstrip("*") for s in served if s.op == "vectorize"}
    columns = [s.args[1] for s in served if s.op == "tile" and s.args[0] in vectors]
    assert columns
    assert all(int(size) % lanes == 0 and int(size) <= 4 * lanes for size in columns)
    generator = np.random.default_rng(7)
    left, right = generator.random((37, 41)), generator.random((41, 43))
    arguments = [left, right, np.zeros((37, 43))]
    built = build_plan(text_of(kernel), plan, tmp_path / "built")
    results = frontend.binding(kernel, arguments).results(built.library)
    np.testing.assert_allclose(results[2], left @ right, rtol=1e-12)


def test_the_very_machine_gets_the_recipe_as_it_is(tmp_path):
    here = layered(tmp_path, record(product, PACKED))
    assert make_plan(text_of(product), "sequential", here).recipes[0] == Recipe.parse(PACKED)


def test_this_machine_s_record_comes_before_another_s(tmp_path):
    (nest,) = nests_of(product)
    mine = record(product, PACKED, 2.0, name="mine")
    wide = dataclasses.replace(mine.hardware, isa="sse2", vector_bits=128)
    other = record(product, SIMPLE, 90.0, name="other", hardware=wide)
    books = layered(tmp_path, other, mine)
    assert [near.record.kernel for near in books.nearest(nest, 2)] == ["mine", "other"]


def test_a_panel_is_no_register_tile_since_a_part_of_its_loop_is_written_out():
    """So was symm served 6 columns a panel in the place of 1024, at half the speed."""
    recipe = Recipe.parse(
        "tile L1 16\nblock L0 L2 6 1024\nvectorize L1*\nunroll L0*\nunroll L2.part1*"
    )
    narrow = dataclasses.replace(WIDE, isa="avx2", vector_bits=256, l2_bytes=512 << 10)
    served = rescaled(recipe, WIDE, narrow)
    (rows, columns) = served.steps[1].args[2:]
    assert rows == 6
    assert int(columns) >= 256
