"""Loops that docc wrongly takes for parallel are found, made serial and not reordered."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sdfg_kit import can_apply, prepared_nests, stepped

from loopbook.dependence.missed import confirmed, missed
from loopbook.errors import IllegalStepError
from loopbook.program.read import read
from loopbook.program.rename import with_own_variables
from loopbook.program.write import write
from loopbook.sdfg import frontend, marks, passes, program
from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.steps.workbench import Workbench
from loopbook.toolchain.times import Schedule


def shift(A, B):
    for i in range(A.shape[0] - 1):
        for j in range(A.shape[1]):
            B[i, j] = B[i + 1, j] + A[i, j]


def two_sums(A, cols, rows, x, y):
    for i in range(A.shape[1]):
        cols[i] = 0.0
    for i in range(A.shape[0]):
        rows[i] = 0.0
        for j in range(A.shape[1]):
            cols[j] = cols[j] + x[i] * A[i, j]
            rows[i] = rows[i] + A[i, j] * y[j]


def product(A, B, C):
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def first_large(A, found):
    for i in range(A.shape[0]):
        if A[i] > 0.99:
            break
        found[i] = A[i]


def outer_products(A):
    for k in range(A.shape[0]):
        A[k, k] = np.sqrt(A[k, k])
        for i in range(A.shape[0] - k - 1):
            A[1 + i + k, k] = A[1 + i + k, k] / A[k, k]
        for r in range(A.shape[0] - k - 1):
            for j in range(r + 1):
                A[1 + r + k, 1 + j + k] -= A[1 + r + k, k] * A[1 + j + k, k]


def mirrored(A, B):
    for i in range(A.shape[0]):
        for j in range(i, A.shape[0]):
            B[i, j] = 2.0 * A[i, j]
            B[j, i] = B[i, j]


def gathered(A, B, places):
    for i in range(B.shape[0] - 1):
        B[places[i]] = A[i] + B[1 + i]


def beside_a_sum(a, b, r):
    for i in range(b.shape[0] - 1):
        r[0] = r[0] + a[i]
        b[i] = b[i + 1] * 0.5


def beside_a_sum_apart(a, b, r):
    for i in range(b.shape[0] // 2):
        r[0] = r[0] + a[i]
        b[2 * i] = b[2 * i + 1] * 0.5


def data(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    numbers = np.random.default_rng(3)
    return [numbers.random(shape) for shape in shapes]


CASES = {
    "shift": (shift, data((300, 310), (300, 310))),
    "two_sums": (two_sums, data((300, 310), (310,), (300,), (300,), (310,))),
    "beside_a_sum": (beside_a_sum, data((40_000,), (40_001,), (1,))),
}


@pytest.mark.parametrize("name", CASES)
def test_docc_takes_the_loop_for_parallel_and_we_do_not(name):
    kernel, args = CASES[name]
    text = frontend.trace(kernel, args)
    document = write(with_own_variables(read(json.loads(text))))
    alone = passes.simplify(program.parse(json.dumps(document)), fuse=False)
    passes.reorder(alone, fuse=False)
    assert any(missed(nest) for nest in program.nests(alone)), "docc has learnt to see this"
    sdfg, nests = program.prepare_nests(text)
    assert not any(missed(nest) for nest in nests)
    assert marks.ordered(sdfg)
    assert nests[-1].loops[0].kind == "for"


@pytest.mark.parametrize("name", CASES)
def test_threads_are_refused_for_it(name):
    kernel, args = CASES[name]
    sdfg, nests = prepared_nests(kernel, args)
    with pytest.raises(IllegalStepError, match="step 1"):
        Workbench(program.tree_of(sdfg), nests[-1]).apply("parallel", ("L0",))


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_right_with_threads(name, tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    kernel, args = CASES[name]
    text = frontend.trace(kernel, args)
    binding = frontend.binding(kernel, args)
    expected = binding.results(build_baseline(text, "none", tmp_path / "none").library)
    built = build_tuned(text, "openmp", {}, tmp_path / "openmp")
    binding.measure([built], Schedule(repeats=5, seconds=0.5), expected)


def test_a_sum_beside_what_is_kept_apart_stays_a_sum():
    _, nests = prepared_nests(beside_a_sum_apart, data((20,), (40,), (1,)))
    assert [loop.kind for loop in nests[-1].loops] == ["reduce"]


def test_a_loop_that_is_left_early_is_serial():
    nests = prepared_nests(first_large, data((400,), (400,)))[1]
    assert [nest.loops[0].kind for nest in nests] in (["for"], ["while"])


def test_a_matrix_product_stays_parallel():
    sdfg, nests = prepared_nests(product, data((12, 13), (13, 14), (12, 14)))
    assert [loop.kind for loop in nests[0].loops] == ["map", "map", "reduce"]
    assert not marks.ordered(sdfg)
    stepped(sdfg, nests[0], [("interchange", ("L1", "L2")), ("parallel", ("L0",))])


@pytest.mark.parametrize(
    "before",
    [
        [("tile", ("L0", 12)), ("interchange", ("L1", "L2")), ("interchange", ("L0", "L2")),
         ("peel", ("L0",)), ("unroll", ("L0*",))],
        [("tile", ("L0", 4)), ("tile", ("L1", 4)), ("interchange", ("L0", "L1.tile")),
         ("interchange", ("L1", "L2")), ("interchange", ("L0", "L2")),
         ("stage", ("L2", "A2", "out"))],
    ],
)  # fmt: skip
def test_threads_are_refused_where_docc_would_lose_values(before):
    """Found by the tuner: such programs compile, and give wrong numbers."""
    args = data((51, 52), (52, 53), (51, 53))
    sdfg, nests = prepared_nests(product, args)
    with pytest.raises(IllegalStepError, match=r"lose the values|no parallel loop"):
        stepped(sdfg, nests[0], [*before, ("parallel", ("L0",))])
    stepped(sdfg, nests[0], [*before, ("parallel", ("L0.tile",))])


def definite(n: int) -> np.ndarray:
    (matrix,) = data((n, n))
    return matrix @ matrix.T + n * np.eye(n)


def test_bounds_clear_the_loops_of_a_factorisation_but_not_the_one_that_carries_it():
    sdfg, nests = prepared_nests(outer_products, [definite(19)])
    assert [loop.kind for loop in nests[0].loops] == ["for"] * 4
    assert not marks.ordered(sdfg)
    with pytest.raises(IllegalStepError, match="may depend on each other"):
        Workbench(program.tree_of(sdfg), nests[0]).apply("mark_parallel", ("L0",))


def test_a_cleared_loop_runs_in_threads_with_right_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    args = [definite(60)]
    text = frontend.trace(outer_products, args)
    binding = frontend.binding(outer_products, args)
    expected = binding.results(build_baseline(text, "none", tmp_path / "none").library)
    steps = [("mark_parallel", ("L1",)), ("mark_parallel", ("L2",)), ("parallel", ("L2",))]
    built = build_tuned(text, "openmp", {0: steps}, tmp_path / "openmp")
    assert built.recipes[0] == tuple(steps)
    binding.measure([built], Schedule(repeats=5, seconds=0.5), expected)


def test_what_is_mirrored_is_written_by_one_iteration_only():
    sdfg, nests = prepared_nests(mirrored, data((20, 20), (20, 20)))
    assert not marks.ordered(sdfg)
    assert not any(confirmed(nest, range(len(nest.loops))) for nest in nests)


def test_an_index_from_memory_clears_nothing():
    args = [*data((30,), (30,)), np.arange(30)[::-1].copy()]
    (nest,) = prepared_nests(gathered, args)[1]
    assert confirmed(nest, [0]) == {0}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_stays_wrong_for_the_sharp_test(name):
    kernel, args = CASES[name]
    nests = prepared_nests(kernel, args)[1]
    assert 0 in confirmed(nests[-1], [0])


def powers(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            for k in range(A.shape[1]):
                A[i, j] += A[i, k] * B[k, j]


def eliminated(A):
    for i in range(A.shape[0]):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]


@pytest.mark.parametrize(("kernel", "allowed"), [(powers, False), (eliminated, True)])
def test_an_array_is_not_staged_where_it_is_also_used_otherwise(kernel, allowed):
    args = data((37, 37), (37, 37))[: kernel.__code__.co_argcount]
    sdfg, nests = prepared_nests(kernel, args)
    bench = Workbench(program.tree_of(sdfg), nests[-1])
    assert can_apply(bench, "stage", ("L2", "A0", "out")) == allowed


def grown_and_read(b, c, f):
    for i in range(b.shape[0]):
        for j in range(i + 1):
            c[i] = c[i] + b[i, j]
            f[j] = c[j]


def grown_and_kept_apart(b, c, f):
    for i in range(b.shape[0]):
        for j in range(i):
            c[i] = c[i] + b[i, j]
            f[j] = c[j]


@pytest.mark.parametrize(
    ("kernel", "kind"), [(grown_and_read, "for"), (grown_and_kept_apart, "reduce")]
)
def test_an_element_that_is_read_as_it_grows_is_no_sum(kernel, kind):
    _, nests = prepared_nests(kernel, [np.ones((8, 8)), np.ones(8), np.ones(8)])
    assert [loop.kind for loop in nests[0].loops] == ["for", kind]
