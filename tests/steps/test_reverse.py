"""`reverse`: right numbers either way round, names stay, refused where the order matters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from client_kit import nests_of as client_nests
from client_kit import product
from sdfg_kit import bench_of, check_recipe, check_refused, random, steps

from loopbook.errors import IllegalStepError
from loopbook.predict.features import Features
from loopbook.program import tree
from loopbook.program.dataflow import AccessNode, Memlet, Tasklet, block
from loopbook.program.expr import Expr
from loopbook.program.types import Pointer, Scalar
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.similarity import only_reorders
from loopbook.rules import TuningContext
from loopbook.steps.editor import Editor
from loopbook.steps.reverse import Reverse
from loopbook.steps.workbench import transformed


def backwards(x, y, z):
    for t in range(z.shape[0]):  # noqa: B007
        for i in range(x.shape[0] - 2, -1, -1):
            y[i] = 0.5 * y[i + 1] + x[i]
        for i in range(x.shape[0] - 1):
            x[i] = x[i] + 0.25 * y[i]


def triangle(A, B):
    for i in range(A.shape[0]):
        for j in range(i, A.shape[0]):
            for k in range(j - i):
                B[i, j] += A[i, k] * A[k, j]


def eighteen(A):
    for i in range(18):
        A[i] = A[i] * 2.0


def guarded(A, b):
    for i in range(A.shape[0]):
        if b[i] > 0.5:
            for j in range(A.shape[1]):
                A[i, j] = A[i, j] + b[i]


def moved_down(A):
    for i in range(A.shape[0] - 1):
        A[i] = A[i + 1] * 2.0


def last_one_stays(A, b):
    for i in range(A.shape[0]):
        b[0] = A[i]
        A[i] = b[0] * 2.0


def numbered(A):
    for i in range(A.shape[0]):
        A[i] = A[i] + i


BACKWARDS = [[random(n), random(n), random(t)] for n, t in ((9, 3), (2, 1), (31, 2))]


@pytest.mark.parametrize("recipe", ["reverse L2", "reverse L2\nfuse L1 L2"])
def test_a_sweep_back_meets_a_loop_that_may_run_either_way(recipe: str, tmp_path):
    check_recipe(backwards, BACKWARDS, steps(recipe), tmp_path)


def test_it_is_what_lets_them_be_fused():
    bench = bench_of(backwards, BACKWARDS[0])
    with pytest.raises(IllegalStepError, match="against it"):
        bench.apply("fuse", ("L1", "L2"))
    bench.apply("reverse", ("L2",))
    bench.apply("fuse", ("L1", "L2"))
    assert list(bench.names) == ["L0", "L1"]


@pytest.mark.parametrize(
    "recipe",
    [
        "reverse L1",
        "reverse L0\nreverse L1\nreverse L2\ninterchange L1 L2",
        "reverse L0\ntile L1 4",
    ],
)
def test_bounds_inside_follow(recipe: str, tmp_path):
    cases = [[random(n, n), random(n, n)] for n in (2, 7, 13)]
    check_recipe(triangle, cases, steps(recipe), tmp_path)


def test_the_last_tile_is_the_first_one(tmp_path):
    cases = [[random(21)], [random(18)]]
    check_recipe(eighteen, cases, steps("tile L0 4\nreverse L0.tile"), tmp_path)


def test_the_last_of_an_unknown_number_of_tiles_is_not_found():
    bench = bench_of(moved_down, [random(9)])
    bench.apply("tile", ("L0", 4))
    with pytest.raises(IllegalStepError, match="where a loop with a step ends"):
        bench.apply("reverse", ("L0.tile",))


def test_branches_with_loops_in_them_go_along(tmp_path):
    cases = [[random(n, m), random(n)] for n, m in ((7, 5), (2, 9))]
    check_recipe(guarded, cases, steps("reverse L0\nreverse L1"), tmp_path)


def slanted(A):
    for i in range(A.shape[0] - 1):
        for j in range(A.shape[1] - 1):
            A[i + 1, j + 1] = A[i, j] * 2.0


@pytest.mark.parametrize(("before", "loop"), [("peel L0", "L0.rest"), ("peel L0 predicate", "L0")])
def test_loops_in_branches_have_their_order(before: str, loop: str):
    check_refused(slanted, [random(12, 9)], f"tile L0 5\n{before}", f"reverse {loop}", "A carries")


def test_loops_keep_their_names():
    bench = bench_of(backwards, BACKWARDS[0])
    before = bench.names
    bench.apply("reverse", ("L2",))
    assert bench.names == before


@pytest.mark.parametrize(
    ("kernel", "args", "loop", "why"),
    [
        (moved_down, [random(9)], "L0", "A carries a dependence"),
        (last_one_stays, [random(9), random(2)], "L0", "b carries a dependence"),
        (backwards, BACKWARDS[0], "L1", "y carries a dependence"),
        (backwards, BACKWARDS[0], "L0", "carries a dependence"),
        (numbered, [random(9)], "L0", "used as a number"),
    ],
)
def test_what_has_to_run_forwards_does(kernel, args, loop: str, why: str):
    bench = bench_of(kernel, args)
    with pytest.raises(IllegalStepError, match=why):
        bench.apply("reverse", (loop,))


def test_loops_with_several_ends_have_no_one_last_iteration():
    bench = bench_of(triangle, [random(9, 9), random(9, 9)])
    bench.apply("tile", ("L0", 4))
    with pytest.raises(IllegalStepError, match="several bounds"):
        bench.apply("reverse", ("L0",))


TYPES = {
    **dict.fromkeys(("i", "n"), Scalar(dtype="int64")),
    **dict.fromkeys(("A", "B"), Pointer(to=Scalar(dtype="double"))),
}


@pytest.mark.parametrize(("low", "high"), [("n", "9"), ("0", "n")])
def test_bounds_that_the_loop_changes_are_not_those_of_its_last_iteration(low: str, high: str):
    nodes = AccessNode("A"), AccessNode("B"), Tasklet("assign", ("_in",), "_out")
    into = Memlet(0, 2, "void", "_in", (Expr("i"),), TYPES["A"])
    out = Memlet(2, 1, "_out", "void", (Expr("i"),), TYPES["B"])
    copied = block(nodes, (into, out))
    changed = tree.Assignments((tree.Assignment("n", Expr("7")),))
    bounds = Expr(low), Expr(f"(i < {high})"), Expr("1 + i")
    loop = tree.Loop("i", *bounds, tree.Sequence((copied,)), id=1)

    def editor(loop: tree.Loop) -> Editor:
        program = tree.Program("p", TYPES, ("A", "B"), tree.Sequence((loop,)))
        return Editor(program, {"L0": 1}, {})

    step = Reverse("reverse", ("L0",))
    step.apply(editor(loop))
    with pytest.raises(IllegalStepError, match="n carries a dependence"):
        step.apply(editor(replace(loop, body=tree.Sequence((changed, copied)))))


def test_models_read_a_nest_that_it_has_changed():
    recipe = Recipe.parse("reverse L0\nreverse L2")
    nest = client_nests(product)[0]
    features = Features(nest, TuningContext("sequential", lanes=8))
    after, refused = transformed(nest, recipe)
    assert not refused
    assert only_reorders(recipe)
    np.testing.assert_array_equal(features(after), features(transformed(nest, ())[0]))
