"""What recurrences do not wait for, and what waits for them, in loops of their own."""

from __future__ import annotations

import math

import pytest
from sdfg_kit import bench_of, check_recipe, random, steps

from loopbook.errors import IllegalStepError

SIZES = (2, 7, 8, 9, 30)


def grown(x, y):
    s = 1.0
    for i in range(x.shape[0]):
        s = s * math.exp(0.1 * x[i])
        y[i] = s


def volatility(x, y, out):
    s = 0.1
    total = 0.0
    for i in range(x.shape[0]):
        s = 0.1 + 0.2 * x[i] * x[i] + 0.7 * s
        total += math.log(s) + x[i] * x[i] / s
        y[i] = s
    out[0] = total
    out[1] = s


def both(x, y, z):
    s = 0.5
    for i in range(1, x.shape[0]):
        s = 0.9 * s + math.sin(x[i]) + x[i]
        y[i] = math.exp(-s) * math.sin(x[i])
        z[i] = z[i - 1] + s


def rows(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j + 1] = B[i, j] * math.exp(A[i, j])


def backwards(x, y):
    s = 1.0
    for i in range(x.shape[0] - 1, -1, -2):
        s = s / 2.0 + math.cos(x[i])
        y[i] = s


def waiting(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s = math.tanh(x[i] + s)
        y[i] = s


def one_after_the_other(x, y):
    for i in range(x.shape[0]):
        y[i] = math.exp(x[i])


def cheap(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s = 0.5 * s + 3.0 * x[i]
        y[i] = s


def branching(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s = 0.5 * s + math.exp(x[i])
        if s > 1.0:
            s = 1.0
        y[i] = s


def stored_twice(x, y):
    s = 0.0
    for i in range(1, x.shape[0]):
        e = math.exp(x[i])
        y[i] = e
        y[i - 1] = y[i - 1] + e
        s = s * e + y[i - 1]
        y[0] = s


@pytest.mark.parametrize(
    ("kernel", "others"),
    [(grown, ()), (volatility, (2,)), (both, (None,)), (backwards, ())],
)
def test_numbers_stay_right(kernel, others, tmp_path):
    cases = [
        [random(n), random(n), *(random(n if count is None else count) for count in others)]
        for n in SIZES
    ]
    check_recipe(kernel, cases, steps("strip_distribute L0 8"), tmp_path)


def test_rows_have_strips_of_their_own(tmp_path):
    cases = [[random(n, m), random(n, m + 1)] for n, m in ((3, 20), (5, 1), (1, 9))]
    check_recipe(rows, cases, steps("strip_distribute L1 8"), tmp_path)


def test_what_is_stored_in_two_places_stays_together(tmp_path):
    cases = [[random(n), random(n)] for n in SIZES]
    check_recipe(stored_twice, cases, steps("strip_distribute L0 8"), tmp_path)


def test_the_loops_have_names():
    bench = bench_of(both, [random(9), random(9), random(9)])
    bench.apply("strip_distribute", ("L0", 8))
    assert set(bench.names) == {"L0.tile", "L0.first", "L0", "L0.last"}
    bench = bench_of(grown, [random(9), random(9)])
    bench.apply("strip_distribute", ("L0", 8))
    assert set(bench.names) == {"L0.tile", "L0.first", "L0"}


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (waiting, "no costly function"),
        (one_after_the_other, "hand on nothing"),
        (cheap, "no costly function"),
        (branching, "straight-line"),
    ],
)
def test_what_gains_nothing_is_refused(kernel, reason):
    bench = bench_of(kernel, [random(9), random(9)])
    with pytest.raises(IllegalStepError, match=reason):
        bench.apply("strip_distribute", ("L0", 8))
