"""Rewritings and rules for solvers and products with vectors, against the untouched programs."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from sdfg_kit import bench_of, can_apply, check_recipe, matmul, nests_of, steps, sweep
from sdfg_kit import random as filled

from loopbook.errors import IllegalStepError
from loopbook.program.tree import Loop
from loopbook.program.walk import preorder
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext, seed_population
from loopbook.rules.bands import bands
from loopbook.rules.fission import gathers, right_looking
from loopbook.rules.jamming import jam
from loopbook.rules.reductions import accumulate, held
from loopbook.steps.workbench import Workbench
from loopbook.workloads.polybench import nussinov

RIGHT_LOOKING = "right_looking L1 L2\ninterchange L3 L4\nfuse L1 L4\njoin L2 L3\n"

TILED = (
    RIGHT_LOOKING
    + """tile L2 8
    tile L0 4
    tile L1 4
    bounding_box L1.tile
    interchange L0 L1.tile"""
)

BLOCKED = (
    RIGHT_LOOKING
    + """tile L0 8
    interchange L0 L1
    cut L1 L0.tile
    tile L1 4
    cut L2 L1.tile 4
    distribute L0
    distribute L1
    peel L1.part1
    interchange L1.part1 L0.part2
    interchange L1.part1 L2.rest2
    unroll L1.part1"""
)


def factorise(A):
    for i in range(A.shape[0]):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]


def factorise_by_scalars(A, x):
    for i in range(A.shape[0]):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[k, j]
            A[i, j] = w / A[j, j]
        for j in range(i, A.shape[0]):
            w = A[i, j]
            for k in range(i):
                w -= A[i, k] * A[k, j]
            A[i, j] = w
    for i in range(A.shape[0]):
        w = x[i]
        for j in range(i):
            w -= A[i, j] * x[j]
        x[i] = w


def factorise_by_sums(A):
    for i in range(A.shape[0]):
        for j in range(i):
            w = 0.0
            for k in range(j):
                w += A[i, k] * A[k, j]
            A[i, j] = A[i, j] - w
            A[i, j] = A[i, j] / A[j, j]
        for j in range(i, A.shape[0]):
            w = 0.0
            for k in range(i):
                w += A[i, k] * A[k, j]
            A[i, j] = A[i, j] - w


def sum_of_differences(A, B):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            w = 0.0
            for k in range(i + 1, A.shape[0]):
                w -= A[k, i] * B[k, j]
            B[i, j] -= w


def sum_over_its_own_element(A, B):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            w = 0.0
            for k in range(A.shape[0]):
                w += A[k, i] * B[k, j]
            B[i, j] += w


def sum_that_is_read(A, B):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            w = 0.0
            for k in range(A.shape[0]):
                w += A[i, k]
                B[k, j] = B[k, j] * w
            A[i, j] += w


def left_scalar(A, x):
    w = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k]
            A[i, j] = w
        x[i] = w


def own_element_read(A):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            w = A[i, j]
            for k in range(A.shape[1]):
                w += A[i, k]
            A[i, j] = w


def sums_and_maxima(A, b):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            b[i] = max(b[i], A[i, j])
            for k in range(j):
                b[i] = b[i] + A[i, k]


def antidiagonal(A):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1] - 1):
            A[i, j] = A[i, j] + A[i - 1, j + 1]


def triangle(A, B):
    for i in range(A.shape[0]):
        for j in range(i + 1, A.shape[1]):
            B[i, j] = B[i, j] + A[i, j] * A[i, j]


def halves(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = A[i, j] * 2.0
        for k in range(i, A.shape[1]):
            A[i, k] = A[i, k] * 3.0


def copied_on(x):
    for t in range(1):  # noqa: B007
        for i in range(4):
            x[i + 4] = x[i]
        for j in range(4, 12):
            x[j + 4] = x[j]


def shifted(A):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i, j] + 1.0
        for k in range(A.shape[1]):
            A[i, k] = A[i, k] * A[i - 1, A.shape[1] - 1 - k] + A[i, A.shape[1] - 1 - k]


def two_products(A, x, p, q):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            p[j] = p[j] + A[i, j] * x[i]
            q[i] = q[i] + A[i, j] * x[j]


def dominant(n: int) -> np.ndarray:
    return filled(n, n) + 2.0 * n * np.eye(n)


@pytest.mark.parametrize("recipe", [RIGHT_LOOKING, BLOCKED], ids=["right-looking", "blocked"])
def test_a_factorisation_gives_the_same_factors(recipe, tmp_path):
    check_recipe(factorise, [[dominant(n)] for n in (2, 3, 7, 8, 17, 36)], steps(recipe), tmp_path)


@pytest.mark.parametrize("recipe", [RIGHT_LOOKING, TILED], ids=["right-looking", "tiled"])
def test_scalars_go_back_to_their_elements(recipe, tmp_path):
    cases = [[dominant(n), filled(n)] for n in (2, 3, 8, 17, 36)]
    recipe = "reg2mem L1\nreg2mem L3\n" + recipe
    check_recipe(factorise_by_scalars, cases, steps(recipe), tmp_path)


@pytest.mark.parametrize("recipe", [RIGHT_LOOKING, TILED], ids=["right-looking", "tiled"])
def test_sums_go_into_their_elements(recipe, tmp_path):
    recipe = "reg2mem L1\nreg2mem L3\n" + recipe
    cases = [[dominant(n)] for n in (2, 3, 8, 17, 36)]
    check_recipe(factorise_by_sums, cases, steps(recipe), tmp_path)


def roots_of_sums(A, x):
    for i in range(A.shape[0]):
        w = 0.0
        for j in range(i):
            w += A[i, j] * x[j]
        x[i] = math.sqrt(x[i] - w) + 1.0


def test_a_sum_goes_on_from_what_is_computed_of_it(tmp_path):
    cases = [[-filled(n, n), filled(n) + 1.0] for n in (2, 9, 33)]
    check_recipe(roots_of_sums, cases, steps("reg2mem L0"), tmp_path)


def products_of_rows(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            w = 2.0 * A[i, 0]
            for k in range(A.shape[1]):
                w += A[i, k] * B[j, k]
            C[i, j] = w


def test_a_scalar_that_is_set_first_goes_to_its_element(tmp_path):
    cases = [[filled(n, m), filled(m, m), filled(n, m)] for n, m in ((2, 3), (9, 8), (33, 20))]
    recipe = steps("reg2mem L1\ndistribute L1\ninterchange L1.part1 L2")
    check_recipe(products_of_rows, cases, recipe, tmp_path)


def overwritten(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            w = 1.0
            for k in range(A.shape[1]):
                w += A[i, k] * C[i, k]
            C[i, j] = w


def test_a_sum_of_differences_keeps_its_sign(tmp_path):
    cases = [[filled(n, n), filled(n, m)] for n, m in ((2, 3), (8, 9), (33, 20))]
    recipe = steps("reg2mem L1\ninterchange L1 L2")
    check_recipe(sum_of_differences, cases, recipe, tmp_path)


def numbers(n: int) -> list[np.ndarray]:
    random = np.random.default_rng(n)
    table = random.integers(0, 9, (n, n), dtype=np.int32)
    return [table, random.integers(-3, 9, n, dtype=np.int32)]


def test_maxima_are_pushed_in_any_order(tmp_path):
    cases = [list(nussinov.initialize(n).values()) for n in (2, 3, 5, 17, 30)]
    check_recipe(nussinov.kernel, cases, steps("right_looking L1 L2\ntile L2 8"), tmp_path)


@pytest.mark.parametrize(
    ("kernel", "args", "recipe"),
    [
        (left_scalar, [filled(9, 9), filled(9)], "reg2mem L1"),
        (overwritten, [filled(9, 9), filled(9, 9), filled(9, 9)], "reg2mem L1"),
        (sum_over_its_own_element, [filled(9, 9), filled(9, 9)], "reg2mem L1"),
        (sum_that_is_read, [filled(9, 9), filled(9, 9)], "reg2mem L1"),
        (sums_and_maxima, numbers(9), "right_looking L1 L2"),
    ],
)
def test_scalars_in_use_and_other_operators_stay_in_place(kernel, args, recipe):
    bench = bench_of(kernel, args)
    (single,) = steps(recipe)
    with pytest.raises(IllegalStepError, match="not known to be legal"):
        bench.apply(*single)


def test_tiles_of_pushed_maxima_keep_their_order():
    # docc's own test allows this one; a row reads what earlier rows' later columns become.
    bench = bench_of(nussinov.kernel, list(nussinov.initialize(9).values()))
    *before, last = steps(
        "right_looking L1 L2\ntile L0 4\ntile L1 4\nbounding_box L1.tile\ninterchange L0 L1.tile"
    )
    for op, args in before:
        bench.apply(op, args)
    with pytest.raises(IllegalStepError, match="dependence"):
        bench.apply(*last)


def test_updates_do_not_run_at_once():
    bench = bench_of(nussinov.kernel, list(nussinov.initialize(9).values()))
    for op, args in steps("right_looking L1 L2\nmark_parallel L2"):
        bench.apply(op, args)  # each iteration of L2 has an element of its own
    with pytest.raises(IllegalStepError):
        bench.apply("mark_parallel", ("L1",))


def test_a_triangle_is_turned_round(tmp_path):
    cases = [[filled(m, n), filled(m, n) + 1.0] for m, n in ((2, 2), (5, 9), (9, 5), (8, 8))]
    check_recipe(
        triangle, cases, steps("interchange L0 L1\nmark_parallel L1\nmark_parallel L0"), tmp_path
    )


def test_sums_are_staged_and_rows_jammed(tmp_path):
    cases = [[filled(n, n), filled(n), filled(n), filled(n)] for n in (2, 6, 19)]
    nest = nests_of(two_products, cases[-1])[-1]
    assert held(nest, nest.loops[-1])
    (band,) = bands(nest)
    recipe = [(s.op, s.args) for s in accumulate(band, Random(0), TuningContext("sequential", 8))]
    check_recipe(two_products, cases, recipe, tmp_path)


@pytest.mark.parametrize(
    ("kernel", "shape", "recipe"),
    [
        (antidiagonal, (9, 9), "interchange L0 L1"),
        (sweep, (9, 9), "mark_parallel L1"),
        (antidiagonal, (9, 9), "mark_parallel L0"),
        (factorise, (9, 9), "right_looking L3 L4"),
        (factorise, (9, 9), "interchange L0 L1"),
        (factorise, (9, 9), "fuse L1 L3"),
        (factorise, (9, 9), "distribute L0"),
        (factorise, (9, 9), "cut L2 L3"),
        (halves, (9, 9), "join L1 L2"),
        (own_element_read, (9, 9), "reg2mem L1"),
        (shifted, (9, 9), "fuse L1 L2"),
    ],
)
def test_what_would_change_results_is_refused(kernel, shape, recipe):
    bench = bench_of(kernel, [filled(*shape)])
    (single,) = steps(recipe)
    with pytest.raises(IllegalStepError):
        bench.apply(*single)
    assert not can_apply(bench, *single)


def kind_of(bench: Workbench, name: str) -> str:
    nodes = preorder(bench.program)
    (loop,) = (n for n in nodes if isinstance(n, Loop) and n.id == bench.names[name])
    return loop.kind


def test_independent_rows_become_a_map():
    bench = bench_of(factorise, [dominant(9)])
    for op, args in steps(RIGHT_LOOKING + "mark_parallel L2\nvectorize L2"):
        bench.apply(op, args)
    assert kind_of(bench, "L2") == "map"
    with pytest.raises(IllegalStepError):
        bench.apply("mark_parallel", ("L1",))


def test_halves_without_order_may_have_one_as_a_whole():
    bench = bench_of(copied_on, [filled(20)])
    for op, args in steps("mark_parallel L1\njoin L1 L2"):
        bench.apply(op, args)
    with pytest.raises(IllegalStepError, match="depend on each other"):
        bench.apply("mark_parallel", ("L1",))
    assert kind_of(bench, "L1") == "for"


def test_rules_find_the_blocked_factorisation():
    (nest,) = nests_of(factorise, [dominant(9)])
    assert [(a.name, b.name) for a, b in gathers(nest)] == [("L1", "L2")]
    wanted = Recipe.parse(RIGHT_LOOKING).steps
    around = TuningContext("sequential", 8)
    blocked = 0
    for seed in range(20):
        recipe = tuple(right_looking(nest, Random(seed), around))
        assert set(wanted) <= set(Recipe(recipe).steps)
        blocked += any(single.op == "cut" for single in recipe)
    assert 3 < blocked < 15
    assert any(set(wanted) < set(recipe) for recipe in seed_population(nest, around))
    (product_nest,) = nests_of(matmul, [filled(3, 4), filled(4, 5), filled(3, 5)])
    assert right_looking(product_nest, Random(0), around) == []
    (band,) = bands(product_nest)
    assert {single.op for single in jam(band, Random(0), around)} >= {"tile", "peel", "unroll"}
