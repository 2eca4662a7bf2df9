"""Dense linear algebra: packed products, padded tiles, triangles, and what must be refused."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from packed_kit import MICRO, ORDER, packed
from sdfg_kit import bench_of, check_recipe, matmul, matmul_args, nests_of, random, steps

from loopbook.errors import IllegalStepError
from loopbook.rules import TuningContext
from loopbook.rules.bands import bands
from loopbook.rules.registers import MICRO_TILES, packed_tiles

PACKED = "serialize L2\n" + packed(4, 8, 16)
PACKED_LEAST = packed(4, 8, 16).replace("A2 out", "A0 out").replace("A1 in", "A2 in")
SIZES = [matmul_args(m, n, k) for m, n, k in ((9, 10, 11), (5, 17, 33), (16, 8, 32), (3, 31, 2))]


def triangle(A, C):
    for i in range(C.shape[0]):
        for j in range(i + 1):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * A[j, k]


def upper(A, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[0] - i):
            for k in range(A.shape[0]):
                C[i, j] += A[k, i] * A[k, j]


def column_sums(A, s):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            s[i] += A[i, j]


def shortest(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(B.shape[0]):
                C[i, j] = min(C[i, j], A[i, k] + B[k, j])


def centred(A, B, m, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(B.shape[0]):
                C[i, j] += A[i, k] * (B[k, j] - m[j])


def chosen(A, at, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, at[j]]


def running(A, m):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            m[j] = m[j] + A[i, j]


def test_padded_tiles_are_right_for_every_size(tmp_path):
    check_recipe(matmul, SIZES, steps(PACKED + MICRO), tmp_path)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("kernel", "recipe"), [(matmul, packed(4, 8, 16)), (shortest, PACKED_LEAST)]
)
def test_padded_tiles_of_whole_numbers_are_right_for_every_size(kernel, recipe, dtype, tmp_path):
    cases = [[(100 * array).astype(dtype) for array in case] for case in SIZES]
    check_recipe(kernel, cases, steps(recipe + MICRO), tmp_path)


def test_functions_of_what_lies_beyond_do_no_harm(tmp_path):
    check_recipe(shortest, SIZES, steps(PACKED_LEAST + MICRO), tmp_path)


def test_what_is_read_along_a_padded_tile_lies_in_a_buffer(tmp_path):
    sizes = (9, 10, 11), (5, 17, 33), (16, 8, 32), (3, 31, 2)
    cases = [[random(m, k), random(k, n), random(n), random(m, n)] for m, n, k in sizes]
    named = {"A1 in": "A0 in", "A2 out": "A3 out", "L0": "X", "L1": "L0", "X": "L1"}  # j, then i
    recipe = packed(4, 8, 16) + MICRO
    for before, after in named.items():
        recipe = recipe.replace(before, after)
    check_recipe(centred, cases, steps(f"interchange L0 L1\nserialize L2\n{recipe}"), tmp_path)


def test_what_lies_beyond_chooses_no_elements():
    at = np.arange(9)
    bench = bench_of(chosen, [random(10, 11), at, random(11, 20), random(10, 9)])
    for op, args in steps("tile L1 8\nstage L1 A3 out"):
        bench.apply(op, args)
    with pytest.raises(IllegalStepError, match=r"chooses elements|no local buffer"):
        bench.apply("pad", ("L1",))


def test_what_is_written_beside_a_padded_tile_is_in_no_buffer():
    bench = bench_of(running, [random(9, 10), random(10)])
    bench.apply("tile", ("L0", 8))
    with pytest.raises(IllegalStepError, match="no local buffer"):
        bench.apply("pad", ("L0",))


def test_padded_tiles_are_right_with_threads(tmp_path):
    check_recipe(matmul, SIZES, steps(PACKED + MICRO + "parallel L1.tile"), tmp_path, "openmp")


@pytest.mark.parametrize(
    ("before", "step", "reason"),
    [
        ("", "pad L1", "no bound but its tile's"),
        ("tile L1 8", "pad L1.tile", "no bound but its tile's"),
        ("tile L1 8", "pad L1", "no local buffer"),
        (
            f"serialize L2\ntile L0 4\ntile L1 8\ntile L2 16\n{ORDER}stage L2 A2 out",
            "pad L1",
            "no local buffer",
        ),
        (PACKED, "pad L0", "no local buffer"),
        (PACKED, "pad L2", "no local buffer"),
    ],
)
def test_padding_is_refused_where_something_else_would_be_touched(before, step, reason):
    bench = bench_of(matmul, matmul_args())
    for op, args in steps(before):
        bench.apply(op, args)
    ((op, args),) = steps(step)
    with pytest.raises(IllegalStepError, match=reason):
        bench.apply(op, args)


def test_padding_never_adds_to_sums_of_all_iterations():
    bench = bench_of(column_sums, [random(9, 10), random(9)])
    for op, args in steps("serialize L1\ntile L1 8\nstage L1 A1 in"):
        bench.apply(op, args)
    with pytest.raises(IllegalStepError, match=r"write the same elements|carry a value|no local"):
        bench.apply("pad", ("L1",))


@pytest.mark.parametrize("kernel", [triangle, upper])
def test_widened_triangles_are_right_for_every_size(kernel, tmp_path):
    cases = [[random(*shape), random(n, n)] for n, shape in _shapes(kernel)]
    recipe = "tile L0 4\ntile L1 8\nbounding_box L1.tile\ninterchange L0 L1.tile\ninterchange L1 L2"
    serial = "serialize L2\n" if nests_of(kernel, cases[0])[0].loops[2].kind == "reduce" else ""
    check_recipe(
        kernel, cases, steps(serial + recipe + "\ninterchange L0 L2\nstage L2 A1 out"), tmp_path
    )


def _shapes(kernel):
    for n, m in ((9, 5), (8, 3), (3, 7), (33, 2), (5, 5)):
        yield n, (n, m) if kernel is triangle else (m, n)


@pytest.mark.parametrize("before", ["", "tile L0 4", "tile L0 4\ntile L1 8\ninterchange L1 L2"])
def test_widening_is_refused_where_nothing_depends_on_the_loop_around(before):
    bench = bench_of(matmul, matmul_args())
    for op, args in steps(before):
        bench.apply(op, args)
    with pytest.raises(IllegalStepError):
        bench.apply("bounding_box", ("L1",))


def test_only_tiles_whose_ends_are_known_outside_are_peeled_together(tmp_path):
    """docc itself tests the inner tile's end, which the outer loop says, before the outer loop."""
    text = "tile L0 4\ntile L1 8\nbounding_box L1.tile\ninterchange L0 L1.tile\npeel L0"
    args = [random(9, 5), random(9, 9)]
    bench = bench_of(triangle, args)
    for op, arguments in steps(text):
        bench.apply(op, arguments)
    assert "L0.rest" in bench.names
    check_recipe(triangle, [args], steps(text), tmp_path)


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_packed_products_fit_the_machine_and_are_never_refused(lanes):
    nest = nests_of(matmul, matmul_args())[0]
    (band,) = bands(nest)
    around = TuningContext("sequential", lanes, l2_bytes=1 << 20)
    for seed in range(8):
        bench = bench_of(matmul, matmul_args())
        recipe = packed_tiles(band, Random(seed), around)
        sizes = {str(s.args[0]): int(s.args[1]) for s in recipe if s.op == "tile"}
        assert (sizes["L0"], sizes["L1"] // lanes) in MICRO_TILES
        assert 8 * sizes["L1"] * sizes["L2"] <= around.l2_bytes // 2
        for op, args in recipe:
            bench.apply(op, args)


def test_packed_products_for_threads_use_small_tiles_and_exact_buffers(tmp_path):
    nest = nests_of(matmul, matmul_args())[0]
    (band,) = bands(nest)
    around = TuningContext("openmp", 4, l2_bytes=1 << 20)
    for seed in range(6):
        recipe = packed_tiles(band, Random(seed), around)
        sizes = {str(s.args[0]): int(s.args[1]) for s in recipe if s.op == "tile"}
        assert sizes["L0"] * sizes["L1"] // 4 <= 12
        assert [s.op for s in recipe].count("buffer") == 2
        bench = bench_of(matmul, matmul_args())
        for op, args in recipe:
            bench.apply(op, args)
    threads = [*((s.op, s.args) for s in recipe), ("parallel", ("L1.tile",))]
    check_recipe(matmul, SIZES, threads, tmp_path, "openmp")
