"""Rules and rewritings for stencils and sweeps: right numbers for odd sizes, refusals, the seed
population."""

from __future__ import annotations

import re

import numpy as np
import pytest
from client_kit import product
from sdfg_kit import bench_of, check_recipe, nests_of, random, sdfg_of, steps, sweep, waves

from loopbook.errors import IllegalStepError
from loopbook.rules import TuningContext, seed_population
from loopbook.rules.strips import fitted_strips
from loopbook.rules.timetiling import time_tiles_from_memory
from loopbook.workloads.polybench import adi


def heat(STEPS, A, B):
    for t in range(STEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        for m in range(1, A.shape[0] - 1):
            for n in range(1, A.shape[1] - 1):
                A[m, n] = 0.2 * (B[m, n] + B[m, n - 1] + B[m, n + 1] + B[m + 1, n] + B[m - 1, n])


def driven(STEPS, E, H, F):
    for t in range(STEPS):
        for j in range(E.shape[1]):
            E[0, j] = F[t]
        for i in range(1, E.shape[0]):
            for k in range(E.shape[1]):
                E[i, k] = E[i, k] - 0.5 * (H[i, k] - H[i - 1, k])
        for m in range(E.shape[0] - 1):
            for n in range(E.shape[1]):
                H[m, n] = H[m, n] - 0.7 * (E[m + 1, n] - E[m, n])


def strided(STEPS, E, H, F):
    """`driven` with loops that jump through memory, as docc's client sends such programs."""
    for t in range(STEPS):
        for j in range(E.shape[1]):
            E[0, j] = F[t]
        for k in range(E.shape[1]):
            for i in range(1, E.shape[0]):
                E[i, k] = E[i, k] - 0.5 * (H[i, k] - H[i - 1, k])
        for n in range(E.shape[1]):
            for m in range(E.shape[0] - 1):
                H[m, n] = H[m, n] - 0.7 * (E[m + 1, n] - E[m, n])


def seidel(STEPS, A):
    for t in range(STEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = 0.25 * (A[i - 1, j + 1] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j])


def kept_apart(STEPS, A):
    T = np.empty((A.shape[0] - 2, A.shape[1] - 2))
    for t in range(STEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                T[i - 1, j - 1] = 0.25 * (A[i - 1, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j])
        for m in range(A.shape[0] - 2):
            for n in range(A.shape[1] - 2):
                A[m + 1, n + 1] = T[m, n]


def fixed(STEPS, A, B):
    for t in range(STEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                B[i, j] = 0.25 * (A[i - 1, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j])
        for m in range(1, A.shape[0] - 1):
            for n in range(1, A.shape[1] - 1):
                A[m, n] = B[m, n]
        for k in range(A.shape[1]):
            A[0, k] = A[1, k]
        for k in range(A.shape[1]):
            A[A.shape[0] - 1, k] = 2.0 * A[A.shape[0] - 2, k]
        for k in range(A.shape[0]):
            A[k, 0] = 0.5
        for k in range(A.shape[0]):
            A[k, A.shape[1] - 1] = 3.0


def joined(STEPS, A, B):
    for t in range(STEPS):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                B[i, j] = 0.25 * (A[i - 1, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j])
        for m in range(1, A.shape[0] - 1):
            for n in range(1, A.shape[1] - 1):
                A[m, n] = B[m, n]
        for k in range(A.shape[0]):
            A[k, A.shape[0] - 1] = 1.0
        for p in range(A.shape[0]):
            B[0, p] = 2.0


def recursive(zero, X, Y):
    for j in range(X.shape[1]):
        last = zero
        older = zero
        for i in range(X.shape[0]):
            Y[i, j] = X[i, j] + 0.5 * last - 0.25 * older
            older = last
            last = Y[i, j]


def twice(zero, A, B):
    for r in range(A.shape[0]):
        for i in range(A.shape[1]):
            last = zero
            for j in range(r):
                last = last + A[j, i]
            A[r, i] = A[r, i] + last
        for k in range(A.shape[1]):
            last = A[r, k]
            for m in range(r):
                last = last - 0.5 * B[m, k]
            B[r, k] = last


def diagonal(A):
    for i in range(A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            A[i + 1, j] = A[i, j + 1] - A[i, j] + A[i, j - 1]


def columns(A, T):
    for j in range(A.shape[1]):
        T[0] = A[0, j]
        for i in range(1, A.shape[0]):
            A[i, j] = A[i - 1, j] + T[0]


def leaking(zero, A, B):
    for i in range(A.shape[0]):
        last = zero
        for j in range(A.shape[1]):
            last = last + A[i, j]
            A[i, j] = last
    B[0] = last


SHAPES = ((9, 12), (3, 4), (17, 35), (40, 8))
LINES = [[n, random(size), random(size)] for n, size in ((7, 30), (2, 3), (17, 41), (8, 16))]
GRIDS = [[5, random(m, n), random(m, n)] for m, n in SHAPES]
FIELDS = [[5, random(m, n), random(m, n), random(5)] for m, n in SHAPES]
SQUARES = [[6, random(m, n)] for m, n in SHAPES]
FILTERS = [[0.0, random(m, n), random(m, n)] for m, n in SHAPES]

RECIPES = {
    "one dimension": (waves, LINES, "time_tile L0 4 8"),
    "rows": (heat, GRIDS, "time_tile L0 3 5"),
    "rows and columns": (heat, GRIDS, "time_tile L0 4 7 6"),
    "a statement at one place": (driven, FIELDS, "time_tile L0 2 4"),
    "in place": (seidel, SQUARES, "time_tile L0 4 3"),
    "wavefront": (seidel, SQUARES, "wavefront L0 4"),
    "wavefront, unrolled by the compiler": (seidel, SQUARES, "wavefront L0 8\nvectorize L0"),
    "diagonal": (diagonal, [[random(m, n)] for m, n in SHAPES], "time_tile L0 4 8"),
    "strips": (recursive, FILTERS, "strip_and_sink L0 8"),
    "strips beside a loop with the same scalar": (twice, FILTERS, "strip_and_sink L3 4"),
    "strips of one vector": (recursive, FILTERS, "strip_and_sink L0 4\nvectorize L0*"),
}


@pytest.mark.parametrize("name", RECIPES)
def test_numbers_are_right_for_every_size(name: str, tmp_path):
    kernel, cases, text = RECIPES[name]
    check_recipe(kernel, cases, steps(text), tmp_path)


def test_tiles_run_in_parallel_threads(tmp_path):
    check_recipe(
        heat, GRIDS, steps("time_tile L0 4 8\nparallel L1\nparallel L3"), tmp_path, "openmp"
    )


@pytest.mark.parametrize(
    ("kernel", "args", "text", "message"),
    [
        (seidel, SQUARES[0], "time_tile L0 4 8 8", "points backwards"),
        (sweep, [random(9, 9)], "strip_and_sink L0 4", "may depend on each other"),
        (columns, [random(9, 9), random(1)], "strip_and_sink L0 4", "may depend on each other"),
        (leaking, [0.0, random(9, 9), random(1)], "strip_and_sink L0 4", "outside of the loop"),
        (recursive, FILTERS[0], "time_tile L0 4 8", "more than loops"),
        (recursive, FILTERS[0], "strip_and_sink L1 4", "not known to be legal"),
    ],
)
def test_what_dependences_forbid_is_refused(kernel, args, text: str, message: str):
    bench = bench_of(kernel, args)
    before = sdfg_of(bench).to_cpp()
    ((op, arguments),) = steps(text)
    with pytest.raises(IllegalStepError, match=re.escape(message)):
        bench.apply(op, arguments)
    assert sdfg_of(bench).to_cpp() == before


NAMES = {
    "driven": ["L0.tile", "L0.space", "L0", "L1.point", "L1", "L2", "L3", "L4", "L5"],
    "recursive": ["L0.tile", "L0", "L1", "L0.part", "L0.rest", "L1.rest"],
}


def test_new_loops_are_named():
    bench = bench_of(driven, FIELDS[0])
    bench.apply("time_tile", ("L0", 2, 4))
    assert list(bench.names) == NAMES["driven"]
    bench = bench_of(recursive, FILTERS[0])
    bench.apply("strip_and_sink", ("L0", 8))
    assert list(bench.names) == NAMES["recursive"]


@pytest.mark.parametrize(
    ("kernel", "args", "op"),
    [
        (heat, GRIDS[0], "time_tile"),
        (seidel, SQUARES[0], "wavefront"),
        (recursive, FILTERS[0], "strip_and_sink"),
    ],
)
def test_seed_population_holds_what_pays(kernel, args, op: str):
    (nest,) = nests_of(kernel, args)
    around = TuningContext("sequential", 8, l2_bytes=1 << 20)
    recipes = [
        recipe for recipe in seed_population(nest, around) if any(s.op == op for s in recipe)
    ]
    assert recipes
    bench = bench_of(kernel, args)
    for step in recipes[0]:
        bench.apply(*step)


def test_time_tiles_fit_the_cache():
    (nest,) = nests_of(heat, [5, np.zeros((1300, 1300)), np.zeros((1300, 1300))])
    trips = {f"L{loop}": 1298 for loop in (1, 2, 3, 4)}
    for l2_bytes in (512 << 10, 2 << 20):
        around = TuningContext("sequential", 8, l2_bytes=l2_bytes, trips=trips)
        tiles = [r[0].args for r in seed_population(nest, around) if r and r[0].op == "time_tile"]
        assert tiles
        for _, count, width in tiles:
            assert (int(width) + 2 * int(count)) * 1298 * 8 * 2 <= 2 * l2_bytes


def test_time_tiles_put_strided_loops_right(tmp_path):
    cases = [
        [steps, np.random.default_rng(3).random((n, n + 2)), np.ones((n, n + 2)), np.arange(9.0)]
        for steps, n in ((1, 5), (9, 24), (7, 41))
    ]
    nest = nests_of(strided, cases[0])[0]
    around = TuningContext("sequential", 8, l2_bytes=1 << 20)
    (recipe,) = {r for r in seed_population(nest, around) if any(s.op == "time_tile" for s in r)}
    assert [s.op for s in recipe] == ["interchange", "interchange", "time_tile"]
    check_recipe(strided, cases, [(s.op, s.args) for s in recipe], tmp_path)


def test_sweeps_are_sunk_in_strips_of_any_width(tmp_path):
    cases = [list(adi.initialize(n).values()) for n in (9, 10, 21, 27)]
    cases = [[2, len(grids[0]), *grids] for grids in cases]
    nest = nests_of(adi.kernel, cases[0])[0]
    around = TuningContext("sequential", 8)
    found = [recipe for recipe in fitted_strips(nest, around) if len(recipe) > 1]
    assert {single.args[1] for recipe in found for single in recipe} == {8, 16, 64}
    assert {tuple(recipe) for recipe in found} <= set(seed_population(nest, around))
    for number, recipe in enumerate((found[0], found[-1])):
        folder = tmp_path / str(number)
        check_recipe(adi.kernel, cases, [(s.op, s.args) for s in recipe], folder)


@pytest.mark.parametrize("sizes", [(3, 4), (2, 3, 2)])
def test_time_is_tiled_where_rows_of_a_temporary_are_no_size(sizes, tmp_path):
    cases = [[steps, random(n, m)] for steps, n, m in ((7, 9, 13), (1, 3, 4), (5, 4, 3))]
    check_recipe(kept_apart, cases, [("time_tile", ("L0", *sizes))], tmp_path)


@pytest.mark.parametrize("sizes", [(3, 4), (2, 3, 4), (4, 16, 16)])
def test_time_is_tiled_with_conditions_at_boundaries(sizes, tmp_path):
    cases = [
        [steps, random(n, m), random(n, m)] for steps, n, m in ((7, 9, 13), (1, 3, 4), (5, 4, 3))
    ]
    check_recipe(fixed, cases, [("time_tile", ("L0", *sizes))], tmp_path)


def test_conditions_that_docc_computes_in_one_loop_are_taken_apart_first(tmp_path):
    data = [3, random(9, 9), random(9, 9)]
    (nest,) = nests_of(joined, data)
    (first, *_) = time_tiles_from_memory(nest, large(32 << 20))
    assert [one.op for one in first] == ["distribute", "time_tile"]
    check_recipe(joined, [data], [(one.op, one.args) for one in first], tmp_path)


def large(l3_bytes: int, times: int = 100, side: int = 2500) -> TuningContext:
    trips = {"L0": times, "L1": side, "L2": side, "L3": side, "L4": side}
    return TuningContext("sequential", 8, l2_bytes=1 << 20, l3_bytes=l3_bytes, trips=trips)


def test_grids_that_no_cache_holds_are_tiled_in_time(tmp_path):
    (nest,) = nests_of(heat, [2, random(5, 6), random(5, 6)])
    (first, *_) = time_tiles_from_memory(nest, large(32 << 20))
    assert first == [("time_tile", ("L0", 16, 32, 256))]
    assert time_tiles_from_memory(nest, large(32 << 20, times=9))[0] == [
        ("time_tile", ("L0", 8, 16, 256))
    ]
    for context in (large(1 << 30), large(32 << 20, times=2), large(32 << 20, side=500)):
        assert time_tiles_from_memory(nest, context) == []
    cases = [[33, random(300, 281), random(300, 281)]]
    check_recipe(heat, cases, [("time_tile", ("L0", 16, 32, 256))], tmp_path)


@pytest.mark.parametrize("order", ["ijk", "kij"])
def test_what_is_no_grid_over_time_is_not_tiled_in_it(order):
    (nest,) = nests_of(recursive, [0.0, random(5, 6), random(5, 6)])
    assert time_tiles_from_memory(nest, large(1 << 20)) == []
    (nest,) = nests_of(
        product if order == "ijk" else by_rows, [random(5, 6), random(6, 7), random(5, 7)]
    )
    assert len(nest.loops) == 3
    assert time_tiles_from_memory(nest, large(1 << 20)) == []


def by_rows(A, B, C):
    for k in range(A.shape[1]):
        for i in range(A.shape[0]):
            for j in range(B.shape[1]):
                C[i, j] = 0.5 * C[i, j] + A[i, k] * B[k, j]
