"""Threads for recipes of one thread: in waves where tiles need each other, else on tile loops."""

from __future__ import annotations

import pytest
from packed_kit import MICRO, packed
from sdfg_kit import bench_of, check_recipe, matmul, matmul_args, nests_of, random, steps

from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext, seed_population
from loopbook.rules.threads import buffered, threaded, together

from .test_stencil import FIELDS, GRIDS, SQUARES, driven, heat, seidel

AROUND = TuningContext("openmp", 8, l2_bytes=1 << 20, threads=2)


@pytest.mark.parametrize(
    ("alone", "texts"),
    [
        (
            "time_tile L0 32 16 8",
            ["pipelined_time_tile L0 2 32 16 8\nparallel L0.tile", "time_tile L0 32 16 8\nsingle"],
        ),
        (
            "wavefront L0 8\nvectorize L0",
            [
                "wavefront L0 8 2 32\nvectorize L0\nparallel L0.tile",
                "wavefront L0 8\nvectorize L0\nsingle",
            ],
        ),
        (
            "tile L1 24\nstrip_and_sink L0 8",
            [
                f"tile L1 24\nstrip_and_sink L0 8\n{threads}single"
                for threads in ("parallel L1.tile\n", "", "parallel L0.tile\n", "parallel L0\n")
            ],
        ),
        ("", ["parallel L0\nsingle", "single"]),
        (
            "tile L1 8\nmark_parallel L0",
            [
                "tile L1 8\nmark_parallel L1.tile\nmark_parallel L0\nparallel L1.tile\nsingle",
                "tile L1 8\nmark_parallel L0\nsingle",
                "tile L1 8\nmark_parallel L0\nparallel L1.tile\nsingle",
                "tile L1 8\nmark_parallel L0\nparallel L0\nsingle",
            ],
        ),
    ],
)
def test_recipes_of_one_thread_get_threads(alone: str, texts: list[str]):
    found = threaded(Recipe.parse(alone).steps, 2)
    assert [Recipe(tuple(steps)) for steps in found] == [Recipe.parse(text) for text in texts]


@pytest.mark.parametrize(
    ("kernel", "args", "op"),
    [
        (heat, GRIDS[0], "pipelined_time_tile"),
        (driven, FIELDS[0], "pipelined_time_tile"),
        (seidel, SQUARES[0], "wavefront"),
    ],
)
def test_seed_population_runs_waves_in_threads(kernel, args, op: str):
    (nest,) = nests_of(kernel, args)
    recipes = [
        recipe for recipe in seed_population(nest, AROUND) if any(s.op == op for s in recipe)
    ]
    assert recipes
    bench = bench_of(kernel, args)
    for step in recipes[0]:
        bench.apply(*step)
    assert recipes[0][-1].text() == "parallel L0.tile"


def test_there_are_time_tiles_for_every_thread():
    """Also where the time loop is short."""
    (nest,) = nests_of(heat, [6, random(1300, 130), random(1300, 130)])
    around = TuningContext("openmp", 8, l2_bytes=1 << 20, threads=3, trips={"L0": 6, "L1": 1298})
    tiles = [
        r[0].args for r in seed_population(nest, around) if r and r[0].op == "pipelined_time_tile"
    ]
    assert tiles
    assert all(args[1:3] == (3, 2) for args in tiles)


PACKED = packed(4, 16, 64) + MICRO


def test_packed_tiles_are_buffered_for_threads(tmp_path):
    """docc refuses threads around what it has staged; what is buffered runs in them."""
    recipes = [Recipe(tuple(steps)) for steps in threaded(Recipe.parse(PACKED).steps, 2)]
    wanted = PACKED.replace("stage L0.tile A1 in", "buffer L0.tile L2 L1")
    wanted = wanted.replace("stage L2 A2 out", "buffer L2 L0 L1") + "parallel L1.tile\nsingle"
    assert Recipe.parse(wanted) in recipes
    assert Recipe.parse(PACKED + "parallel L1.tile\nsingle") in recipes
    sizes = [matmul_args(9, 37, 70), matmul_args(4, 16, 64), matmul_args(5, 17, 3)]
    check_recipe(matmul, sizes, steps(wanted), tmp_path, "openmp")


def test_all_parts_of_a_loop_get_threads():
    alone = "tile L0.part1 8\nbuffer L0 L1 L2\ntile L0.part2 4\nbuffer L1 L2 L3"
    found = together(Recipe.parse(alone).steps)
    wanted = (
        "tile L0.part1 8\nmark_parallel L0.part1.tile\nbuffer L0 L1 L2\n"
        "tile L0.part2 4\nmark_parallel L0.part2.tile\nbuffer L1 L2 L3\n"
        "parallel L0.part1.tile\nparallel L0.part2.tile\nsingle"
    )
    assert [Recipe(tuple(steps)) for steps in found] == [Recipe.parse(wanted)]


def test_other_recipes_are_not_buffered():
    assert buffered(Recipe.parse("tile L0 4\nstage L2 A2 out\nvectorize L1\nunroll L0").steps) == []


def test_searches_begin_with_one_thread_and_with_shared_waves():
    nest = nests_of(heat, GRIDS[0])[0]
    first = [Recipe(recipe).text().strip() for recipe in seed_population(nest, AROUND)]
    assert first[1] == "single"
    assert any("pipelined_time_tile" in text and "parallel L0.tile" in text for text in first)
    alone = TuningContext("sequential", 8, l2_bytes=1 << 20)
    assert all("single" not in Recipe(recipe).text() for recipe in seed_population(nest, alone))
