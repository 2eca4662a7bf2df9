"""Sums that threads share."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from client_kit import product
from sdfg_kit import bench_of, both_ways, nests_of, random

import loopbook
from loopbook.rules import TuningContext, seed_population
from loopbook.rules.shared_sums import fitted_shared_sums, shared_sums

THREADS = TuningContext("openmp", 4, threads=2, trips={"L0": 400, "L1": 10})
ONE = TuningContext("sequential", 4, trips={"L0": 400, "L1": 10})


def running(A, s):
    for i in range(1, A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = A[i - 1, j] + s[j]


def arguments(rows: int, columns: int) -> list[np.ndarray]:
    return [random(rows, columns), *map(random, (rows, columns, columns, rows))]


def test_portions_have_sums_of_their_own():
    (nest,) = nests_of(both_ways, arguments(9, 10))
    texts = [step.text() for step in shared_sums(nest, Random(0), THREADS)]
    assert texts == ["tile L0 100", "expand_reduction L0.tile", "parallel L0.tile", "single"]
    seeds = seed_population(nest, THREADS)
    assert any(step.op == "expand_reduction" for steps in seeds for step in steps)
    bench = bench_of(both_ways, arguments(9, 10))
    for step in shared_sums(nest, Random(0), THREADS):
        bench.apply(step.op, step.args)


def test_one_thread_is_left_alone():
    (nest,) = nests_of(both_ways, arguments(9, 10))
    assert not shared_sums(nest, Random(0), ONE)
    assert not fitted_shared_sums(nest, ONE)


@pytest.mark.parametrize(
    ("kernel", "args"),
    [(running, [random(9, 7), random(7)]), (product, [random(4, 5), random(5, 6), random(4, 6)])],
)
def test_what_adds_nothing_up_or_is_parallel_is_left(kernel, args):
    for nest in nests_of(kernel, args):
        assert not shared_sums(nest, Random(0), THREADS)


def test_a_call_gives_the_sums(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    native = loopbook.native(both_ways, target="openmp")
    args = arguments(300, 120)
    expected = [array.copy() for array in args]
    both_ways(*expected)
    for _ in range(3):
        mine = [array.copy() for array in args]
        native(*mine)
        for one, other in zip(mine, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
