"""Stores that docc loses where it takes one loop into another: what has stored before is none."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.sdfg.frontend import bind, trace


def stored_first_in_a_turned_loop(w, t, u, p):
    for _i in range(5, -1, -1):
        w[0] = p
    for j in range(w.shape[0]):
        t[j] = w[j] + w[w.shape[0] - 1] * w[0]
    for k in range(w.shape[0]):
        w[k] = t[k]
    for m in range(w.shape[0]):
        u[m] = w[w.shape[0] - 1] * m
    for q in range(1, w.shape[0]):
        w[q] = u[2]


def filled_and_set(x, y, out):
    out[0] = 0.0
    for i in range(1):
        out[i] = x[i] / y[i]


@pytest.mark.parametrize("tuned", [False, True])
def test_what_was_stored_before_stands_for_nothing_that_is_lost(tuned, tmp_path):
    """docc takes the third loop into the fourth, with its last store only; the first one, which
    docc lets count up, has stored into `w[0]` before."""
    args = [np.arange(2, 8), np.zeros(6, int), np.zeros(6, int), 3]
    expected = [value.copy() if isinstance(value, np.ndarray) else value for value in args]
    stored_first_in_a_turned_loop(*expected)
    text = trace(stored_first_in_a_turned_loop, args)
    if tuned:
        built = build_tuned(text, "sequential", {}, tmp_path)
    else:
        built = build_baseline(text, "sequential", tmp_path)
    bind(stored_first_in_a_turned_loop, args, built.library)(*args)
    for one, other in zip(expected, args, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_loop_that_runs_once_may_store_where_another_one_did(tmp_path):
    """docc keeps neither loop: two stores into one element, of which none has moved."""
    args = [np.array([3.0]), np.array([2.0]), np.empty(1)]
    built = build_tuned(trace(filled_and_set, args), "sequential", {}, tmp_path)
    bind(filled_and_set, args, built.library)(*args)
    assert args[2] == [1.5]
