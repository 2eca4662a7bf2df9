"""Copies of tiles run to constants, also where an array ends."""

from __future__ import annotations

import re

import pytest
from sdfg_kit import check_recipe, matmul, matmul_args, steps

from loopbook.sdfg import frontend
from loopbook.sdfg.build import transform

TILES = "tile L0 4\ntile L1 8\ninterchange L0 L1.tile\ninterchange L1 L2\ninterchange L0 L2\n"


@pytest.mark.parametrize("step", ["stage L2 A2 auto", "stage L2 A2 out"])
def test_copies_run_to_constants_and_ask_for_the_ends_inside(step, tmp_path):
    recipe = steps(TILES + step)
    text = frontend.trace(matmul, matmul_args())
    code = transform(text, "sequential", {0: recipe}).sdfg.to_cpp()
    loops = re.findall(r"for\((\w+_copy_\d+) = 0;(.*?);", code)
    assert loops
    for variable, condition in loops:
        assert re.fullmatch(rf"{variable} < \d+", condition), "clang cannot write it out"
    cases = [matmul_args(m, n, k) for m, n, k in ((9, 10, 11), (8, 16, 4), (3, 31, 2))]
    check_recipe(matmul, cases, recipe, tmp_path)
