"""Sums and recurrences, some beside each other, where each alone is no vector."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import check_recipe, nests_of, random

from loopbook.rules.strips import BESIDE, FEWEST, only_gather, sums_beside


def filtered(x, h, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(h.shape[0]):
            s += h[k] * x[i + h.shape[0] - 1 - k]
        y[i] = s


def moving(x, h, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(h.shape[0]):
            s += x[i + k]
        y[i] = s


def convolved(A, K, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            s = 0.0
            for p in range(K.shape[0]):
                for q in range(K.shape[1]):
                    s += A[i + p, j + q] * K[p, q]
            B[i, j] = s


def down(A, h, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            s = 0.0
            for k in range(h.shape[0]):
                s += h[k] * A[i + k, j]
            B[i, j] = s


def in_memory(A, h, B):
    for i in range(B.shape[0]):
        for j in range(B.shape[1]):
            for k in range(h.shape[0]):
                B[i, j] = B[i, j] + h[k] * A[i, j + k]


def of_columns(A, x, y):
    for j in range(y.shape[0]):
        s = 0.0
        for k in range(x.shape[0]):
            s += x[k] * A[k, j]
        y[j] = s


def rows(A, x, y):
    for i in range(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        y[i] = s


def copied(x, h, y):
    for i in range(y.shape[0]):
        y[i] = x[i] * 2.0


def polynomials(x, c, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(c.shape[0]):
            s = s * x[i] + c[k]
        y[i] = s


def channels(x, w, y):
    for i in range(y.shape[0]):
        for o in range(y.shape[1]):
            s = 0.0
            for k in range(w.shape[0]):
                for c in range(x.shape[1]):
                    s += x[i + k, c] * w[k, c, o]
            y[i, o] = max(s, 0.0)


def again(A, x, y):
    for _ in range(3):
        for i in range(A.shape[0]):
            x[i] = x[i] + 1.0
        for j in range(y.shape[0]):
            s = 1.0
            for k in range(x.shape[0]):
                s = s * 0.5 + x[k] * A[k, j]
            y[j] = s


def most_likely(A, b, y, at):
    for j in range(y.shape[0]):
        best = A[0, j]
        arg = 0
        for i in range(1, A.shape[0]):
            if A[i, j] > best:
                best = A[i, j]
                arg = i
        y[j] = best + b[j, 1]
        at[j] = arg


def chosen_rows(at, W, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            s = 0.0
            for k in range(at.shape[1]):
                s += W[at[i, k], j]
            y[i, j] = s


BESIDE_EACH_OTHER = {
    filtered: ("L0", (random(70), random(7), random(64))),
    moving: ("L0", (random(60), random(5), random(50))),
    convolved: ("L1", (random(9, 40), random(3, 4), random(7, 37))),
    down: ("L1", (random(9, 40), random(3), random(7, 40))),
    in_memory: ("L1", (random(7, 42), random(3), random(7, 40))),
    of_columns: ("L0", (random(6, 40), random(6), random(40))),
    polynomials: ("L0", (random(40), random(5), random(40))),
    channels: ("L1", (random(8, 3), random(2, 3, 20), random(7, 20))),
    again: ("L2", (random(6, 40), random(6), random(40))),
    chosen_rows: ("L1", (np.arange(12).reshape(3, 4) % 7, random(7, 40), random(3, 40))),
    most_likely: ("L0", (random(6, 40), random(40, 3), random(40), np.zeros(40, int))),
}


@pytest.mark.parametrize("kernel", BESIDE_EACH_OTHER)
def test_sums_are_computed_side_by_side(kernel, tmp_path):
    loop, given = BESIDE_EACH_OTHER[kernel]
    (nest,) = nests_of(kernel, given)
    recipe = [(one.op, one.args) for one in sums_beside(nest, {})]
    assert recipe == [("strip_and_sink", (loop, BESIDE))]
    check_recipe(kernel, [given], recipe, tmp_path)


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (rows, (random(6, 7), random(7), random(6))),
        (copied, (random(9), random(2), random(8))),
    ],
)
def test_what_is_a_vector_by_itself_is_left(kernel, given):
    (nest,) = nests_of(kernel, given)
    assert sums_beside(nest, {}) == []


def until(W, at, y):
    for _j in range(y.shape[0]):
        i = 0
        while y[i] < 0.9:
            s = 0.0
            for k in range(at.shape[0]):
                s = s * 0.5 + W[at[k], i]
            y[i] = s
            i += 1


def test_rows_of_a_loop_that_counts_nothing_are_left():
    for nest in nests_of(until, (random(7, 40), np.arange(7), random(40))):
        assert sums_beside(nest, {}) == []


def test_few_sums_are_left_as_they_are():
    (nest,) = nests_of(polynomials, (random(40), random(5), random(40)))
    (fewer,) = sums_beside(nest, {"L0": BESIDE - 1})
    assert fewer.args == ("L0", FEWEST)
    assert sums_beside(nest, {"L0": FEWEST})
    assert not sums_beside(nest, {"L0": FEWEST - 1})


def patterns(x, h, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            k = 0
            if x[i, j] > x[i + 1, j]:
                k = k | 1
            if x[i, j + 1] > x[i + 1, j]:
                k = k | 2
            y[i, j] = k


def faded(x, h, y):
    for i in range(y.shape[0]):
        s = 0.0
        for j in range(y.shape[1]):
            if x[i, j] > x[i + 1, j]:
                s = s * 0.5 + x[i, j]
            y[i, j] = s


def test_rows_that_choose_by_themselves_are_vectors():
    given = random(7, 41), random(40), random(6, 40)
    (nest,) = nests_of(patterns, (*given[:2], given[2].astype(int)))
    assert only_gather(nest, "L0", {})
    (nest,) = nests_of(faded, given)
    assert not only_gather(nest, "L0", {})


def greatest(x, h, y):
    for i in range(y.shape[0]):
        m = x[i, 0]
        for k in range(x.shape[1]):
            m = max(m, x[i, k])
        y[i] = m


def chosen(x, h, y):
    for i in range(y.shape[0]):
        m = x[i, 0]
        for k in range(x.shape[1]):
            if x[i, k] > m:
                m = x[i, k]
        y[i] = m


def shifted(x, h, y):
    for i in range(y.shape[0]):
        best = -1e300
        for k in range(x.shape[1]):
            h[i, k] = x[i, k] * 0.5 + 1.0
            best = max(best, x[i, k] * 0.5 + 1.0)
        y[i] = best


def running(x, h, y):
    for i in range(y.shape[0]):
        for k in range(1, x.shape[1]):
            x[i, k] = x[i, k] + 0.5 * x[i, k - 1]


def damped(x, h, y):
    for i in range(y.shape[0]):
        s = 0.0
        for k in range(x.shape[1]):
            s = 0.5 * s + x[i, k]
        y[i] = s


GIVEN = (random(6, 40), random(2), random(6))


@pytest.mark.parametrize("kernel", [greatest, chosen, rows, shifted])
def test_rows_that_are_compared_or_added_up_would_only_be_gathered(kernel):
    h = {rows: random(40), shifted: random(6, 40)}.get(kernel, GIVEN[1])
    given = GIVEN[0], h, GIVEN[2]
    (nest,) = nests_of(kernel, given)
    assert only_gather(nest, "L0", {})
    assert not only_gather(nest, "L0", {"L1": 8})


@pytest.mark.parametrize("kernel", [running, damped])
def test_recurrences_along_rows_are_worth_gathering(kernel):
    (nest,) = nests_of(kernel, GIVEN)
    assert not only_gather(nest, "L0", {})
