"""Loops that change places although iterations touch the same elements, and their siblings that
must not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sdfg_kit import bench_of, check_recipe, matmul, matmul_args, random, steps

from loopbook.errors import IllegalStepError

Kernel = Callable[..., Any]


def again(C, D):
    """Nobody reads what is written but in the last iterations of two loops."""
    for t in range(3):
        for i in range(D.shape[0]):
            for j in range(C.shape[0]):
                D[i] = C[j] * 2.0 + t


def read_again(C, D):
    for t in range(3):
        for i in range(D.shape[0]):
            for j in range(C.shape[0]):
                D[i] = D[i] * 0.5 + C[j] + t


def corner(C, D):
    """The last iteration of the one order is not that of the other one."""
    for i in range(C.shape[0]):
        for j in range(C.shape[0] - i):
            D[0] = C[j] + C[i] * 0.5


def chosen(C, D):
    """The last iteration may write nothing."""
    for i in range(C.shape[0]):
        for j in range(D.shape[0]):
            if C[i] > D[j]:
                D[0] = C[i] + D[j] * 0.0


def every_second(C, D):
    """What is written last, but for every second element, is not written last in any order."""
    for i in range(C.shape[0]):
        for j in range(C.shape[0] - i):
            D[j + i] = C[j]


def scratch(A, B, T):
    """T is made anew by each iteration."""
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            for p in range(A.shape[2]):
                T[p] = 0.0
                for s in range(A.shape[2]):
                    T[p] += A[r, q, s] * B[s, p]
            for m in range(A.shape[2]):
                A[r, q, m] = T[m]


def kept_scratch(A, B, T):
    """But for one element, which the iterations hand on."""
    for r in range(A.shape[0]):
        for q in range(A.shape[1]):
            for p in range(1, A.shape[2]):
                T[p] = 0.0
                for s in range(A.shape[2]):
                    T[p] += A[r, q, s] * B[s, p]
            for m in range(A.shape[2]):
                T[m] = T[m] * 0.5
                A[r, q, m] = T[m]


def grown_scratch(A, B, T):
    """Each iteration uses more of it than the last one, and what is left is of different ones."""
    for r in range(A.shape[0]):
        for q in range(A.shape[1] - r):
            for p in range(q + 1):
                T[p] = A[r, q, 0] + B[p, 0]
            for m in range(q + 1):
                A[r, q, m] = T[m]


def test_only_the_last_write_of_what_nobody_reads_stays_the_last(tmp_path):
    cases = [[random(m), random(n)] for m, n in ((5, 7), (4, 3), (1, 2))]
    for text in ("interchange L0 L1\ninterchange L0 L2", "interchange L1 L2\ninterchange L0 L2"):
        check_recipe(again, cases, steps(text), tmp_path / text[12:17].replace(" ", ""))


def test_arrays_that_iterations_make_anew_are_in_nobodys_way(tmp_path):
    cases = [
        [random(n, m, k), random(k, k), random(k)] for n, m, k in ((4, 5, 6), (3, 2, 5), (2, 4, 1))
    ]
    check_recipe(scratch, cases, steps("interchange L0 L1"), tmp_path)


@pytest.mark.parametrize(
    ("kernel", "args"),
    [
        (read_again, [random(5), random(7)]),
        (corner, [random(5), random(7)]),
        (chosen, [random(5), random(7)]),
        (kept_scratch, [random(4, 5, 6), random(6, 6), random(6)]),
        (grown_scratch, [random(4, 6, 6), random(6, 6), random(6)]),
    ],
)
def test_values_that_another_order_would_change_are_in_the_way(kernel: Kernel, args: list[Any]):
    bench = bench_of(kernel, args)
    if kernel is read_again:
        bench.apply("interchange", ("L0", "L1"))
        refused = "L0", "L2"
    else:
        refused = "L0", "L1"
    with pytest.raises(IllegalStepError, match="carries a dependence"):
        bench.apply("interchange", refused)


def relaxed(A, B):
    for t in range(3):  # noqa: B007
        for i in range(1, A.shape[0] - 1):
            for j in range(A.shape[1]):
                A[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j]) + B[i, j]


def spread(A, B):
    for t in range(3):  # noqa: B007
        for i in range(A.shape[0]):
            for j in range(A.shape[1]):
                A[i, j] = 0.5 * A[i, j] + B[i, j]


def test_loops_change_places_around_what_peeling_leaves(tmp_path):
    text = "tile L0 8\ntile L1 4\ninterchange L0 L1.tile\npeel L0\ninterchange L0.tile L1.tile"
    check_recipe(matmul, [matmul_args(), matmul_args(17, 5, 3)], steps(text), tmp_path / "matmul")
    cases = [[random(n, m), random(n, m)] for n, m in ((6, 9), (5, 3), (4, 8))]
    text = "tile L2 4\npeel L2\ninterchange L0 L1"
    check_recipe(spread, cases, steps(text), tmp_path / "spread")


def test_dependences_count_in_branches_too():
    bench = bench_of(relaxed, [random(6, 9), random(6, 9)])
    bench.apply("tile", ("L2", 4))
    bench.apply("peel", ("L2",))
    with pytest.raises(IllegalStepError, match="carries a dependence"):
        bench.apply("interchange", ("L0", "L1"))


def grid(A, B):
    for i in range(0, A.shape[0], 2):
        for j in range(0, A.shape[1], 3):
            B[i, j] = 2.0 * A[i, j] + B[i, j]


def lifted(A, B):
    for i in range(2, A.shape[0], 2):
        for j in range(0, A.shape[1] - 3, 3):
            A[i, j] = A[i - 2, j + 3] + B[i, j]


STRIDED = [[random(n, m), random(n, m)] for n, m in ((6, 9), (7, 11), (2, 1), (9, 16))]


@pytest.mark.parametrize(
    "text",
    [
        "interchange L0 L1",
        "tile L0 2\ntile L1 4\ninterchange L0 L1.tile\ninterchange L0.tile L1.tile",
        "skew L0 L1",
        "skew L0 L1 -1\ntile L1 3",
        "tile L1 2\nstage L1 A0 in",
        "tile L0 2\ntile L1 3\ninterchange L0 L1.tile\nstage L0 A0 in",
    ],
)
def test_loops_with_factors_in_their_conditions(text: str, tmp_path):
    check_recipe(grid, STRIDED, steps(text), tmp_path)


def test_dependences_along_steps_are_not_turned_round():
    with pytest.raises(IllegalStepError, match="carries a dependence"):
        bench_of(lifted, STRIDED[0]).apply("interchange", ("L0", "L1"))


def test_every_write_that_is_last_somewhere_counts():
    bench = bench_of(every_second, [random(6), np.zeros(6)])
    with pytest.raises(IllegalStepError, match="carries a dependence"):
        bench.apply("interchange", ("L0", "L1"))
