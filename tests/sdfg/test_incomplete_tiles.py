"""Copies of a loop for incomplete tiles stay loops, whatever recipes say of all copies."""

from __future__ import annotations

import itertools

import pytest
from sdfg_kit import check_recipe, matmul, random, steps

from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_tuned
from loopbook.sdfg.incomplete_tiles import OF_REST
from loopbook.sdfg.transformed import transform

TILED = "tile L0 4\ninterchange L1 L2\ninterchange L0 L2\npeel L0{}\nunroll L0*"


@pytest.mark.parametrize("form", ["", " predicate"])
def test_what_is_run_most_is_written_out_alone(form):
    text = frontend.trace(matmul, [random(9, 7), random(7, 10), random(9, 10)])
    found = transform(text, "sequential", {0: steps(TILED.format(form))})
    assert found.sdfg.to_cpp().count("unroll(full)") == 1
    assert found.applied[0] == tuple(steps(TILED.format(form)))


BLOCKED = "tile L0 4\ntile L1 4\ninterchange L0 L1.tile\n"
AROUND = BLOCKED + "peel L0\ninterchange L1 L2\ninterchange L0 L2"
"""Behind it, the loop over k is outside of whole tiles, and inside of incomplete ones."""

INSIDE = BLOCKED + "interchange L1 L2\ninterchange L0 L2\npeel L0"
"""And outside of both."""


@pytest.mark.parametrize(("recipe", "told"), [(AROUND, 2), (TILED.format(""), 1), (INSIDE, 0)])
def test_clang_writes_no_loop_around_a_long_one_out(tmp_path, recipe: str, told: int):
    text = frontend.trace(matmul, [random(9, 7), random(7, 10), random(9, 10)])
    build_tuned(text, "sequential", {0: steps(recipe)}, tmp_path)
    (source,) = tmp_path.glob("*.cpp")
    lines = source.read_text().splitlines()
    behind = [b for a, b in itertools.pairwise(lines) if a.endswith(" unroll(disable)")]
    assert len(behind) == told
    assert all(line.strip().startswith("for(") and OF_REST in line for line in behind)


@pytest.mark.parametrize("recipe", [TILED.format(""), AROUND])
def test_incomplete_tiles_give_the_right_numbers(tmp_path, recipe: str):
    cases = [[random(n, 7), random(7, 10), random(n, 10)] for n in (2, 9)]
    check_recipe(matmul, cases, steps(recipe), tmp_path)
