"""A loop around vectors is not made vectors of itself."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, matmul, random, steps

from loopbook.sdfg import frontend
from loopbook.sdfg.build import as_python, transform

KERNEL = """serialize L2
tile L0 3
tile L1 8
interchange L0 L1.tile
interchange L1 L2
interchange L0 L2
peel L0
vectorize L1*
{}"""


def code(recipe: str) -> str:
    """The line of C++ right before the loop over k."""
    text = frontend.trace(matmul, [random(9, 7), random(7, 10), random(9, 10)])
    found = transform(text, "sequential", {0: steps(recipe)})
    lines = as_python(found.sdfg, found.tree).to_cpp().splitlines()
    place = next(n for n, line in enumerate(lines) if "for(k " in line)
    return lines[place - 1]


@pytest.mark.parametrize(("last", "told"), [("unroll L0*", True), ("", False)])
def test_clang_is_told_where_the_vectors_are(last, told):
    assert ("vectorize(disable)" in code(KERNEL.format(last))) == told


def test_the_loop_keeps_its_order(tmp_path):
    cases = [[random(n, 7), random(7, 10), random(n, 10)] for n in (2, 9)]
    check_recipe(matmul, cases, steps(KERNEL.format("unroll L0*")), tmp_path)
