"""Triangular products in tiles: blocks, skews, and exact buffers, and what must be refused."""

from __future__ import annotations

from random import Random

import pytest
from sdfg_kit import (
    bench_of,
    check_recipe,
    check_refused,
    matmul,
    matmul_args,
    nests_of,
    random,
    steps,
)

from loopbook.rules import TuningContext
from loopbook.rules.bands import bands
from loopbook.rules.triangular import triangular_tiles

AROUND = TuningContext("sequential", 8, l2_bytes=1 << 20)
SIZES = ((9, 5), (33, 18), (3, 7), (2, 2), (50, 33))


def lower(A, C):
    for i in range(C.shape[0]):
        for j in range(i + 1):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * A[j, k]


def upper(A, C):
    for i in range(C.shape[0] - 1):
        for j in range(C.shape[0] - i - 1):
            for k in range(A.shape[1]):
                C[i, i + j + 1] += A[i, k] * A[i + j + 1, k]


def masked(A, B, C):
    for i in range(C.shape[0]):
        for j in range(i + 1):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def recurrence(A):
    for i in range(1, A.shape[0]):
        for j in range(i):
            A[i, j] = A[i - 1, j + 1] + 1.0


def gathered(A):
    for i in range(A.shape[0] - 1):
        for j in range(A.shape[1]):
            A[i, j] += A[i + 1, j]


def _cases(kernel, target="sequential"):
    """Arguments of all sizes. For docc, equal sizes are one, which makes another program: with
    threads there is nothing new about it."""
    for n, m in SIZES:
        if n == m and target == "openmp":
            continue
        more = [random(m, n)] if kernel is masked else []
        yield [random(n, m), *more, random(n, n)]


def _recipe(kernel, target, rows=4, columns=8, depth=16):
    """What the rule makes, with tiles that are small enough for the tests' sizes."""
    (band,) = bands(nests_of(kernel, next(_cases(kernel)))[0])
    made = triangular_tiles(band, Random(0), AROUND)
    sizes = {"block": (rows, columns), "tile": (depth,)}
    pairs = [
        (s.op, (*s.args[: -len(sizes[s.op])], *sizes[s.op]) if s.op in sizes else s.args)
        for s in made
    ]
    return pairs + ([("parallel", ("L1.tile",))] if target == "openmp" else [])


@pytest.mark.parametrize("target", ["sequential", "openmp"])
@pytest.mark.parametrize("kernel", [lower, upper, masked])
def test_triangular_tiles_are_right_for_every_size(kernel, target, tmp_path):
    cases = list(_cases(kernel, target))
    check_recipe(kernel, cases, _recipe(kernel, target), tmp_path, target)


@pytest.mark.parametrize("kernel", [lower, upper, masked])
def test_the_move_on_a_triangle_is_never_refused(kernel):
    args = next(_cases(kernel))
    (band,) = bands(nests_of(kernel, args)[0])
    for seed in range(6):
        bench = bench_of(kernel, args)
        for made in triangular_tiles(band, Random(seed), AROUND):
            bench.apply(made.op, made.args)


def test_tiles_of_several_rows_and_columns_need_not_divide_each_other(tmp_path):
    check_recipe(lower, list(_cases(lower)), _recipe(lower, "sequential", 6, 5, 3), tmp_path)


def test_blocks_of_rectangles_are_right_too(tmp_path):
    recipe = "block L0 L1 4 8\ninterchange L1 L2\ninterchange L0 L2\nbuffer L2 L0 L1"
    sizes = [matmul_args(m, n, k) for m, n, k in ((9, 10, 11), (3, 17, 5))]
    check_recipe(matmul, sizes, steps("serialize L2\n" + recipe), tmp_path)


@pytest.mark.parametrize(
    ("before", "step", "reason"),
    [
        ("", "block L0 L2 4 8", "not all that"),
        ("tile L0 4", "block L0.tile L0 4 8", "advance by one"),
        ("", "buffer L2 L0 L1", "not nested in the scope"),
        ("block L0 L1 4 8", "buffer L0.tile L1 L2", "no tile"),
        ("block L0 L1 4 8", "buffer L0.tile L0 L1", "no tile"),
    ],
)
def test_steps_on_triangles_are_refused_where_they_do_not_fit(before, step, reason):
    check_refused(lower, next(_cases(lower)), f"serialize L2\n{before}", step, reason)


def test_blocks_are_refused_where_rows_depend_on_each_other():
    check_refused(recurrence, [random(9, 9)], "", "block L0 L1 4 8", "dependence")


def test_buffers_are_refused_where_the_result_is_read_elsewhere():
    before = "tile L0 4\ntile L1 8\ninterchange L0 L1.tile"
    check_refused(gathered, [random(9, 17)], before, "buffer L0 L0 L1", "more than one place")


def test_padding_is_refused_where_docc_copies_more_than_the_triangle_back():
    before = """
        tile L0 4
        tile L1 8
        tile L2 16
        interchange L1 L2.tile
        bounding_box L1.tile
        interchange L0 L1.tile
        interchange L0 L2.tile
        interchange L1 L2
        interchange L0 L2
        buffer L2 L2 L1
        stage L2 A0 out
    """
    args = next(_cases(masked))
    nest = nests_of(masked, args)[0]
    result = next(c.name for c in nest.containers if c.data == "C")
    serial = "serialize L2" if nest.loops[2].kind == "reduce" else ""
    check_refused(masked, args, serial + before.replace("A0", result), "pad L1", "copied back")


def test_skews_by_more_than_one_are_refused():
    check_refused(upper, next(_cases(upper)), "", "skew L0 L1 2", "iterations|factor")
