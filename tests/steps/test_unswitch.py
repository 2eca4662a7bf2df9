"""Loop unswitching: a branch that does not change, around its loop."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import bench_of, check_recipe, random, steps

from loopbook.errors import IllegalStepError


def switched(A, B, mode):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if mode > 0:
                B[i, j] = A[i, j] * 2.0
            else:
                B[i, j] = A[i, j] + B[i, j]


def changing(A, B, mode):
    for i in range(A.shape[0]):
        if mode > i:
            B[i] = A[i] * 2.0
        else:
            B[i] = A[i] + B[i]


@pytest.mark.parametrize("rest", ["", "\nunswitch L0\ninterchange L0 L1\nvectorize L0*"])
def test_both_ways_are_right(rest: str, tmp_path):
    cases = [[random(7, 5), random(7, 5), mode] for mode in (1, 0, -3)]
    check_recipe(switched, cases, steps("unswitch L1" + rest), tmp_path)


def test_the_loops_have_names():
    bench = bench_of(switched, [random(7, 5), random(7, 5), 1])
    bench.apply("unswitch", ("L1",))
    assert list(bench.names) == ["L0", "L1", "L1.part1"]
    bench.apply("unswitch", ("L0",))
    assert list(bench.names) == ["L0", "L1", "L0.part1", "L1.part1"]


def test_what_changes_in_the_loop_stays_in_it():
    bench = bench_of(changing, [random(9), random(9), 4])
    with pytest.raises(IllegalStepError, match="i changes in it"):
        bench.apply("unswitch", ("L0",))


def test_a_loop_without_a_branch_is_refused():
    def plain(A):
        for i in range(A.shape[0]):
            A[i] = A[i] + 1.0

    bench = bench_of(plain, [np.ones(4)])
    with pytest.raises(IllegalStepError, match="no branch"):
        bench.apply("unswitch", ("L0",))
