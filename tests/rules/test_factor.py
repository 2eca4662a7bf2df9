"""Factorisations in place as products in register tiles, against the untouched programs."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from sdfg_kit import bench_of, can_apply, check_recipe, eliminated, matmul, nests_of, steps
from sdfg_kit import random as filled

from loopbook.errors import IllegalStepError
from loopbook.program.tree import Loop, Sequence
from loopbook.program.walk import preorder
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext, seed_population
from loopbook.rules.factor import blocked, factor_tiles, fitted_factors
from loopbook.rules.fission import pushed_on
from loopbook.steps import Step
from loopbook.steps.editor import Editor
from loopbook.steps.workbench import Workbench
from loopbook.workloads.polybench import cholesky, lu, ludcmp

AROUND = TuningContext("sequential", 8)
SIZES = (2, 3, 7, 16, 17, 31, 50, 67)


def definite(n: int) -> np.ndarray:
    lower = np.tril(filled(n, n)) + n * np.eye(n)
    return lower @ lower.T


def pivot_by_pivot(A):
    for k in range(A.shape[0]):
        for i in range(k + 1, A.shape[0]):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, A.shape[0]):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]


def with_roots(A):
    """What stands beside the loop over rows belongs to its pivot."""
    for k in range(A.shape[0]):
        A[k, k] = A[k, k] + 1.0
        for i in range(k + 1, A.shape[0]):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, A.shape[0]):
                A[i, j] = A[i, j] - A[i, k] * A[k, j]


def behind(A, B):
    """What the first rows and columns of A, as many as B is long, give to the others."""
    for i in range(B.shape[0], A.shape[0]):
        for j in range(B.shape[0], A.shape[0]):
            for k in range(B.shape[0]):
                A[i, j] -= A[i, k] * A[k, j]


def overlapping(A, B):
    for i in range(B.shape[0], A.shape[0]):
        for j in range(B.shape[0] - 1, A.shape[0]):
            for k in range(B.shape[0]):
                A[i, j] -= A[i, k] * A[k, j]


def overlapping_rows(A, B):
    for i in range(B.shape[0] - 1, A.shape[0]):
        for j in range(B.shape[0], A.shape[0]):
            for k in range(B.shape[0]):
                A[i, j] -= A[i, k] * A[k, j]


def squared(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            for k in range(B.shape[0]):
                A[i, j] -= A[i, k] * A[k, j]


TILED = """tile L1 8
    tile L2 4
    tile L0 4
    interchange L0 L1.tile
    interchange L1 L2.tile
    interchange L0 L2.tile
    interchange L0.tile L1.tile
    interchange L0.tile L2.tile
    mark_parallel L0
    mark_parallel L1
    interchange L1 L2
    interchange L0 L2
"""
STAGED = "buffer L0.tile L2 L1\nbuffer L2 L0 L1\npad L1\npeel L0\nvectorize L1*\nunroll L0*"


@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [
        (lu.kernel, (16, 4, 2, 8)),
        (lu.kernel, (16, 5, 3, 8)),
        (cholesky.kernel, (16, 5, 3, 8)),
        (cholesky.kernel, (20, 16, 4, 16)),
        (pivot_by_pivot, (16, 5, 3, 8)),
        (eliminated, (16, 4, 2, 8)),
    ],
    ids=[
        "lu",
        "lu in odd tiles",
        "cholesky in odd tiles",
        "cholesky in large tiles",
        "lu pivot by pivot",
        "lu with columns first",
    ],
)
def test_a_factorisation_in_blocks_gives_the_same_factors(kernel, sizes, tmp_path):
    (nest,) = nests_of(kernel, [definite(9)])
    recipe, ((loops, joined),) = pushed_on(nest)
    recipe = [(s.op, s.args) for s in [*recipe, *blocked(*loops, *sizes, joined=joined)]]
    check_recipe(kernel, [[definite(n)] for n in SIZES], recipe, tmp_path)


@pytest.mark.parametrize("kernel", [with_roots, matmul])
def test_what_is_no_factorisation_is_not_turned(kernel):
    args = [definite(9)] if kernel is with_roots else [filled(3, 4), filled(4, 5), filled(3, 5)]
    (nest,) = nests_of(kernel, args)
    assert pushed_on(nest) == ([], [])


def test_seed_population_factorises_right(tmp_path):
    for number, kernel in enumerate((lu.kernel, cholesky.kernel)):
        (nest,) = nests_of(kernel, [definite(9)])
        forms = fitted_factors(nest, AROUND)
        assert {tuple(form) for form in forms} <= set(seed_population(nest, AROUND))
        for place, form in enumerate((forms[0], forms[-1])):
            recipe = [(s.op, s.args) for s in form]
            folder = tmp_path / f"{number}-{place}"
            check_recipe(kernel, [[definite(n)] for n in (5, 64, 131)], recipe, folder)


def test_scalars_are_no_hindrance(tmp_path):
    args = [[definite(n), filled(n), filled(n), filled(n)] for n in (17, 70, 135)]
    nest = nests_of(ludcmp.kernel, args[0])[0]
    recipe = [(s.op, s.args) for s in fitted_factors(nest, AROUND)[0]]
    assert recipe[0][0] == "reg2mem"
    check_recipe(ludcmp.kernel, args, recipe, tmp_path)


def test_rules_draw_blocks_where_something_is_gathered():
    (nest,) = nests_of(cholesky.kernel, [definite(9)])
    drawn = {Recipe(tuple(factor_tiles(nest, Random(seed), AROUND))).text for seed in range(20)}
    assert len(drawn) > 5
    (product_nest,) = nests_of(matmul, [filled(3, 4), filled(4, 5), filled(3, 5)])
    assert factor_tiles(product_nest, Random(0), AROUND) == []
    assert fitted_factors(product_nest, AROUND) == []


def test_a_product_within_one_array_is_held_in_buffers(tmp_path):
    cases = [[filled(n, n), filled(m)] for n, m in ((9, 4), (31, 9), (16, 8), (7, 6))]
    check_recipe(behind, cases, steps(TILED + STAGED), tmp_path)


ORDERED = ["L1.tile", "L2.tile", "L0.tile", "L2", "L0", "L1"]


@pytest.mark.parametrize(
    ("kernel", "step"),
    [
        (overlapping, "buffer L2 L0 L1"),  # columns of the result are columns of an operand
        (overlapping_rows, "buffer L0.tile L2 L1"),
        (overlapping_rows, "buffer L2 L0 L1"),
        (squared, "buffer L0.tile L2 L1"),
        (squared, "buffer L2 L0 L1"),
    ],
)
def test_what_the_product_changes_is_not_held(kernel, step):
    bench = bench_of(kernel, [filled(17, 17), filled(4)])
    for op, args in steps("tile L0 4\ntile L1 8\ntile L2 4"):
        bench.apply(op, args)
    op, *names = step.split()
    with pytest.raises(IllegalStepError, match=r"more than one place|written before it is read"):
        Step(op, tuple(names)).apply(_in_order(bench, ORDERED))
    allowed = bench_of(behind, [filled(17, 17), filled(4)])
    for op, args in steps("tile L0 4\ntile L1 8\ntile L2 4"):
        allowed.apply(op, args)
    editor = _in_order(allowed, ORDERED)
    before = editor.program
    Step("buffer", tuple(names)).apply(editor)
    assert editor.program is not before


def test_tiles_are_not_moved_against_a_dependence():
    # docc's own test allows this one: a row's later columns read what its earlier ones become.
    bench = bench_of(squared, [filled(17, 17), filled(4)])
    for op, args in steps("tile L1 8\ntile L2 4"):
        bench.apply(op, args)
    assert not can_apply(bench, "interchange", ("L1", "L2.tile"))
    with pytest.raises(IllegalStepError, match="dependence"):
        bench.apply("interchange", ("L1", "L2.tile"))


def _in_order(bench: Workbench, names: list[str]) -> Editor:
    """The nest with its loops in another order, all maps, whether that is legal or not."""
    editor = Editor(bench.program, bench.names, {})
    loops = [node for node in preorder(editor.program) if isinstance(node, Loop)]
    (body,) = (
        loop.body for loop in loops if not any(isinstance(n, Loop) for n in loop.body.children)
    )
    for name in reversed(names):
        body = Sequence((replace(editor.loop(name), kind="map", body=body),))
    editor.put("L0.tile", *body.children)
    return editor
