"""Sizes for another machine: vectors stay vectors, tiles fit registers, caches and threads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.recipes.hardware import ISAS, HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.rescale import SUMS, rescaled

AVX512 = HardwareProfile(
    isa="avx512", vector_bits=512, l1d_bytes=32 << 10, l2_bytes=1 << 20, l3_bytes=32 << 20
)
AVX2 = replace(AVX512, isa="avx2", vector_bits=256)
SSE2 = replace(AVX512, isa="sse2", vector_bits=128)

PACKED = """tile L0 {rows}
tile L1 {columns}
tile L2 {depth}
stage L0.tile A1 in
stage L2 A2 out
pad L1
peel L0
vectorize L1*
unroll L0*
"""

PROFILES = st.builds(
    lambda isa, l2, threads: replace(
        AVX512, isa=isa, vector_bits=ISAS[isa].vector_bits, l2_bytes=l2 << 17, threads=threads
    ),
    st.sampled_from(["avx512", "avx2", "sse2", "neon"]),
    st.sampled_from([0, 1, 2, 4, 8, 16]),
    st.integers(1, 64),
)


def packed(rows: int, vectors: int, depth: int, lanes: int = 8) -> Recipe:
    return Recipe.parse(PACKED.format(rows=rows, columns=vectors * lanes, depth=depth))


def sizes(recipe: Recipe) -> list[int]:
    return [int(step.args[1]) for step in recipe if step.op == "tile"]


@given(PROFILES, st.integers(1, 8))
def test_machines_of_one_kind_share_recipes(machine, cores):
    recipe = packed(6, 4, 256)
    assert rescaled(recipe, machine, replace(machine, cores=cores, peak_gflops=7.0)) is recipe


@given(PROFILES, PROFILES, st.sampled_from([2, 3, 4, 6, 8]), st.integers(1, 4), st.integers(5, 11))
def test_register_tiles_fit_and_are_whole_vectors(there, here, rows, vectors, depth):
    recipe = packed(rows, vectors, 2**depth, there.vector_bits // 64)
    done = rescaled(recipe, there, here)
    assert [step.op for step in done] == [step.op for step in recipe]
    if there.key == here.key:
        return
    lanes = here.vector_bits // 64
    new_rows, columns, summands = sizes(done)
    assert columns % lanes == 0
    assert new_rows * columns // lanes <= SUMS * ISAS[here.isa].registers
    assert summands & (summands - 1) == 0


@given(PROFILES, PROFILES, st.sampled_from([(4, 3), (6, 2), (4, 2)]), st.integers(11, 14))
def test_there_and_back_again_changes_nothing_that_fits_both(there, here, tile, depth):
    recipe = packed(tile[0], tile[1], 2**depth, there.vector_bits // 64)
    assert rescaled(rescaled(recipe, there, here), here, there) == recipe


@pytest.mark.parametrize(
    ("tile", "here", "wanted"),
    [
        ((6, 4), AVX2, [6, 8, 1024]),
        ((8, 3), AVX2, [6, 8, 1024]),
        ((4, 4), AVX2, [4, 12, 512]),
        ((4, 3), SSE2, [4, 6, 1024]),
        ((4, 3), replace(AVX512, l2_bytes=2 << 20), [4, 24, 512]),
        ((4, 3), replace(AVX512, l2_bytes=256 << 10), [4, 24, 64]),
        ((4, 3), replace(AVX512, l2_bytes=0), [4, 24, 256]),
    ],
)
def test_panels_grow_with_the_cache_and_as_they_get_narrower(tile, here, wanted):
    assert sizes(rescaled(packed(tile[0], tile[1], 256), AVX512, here)) == wanted


def test_cache_tiles_share_the_growth():
    two = Recipe.parse("tile L0 64\ntile L1 64\ntile L2 4\n")
    assert sizes(rescaled(two, AVX512, replace(AVX512, l2_bytes=4 << 20))) == [128, 128, 4]


def test_waves_have_the_threads_at_hand():
    here = replace(AVX512, threads=16)
    waves = Recipe.parse("pipelined_time_tile L0 2 16 16\n")
    assert (
        rescaled(waves, replace(AVX512, threads=2), here).text()
        == "pipelined_time_tile L0 16 16 16\n"
    )
    front = Recipe.parse("wavefront L0 16 2 32\n")
    assert rescaled(front, replace(AVX512, threads=2), here).text() == "wavefront L0 16 16 32\n"
    alone = Recipe.parse("wavefront L0 16\n")
    assert rescaled(alone, replace(AVX512, threads=2), here) == alone


def test_strips_keep_their_vectors():
    assert (
        rescaled(Recipe.parse("strip_and_sink L0 16\n"), AVX512, AVX2).text()
        == "strip_and_sink L0 8\n"
    )
    assert (
        rescaled(Recipe.parse("strip_and_sink L0 4\n"), SSE2, AVX512).text()
        == "strip_and_sink L0 16\n"
    )


def test_a_cut_at_the_end_of_a_tile_stays_there():
    recipe = Recipe.parse("tile L1 32\ncut L2 L1.tile 32\ncut L3 L1.tile 1\nvectorize L2")
    larger = replace(AVX2, l2_bytes=AVX2.l2_bytes * 4)
    done = rescaled(recipe, AVX2, larger)
    size = sizes(done)[0]
    assert size > 32
    assert f"\ncut L2 L1.tile {size}\ncut L3 L1.tile 1\n" in done.text()
