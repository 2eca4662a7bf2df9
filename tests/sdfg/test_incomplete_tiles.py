"""Copies of a loop for incomplete tiles stay loops, whatever recipes say of all copies."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, matmul, random, steps

from loopbook.sdfg import frontend
from loopbook.sdfg.build import transform

TILED = "tile L0 4\ninterchange L1 L2\ninterchange L0 L2\npeel L0{}\nunroll L0*"


@pytest.mark.parametrize("form", ["", " predicate"])
def test_what_is_run_most_is_written_out_alone(form):
    text = frontend.trace(matmul, [random(9, 7), random(7, 10), random(9, 10)])
    found = transform(text, "sequential", {0: steps(TILED.format(form))})
    assert found.sdfg.to_cpp().count("unroll(full)") == 1
    assert found.applied[0] == tuple(steps(TILED.format(form)))


def test_incomplete_tiles_give_the_right_numbers(tmp_path):
    cases = [[random(n, 7), random(7, 10), random(n, 10)] for n in (2, 9)]
    check_recipe(matmul, cases, steps(TILED.format("")), tmp_path)
