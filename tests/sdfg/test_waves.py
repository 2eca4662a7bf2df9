"""Waves of tiles: every tile once, none before what it may need, right numbers with threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from types import CodeType
from typing import Any

import numpy as np
import pytest
from sdfg_kit import bench_of, check_recipe, random, steps, waves

from loopbook.errors import IllegalStepError
from loopbook.program import tree
from loopbook.program.expr import Expr
from loopbook.program.types import Scalar
from loopbook.steps.editor import Editor
from loopbook.steps.waves import Tiles, in_waves

from ..rules.test_stencil import SHAPES, driven, heat, seidel

GRIDS = (*SHAPES, (60, 9))
POINTS = ((5, 17, 35), (17, 40, 8), (2, 9, 12))
# Threads meet after each wave, and wait for the last one to get a core: no more waves than show
# whole tiles, parts of tiles, and fewer tiles than threads.
CASES = {
    "line": (waves, [[t, random(n), random(n)] for t, n in product((1, 7, 11), (3, 41, 90))]),
    "plane": (heat, [[t, random(*s), random(*s)] for t, s in product((1, 5, 17), GRIDS)]),
    "point": (driven, [[t, random(m, n), random(m, n), random(t)] for t, m, n in POINTS]),
    "sweep": (seidel, [[t, random(*s)] for t, s in product((1, 6, 18), GRIDS)]),
}
RECIPES = [
    ("line", "pipelined_time_tile L0 2 4 8"),
    ("line", "pipelined_time_tile L0 4 5 3"),
    ("plane", "pipelined_time_tile L0 2 3 5"),
    ("plane", "pipelined_time_tile L0 16 2 3"),
    ("plane", "pipelined_time_tile L0 3 4 1 6"),
    ("point", "pipelined_time_tile L0 2 2 4"),
    ("sweep", "pipelined_time_tile L0 2 4 3"),
    ("sweep", "wavefront L0 4 2 3"),
    ("sweep", "wavefront L0 4 3 1"),
    ("sweep", "wavefront L0 8 2"),
]


@pytest.mark.parametrize(("name", "recipe"), RECIPES)
def test_numbers_are_right_with_threads(name: str, recipe: str, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    kernel, cases = CASES[name]
    check_recipe(kernel, cases, steps(f"{recipe}\nparallel L0.tile"), tmp_path, "openmp")


def test_new_loops_are_named():
    bench = bench_of(driven, CASES["point"][1][0])
    bench.apply("pipelined_time_tile", ("L0", 2, 4, 8))
    names = ["L0.wave", "L0.tile", "L0.time", "L0.space", "L0", "L1.point"]
    assert list(bench.names)[: len(names)] == names


@pytest.mark.parametrize(
    ("kernel", "args", "text"),
    [
        (seidel, CASES["sweep"][1][0], "pipelined_time_tile L0 2 4 8 8"),
        (heat, CASES["plane"][1][0], "wavefront L0 8 2 8"),
    ],
)
def test_what_dependences_forbid_is_refused(kernel, args, text: str):
    ((op, arguments),) = steps(text)
    with pytest.raises(IllegalStepError, match="not known to be legal"):
        bench_of(kernel, args).apply(op, arguments)


@pytest.mark.parametrize(("count", "size", "by"), [*product((2, 3, 9), (1, 2, 4), (1, 3))])
def test_no_tile_is_left_out_or_too_early(count: int, size: int, by: int):
    for end, high, factor, blocks in product((1, 6, 9), (-5, 0, 20), (0, 1, 3), (1, 2)):
        program = tree.Program("p", {"t": Scalar(dtype="int64")}, (), tree.Sequence())
        tiles = Tiles("L0", "T", "X", "0", str(end), "-1", str(high), size, by, factor)
        made = in_waves(Editor(program, {}, {}), tiles, count, by * blocks, "t", [])
        order: dict[tuple[int, int], int] = {}
        for wave, _, tile, space in _values([made], {}):
            assert (tile, space) not in order
            order[tile, space] = wave
        assert set(order) == set(product(range(0, end, size), range(-1, high, by)))
        tile, space = np.array([*order]).reshape(-1, 2).T[:, :, None]
        later = np.array([*order.values()])
        first = later[:, None]
        steps_on, reach = tile.T - tile, space.T + by + factor * (tile.T - tile)
        # Some point may be needed there, by another thread.
        assert (first < later)[(steps_on > 0) & (space < reach)].all()
        assert (first <= later)[(steps_on == 0) & (space < space.T)].all()


def _values(loops: Sequence[Any], around: dict[str, int]) -> Iterator[tuple[int, ...]]:
    """The values of the loops' variables, as they run."""
    if not loops:
        yield tuple(around.values())
        return
    (loop,) = loops
    known = {"idiv": lambda a, b: int(a / b), "min": min, "max": max}
    init, condition, update = map(_compiled, (loop.init, loop.condition, loop.update))
    value = eval(init, known, around)
    while eval(condition, known, inside := around | {loop.variable: value}):
        yield from _values(loop.body.children, inside)
        value = eval(update, known, inside)


@cache
def _compiled(part: Expr) -> CodeType:
    return compile(part.text, "<loop>", "eval")
