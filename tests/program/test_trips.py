"""How often loops run, counted from the SDFG and by running them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopbook.program.nest import Nest
from loopbook.program.trips import iterations, trip_counts
from loopbook.sdfg import frontend, program


def sweep(A, steps):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1] - 1):
            for _t in range(steps):
                A[i, j] = A[i - 1, j + 1] + A[i, j - 1] * A[i, j]


def triangle(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] = A[i, j] * 2.0


def two_bodies(A, b):
    for i in range(1, A.shape[0]):
        for j in range(1, A.shape[1]):
            A[i, j] = A[i - 1, j] * b[i - 1]
        for k in range(5):
            b[i] = b[i] + A[i, k]


def strided(A):
    for i in range(0, A.shape[0], 3):
        A[i, 0] = 1.0


def downwards(A):
    for i in range(A.shape[0] - 2, 0, -2):
        A[i, 0] = A[i + 1, 0] + A[i, 0]


def nest(kernel: Any, *args: Any) -> Nest:
    (found,) = program.prepare_nests(frontend.trace(kernel, args))[1]
    return found


def counted(kernel: Any, *args: Any) -> tuple[Nest, dict[str, int]]:
    found = nest(kernel, *args)
    return found, trip_counts(found, frontend.size_symbols(kernel, args))


def test_rectangular_loops_are_counted_exactly():
    found, trips = counted(sweep, np.ones((20, 30)), 7)
    assert trips == {"L0": 19, "L1": 28, "L2": 7}
    assert iterations(found, trips) == 19 * 28 * 7


def test_the_inner_loop_of_a_triangle_counts_as_in_its_middle():
    assert counted(triangle, np.ones((40, 41)))[1] == {"L0": 40, "L1": 20}


def test_all_innermost_loops_count():
    found, trips = counted(two_bodies, np.ones((10, 12)), np.ones(10))
    assert trips == {"L0": 9, "L1": 11, "L2": 5}
    assert iterations(found, trips) == 9 * 11 + 9 * 5


@pytest.mark.parametrize("n", [2, 3, 4, 29, 30, 31, 32])
@pytest.mark.parametrize("kernel", [strided, downwards])
def test_steps_are_counted(kernel, n):
    bounds = {strided: range(0, n, 3), downwards: range(n - 2, 0, -2)}
    assert counted(kernel, np.ones((n, 1)))[1] == {"L0": len(bounds[kernel])}


def test_what_depends_on_unknown_sizes_is_left_out():
    found = nest(sweep, np.ones((20, 30)), 7)
    assert trip_counts(found, {}) == {}
    assert iterations(found, {}) is None
    known = trip_counts(found, {"steps": 7, "_s0": 20})
    assert known == {"L0": 19, "L2": 7}
    assert iterations(found, known) is None


SWEEP = nest(sweep, np.ones((20, 30)), 7)


@given(st.integers(0, 99), st.integers(1, 99), st.integers(0, 99))
def test_counts_are_what_running_the_loops_gives(steps, rows, columns):
    trips = trip_counts(SWEEP, {"steps": steps, "_s0": rows, "_s1": columns})
    expected = [len(range(1, rows)), len(range(1, columns - 1)), len(range(steps))]
    assert list(trips.values()) == expected


@pytest.mark.parametrize("scalar", [3, np.int64(3)])
def test_symbols_are_the_distinct_sizes_and_the_integers(scalar):
    args = (np.ones((4, 5)), scalar)
    assert frontend.size_symbols(sweep, args) == {"_s0": 4, "_s1": 5, "steps": 3}
    assert frontend.size_symbols(two_bodies, (np.ones((4, 4)), np.ones(9))) == {"_s0": 4, "_s1": 9}


@pytest.mark.parametrize(
    "condition",
    ["", "(i <", "i", "i < idiv(_s0, 0)", f"i < {10**400}*_s0", "i < f(_s0)", "Or(i < 3, i < 4)"],
)
def test_conditions_that_tell_nothing_are_left_out(condition):
    loops = tuple(
        dataclasses.replace(loop, indvar="i", condition=condition) for loop in SWEEP.loops
    )
    strange = dataclasses.replace(SWEEP, loops=loops)
    assert trip_counts(strange, {"_s0": 3}) == {}
    started = dataclasses.replace(SWEEP.loops[0], init=f"{10**400}")
    assert trip_counts(dataclasses.replace(SWEEP, loops=(started,)), {"_s0": 3}) == {}
