"""Loops are compared with the function before they are compiled."""

from __future__ import annotations

import dataclasses
import importlib
import math
import time

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import check, lower
from loopbook.frontend.check import FEW, SIZES, small
from loopbook.frontend.rounding import is_chaotic, is_rounding
from loopbook.frontend.unset import hangs_on_unset

from .kit import data


def smoothed(A, x, steps):
    for _ in range(steps):
        A[1:-1] = (A[:-2] + A[2:]) * 0.5
        x[1:] += x[:-1]
    return A @ x


ARGS = [data(100, 60), data(60), 500]


@pytest.fixture(autouse=True)
def patient(monkeypatch) -> None:
    """However slow the machine is, functions are compared at all sizes."""
    module = importlib.import_module("loopbook.frontend.check")
    monkeypatch.setattr(module, "SECONDS", 60.0)
    monkeypatch.setattr(module, "ENOUGH", math.inf)


def test_right_loops_pass_at_three_sizes():
    lowered = lower(smoothed, ARGS)
    assert lowered is not None
    assert check(smoothed, lowered, ARGS) == 3


def test_loops_that_take_long_are_compared_at_fewer_sizes(monkeypatch):
    monkeypatch.setattr(importlib.import_module("loopbook.frontend.check"), "SECONDS", 0.01)
    seen = []

    def slow(A, x, steps):
        seen.append(A.shape)
        if len(A) > 2:
            time.sleep(0.5)
        return smoothed(A, x, steps)

    lowered = lower(smoothed, ARGS)
    assert lowered is not None
    assert check(slow, lowered, ARGS) == 1
    assert seen == [(3, 2), (2, 2)]


def test_few_sizes_are_the_same_for_many():
    made = small([data(3, 5), data(4, 10)], FEW[0], 0, distinct=False)
    assert [one.shape for one in made] == [(2, 3), (2, 3)]


def test_no_size_is_larger_than_it_was():
    made = small([data(2, 3), data(4)], SIZES[2], 0)
    assert [one.shape for one in made] == [(2, 3), (4,)]


def test_small_sizes_keep_what_sizes_have_to_do_with_each_other():
    halo, inner, twice = small([data(102, 100), data(100), data(200)], SIZES[0], 0)
    assert [halo.shape, inner.shape, twice.shape] == [(4, 2), (2,), (5,)]
    inner, twice = small([data(100), data(200)], SIZES[2], 0)
    assert [inner.shape, twice.shape] == [(4,), (8,)]


def distances(A, B):
    squares = (A * A).sum(axis=1)[:, None] + (B * B).sum(axis=1) - 2.0 * (A @ B.T)
    return np.sqrt(np.maximum(squares, 0.0))


def test_roots_of_rounding_are_no_difference():
    A = data(6, 5)
    lowered = lower(distances, [A, A])
    assert lowered is not None
    assert check(distances, lowered, [A, A]) == 3


def residue(x):
    return (x - x.mean()).sum(), x


def test_rounding_that_is_all_that_is_left_is_no_difference():
    x = data(9)
    own = [residue(x)[0], x, x]
    assert is_rounding(residue, [x], own, [own[0] + 1e-15, x, x])
    assert not is_rounding(residue, [x], own, [own[0] + 1e-9, x, x])
    assert not is_rounding(residue, [x], own, [own[0], x + 1e-9, x])
    assert not is_rounding(residue, [x], own, [own[0], x])
    assert not is_rounding(residue, [x], own, [np.nan, x, x])
    assert not is_rounding(lambda x: 1 // 0, [x], own, own)


def test_numbers_of_both_signs_are_tried():
    assert [small(ARGS, SIZES[0], number)[0].min() < 0 for number in range(3)] == [0, 1, 0]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("* 0.5", "* 0.5000001"), ("range(1, A.shape[0] - 1)", "range(1, A.shape[0] - 2)")],
)
def test_wrong_loops_are_found(right, wrong):
    lowered = lower(smoothed, ARGS)
    assert lowered is not None
    assert right in lowered.kernel_source
    damaged = dataclasses.replace(
        lowered, kernel_source=lowered.kernel_source.replace(right, wrong)
    )
    with pytest.raises(LoweringError, match="gives other numbers") as caught:
        check(smoothed, damaged, ARGS)
    assert "\n" not in str(caught.value)


def test_made_up_arguments_keep_what_is_equal_and_what_is_larger():
    A, x, y, steps = small([data(100, 60), data(60), data(1, 100), 500], (3, 4), 0)
    assert (A.shape, x.shape, y.shape, steps) == ((4, 3), (3,), (1, 4), 6)
    (indices,) = small([np.arange(1000)], (3,), 0)
    assert indices.min() >= 0
    assert indices.max() <= 1


def between(x, places, values):
    return np.interp(x, places, values), np.searchsorted(places, x)


def test_what_grows_goes_on_growing():
    args = data(20), np.linspace(-1, 1, 9), data(9)
    lowered = lower(between, args)
    assert lowered is not None
    assert check(between, lowered, args) == 3
    assert not lowered.holds(args[0], args[2], args[1])


def descended(A, b):
    """Conjugate gradients, which only converge for some matrices."""
    x = np.zeros_like(b)
    r = b - A @ x
    p = r.copy()
    rest = r @ r
    k = 0
    while k < 50 and np.sqrt(rest) > 1e-6:
        Ap = A @ p
        alpha = rest / (p @ Ap)
        x += alpha * p
        r -= alpha * Ap
        more = r @ r
        p = r + (more / rest) * p
        rest = more
        k += 1
    return x, k


def fitted(x, y):
    A = np.vstack([x**2, x, np.ones_like(x)]).T
    return np.linalg.solve(A.T @ A + 1e-9 * np.eye(3), A.T @ y)


def test_what_the_last_places_decide_is_no_difference():
    A = data(9, 9)
    args = (A @ A.T + 9 * np.eye(9), data(9))
    with np.errstate(all="ignore"):
        made = small(args, SIZES[1], 1)
        assert is_chaotic(descended, made, [*descended(*made), *made])
        assert not is_chaotic(descended, args, [*descended(*args), *args])
    lowered = lower(descended, args)
    assert lowered is not None
    check(descended, lowered, args)


def test_functions_of_two_types_alone_have_rounding_too():
    args = (data(9), data(9, seed=1))
    lowered = lower(fitted, args)
    assert lowered is not None
    assert check(fitted, lowered, args) == 3


def rows_of(ends, x):
    rows = np.empty(len(x), np.int64)
    for i in range(len(ends) - 1):
        for p in range(ends[i], ends[i + 1]):
            rows[p] = i
    return rows


def scaled(ends, x):
    return np.empty_like(x) * 0 + x


def test_elements_that_nobody_sets_are_no_difference():
    """Ends that are made up leave some of them; of the call's own, none is left."""
    args = (np.array([0, 4, 4, 9]), data(9))
    lowered = lower(rows_of, args)
    assert lowered is not None
    made = small(args, SIZES[1], 1)
    assert hangs_on_unset(rows_of, made, 1.0)
    assert not hangs_on_unset(rows_of, args, 1.0)
    assert not hangs_on_unset(scaled, args, 1.0)
    check(rows_of, lowered, args)


def test_wrong_loops_are_found_where_all_elements_are_set():
    args = (np.array([0, 4, 4, 9]), data(9))
    lowered = lower(scaled, args)
    assert lowered is not None
    wrong = dataclasses.replace(
        lowered, kernel_source=lowered.kernel_source.replace("x[i0]", "(2 * x[i0])")
    )
    assert wrong.kernel_source != lowered.kernel_source
    with pytest.raises(LoweringError, match="other numbers"):
        check(scaled, wrong, args)
