"""Loops shown to be parallel, with loops inside that count nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import bench_of, can_apply, check_recipe, random, steps


def escapes(xs, ys, N):
    for i in range(ys.shape[0]):
        for j in range(xs.shape[0]):
            x = 0.0
            y = 0.0
            n = 0
            while n < 30 and x * x + y * y < 4.0:
                t = x * x - y * y + xs[j]
                y = 2.0 * x * y + ys[i]
                x = t
                n += 1
            N[i, j] = n


def left_early(a, r):
    for i in range(a.shape[0]):
        if a[i] > 0.9:
            break
        r[i] = a[i]


def carried(a, r):
    k = 0
    for i in range(a.shape[0]):
        while k < a.shape[0] - 1 and a[k] < a[i]:
            k += 1
        r[i] = k


def storing(a, r):
    for i in range(a.shape[0]):
        k = 0
        while k < a.shape[0] - 1 and a[k] < 0.5:
            k += 1
            a[k] = a[k] + 0.1
        r[i] = k


def test_what_a_while_loop_repeats_belongs_to_its_iteration(tmp_path):
    args = [np.linspace(-2.0, 1.0, 9), np.linspace(-1.0, 1.0, 7), np.zeros((7, 9), np.int64)]
    assert can_apply(bench_of(escapes, args), "mark_parallel", ("L0",))
    assert can_apply(bench_of(escapes, args), "mark_parallel", ("L1",))
    check_recipe(escapes, [args], steps("mark_parallel L0\nparallel L0"), tmp_path, "openmp")


@pytest.mark.parametrize("kernel", [left_early, carried, storing])
def test_iterations_that_others_decide_about_are_not_parallel(kernel):
    bench = bench_of(kernel, [random(9), np.zeros(9)])
    assert not can_apply(bench, "mark_parallel", ("L0",))
