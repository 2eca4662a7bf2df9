"""A loop around vectors is not made vectors of itself."""

from __future__ import annotations

import pytest
from sdfg_kit import check_recipe, matmul, random, steps

from loopbook.sdfg import frontend
from loopbook.sdfg.transformed import as_python, transform


def layer(X, W, b, Y):
    for i in range(X.shape[0]):
        for j in range(W.shape[1]):
            s = b[j]
            for k in range(X.shape[1]):
                s += X[i, k] * W[k, j]
            Y[i, j] = s


KERNEL = """serialize L2
tile L0 3
tile L1 8
interchange L0 L1.tile
interchange L1 L2
interchange L0 L2
peel L0
vectorize L1*
{}"""


def told_to(kernel, args, recipe: str, loop: str = "for(k ") -> list[bool]:
    """Whether clang is told to make no vectors of each loop over k."""
    text = frontend.trace(kernel, args)
    found = transform(text, "sequential", {0: steps(recipe)})
    lines = as_python(found.sdfg, found.tree).to_cpp().splitlines()
    places = [n for n, line in enumerate(lines) if loop in line]
    return ["vectorize(disable)" in lines[place - 1] for place in places]


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        (KERNEL.format("unroll L0*"), True),
        (KERNEL.format(""), True),  # eight columns: clang writes them out
        (KERNEL.format("").replace("peel L0\n", ""), False),  # or fewer, who knows
    ],
)
def test_clang_is_told_where_the_vectors_are(recipe, told):
    first, *_ = told_to(matmul, [random(9, 7), random(7, 10), random(9, 10)], recipe)
    assert first == told


def test_the_loop_keeps_its_order(tmp_path):
    cases = [[random(n, 7), random(7, 10), random(n, 10)] for n in (2, 9)]
    check_recipe(matmul, cases, steps(KERNEL.format("unroll L0*")), tmp_path)


def test_strips_are_vectors_though_clang_writes_them_out():
    args = [random(5, 7), random(7, 40), random(40), random(5, 40)]
    first, *others = told_to(layer, args, "strip_and_sink L1 16")
    assert first
    assert not any(others)  # of what is left


def rows(X, Y):
    for i in range(X.shape[0]):
        for j in range(X.shape[0]):
            s = 0.0
            for k in range(X.shape[1]):
                s += X[i, k] * X[j, k]
            Y[i, j] = s


def test_strips_that_gather_leave_vectors_to_the_loop_around():
    found = told_to(rows, [random(40, 7), random(40, 40)], "strip_and_sink L1 16", "for(k")
    assert found
    assert not any(found)
