"""Short loops that reduce into a number, written out in longer ones."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.frontend import lower

from .kit import agree, as_docc, check, copied, data, flat


def grey(rgb, w):
    return rgb @ w


def pooled(x):
    return x.reshape(x.shape[0] // 2, 2, x.shape[1] // 2, 2).max(axis=(1, 3))


def lengths(p):
    return np.sqrt((p * p).sum(axis=1)) + p.min(axis=1) - p.prod(axis=1)


def nearest(p, q, d, place):
    for i in range(p.shape[0]):
        best = np.inf
        for j in range(q.shape[0]):
            s = 0.0
            for k in range(p.shape[1]):
                s += (p[i, k] - q[j, k]) ** 2
            if s < best:
                best = s
                place[i] = j
        d[i] = best


def two_of_them(x, w, y):
    for i in range(y.shape[0]):
        low = x[0, i]
        s = 0.0
        for k in range(3):
            t = x[k, i] * w[i, k]
            s = t - s
            low = min(low, t)
        y[i] = s + low


def stored(x, w, y):
    for i in range(x.shape[1]):
        for k in range(3):
            y[i, k] = x[k, i] * w[i, k]


def whole(x, w, y):
    for i in range(w.shape[0]):
        count = 0
        last = 0
        for k in range(1, 4):
            last = k * x[i]
            count = count + last * w[i, k - 1]
        y[i] = count - last


def around(x, w, y):
    for i in range(1, y.shape[0] - 1):
        for j in range(1, y.shape[1] - 1):
            s = 0.0
            for p in range(-1, 2):
                for q in range(-1, 1):
                    s += w[p + 1, 1 - q] * x[i + p, j - q] / (2 + p**2 - q)
            y[i, j] = s


def weighted(x, w, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            for c in range(x.shape[0]):
                for p in range(3):
                    for q in range(3):
                        y[i, j] -= x[c, i + p, j + q] * w[c, p, q]


def great(x, y):
    for i in range(y.shape[0]):
        for p in range(7):
            for q in range(7):
                y[i] += x[i + p, q]


def greater(x, y):
    for i in range(y.shape[0]):
        for p in range(8):
            for q in range(8):
                y[i] += x[i + p, q]


def moved(x, y):
    for i in range(3, y.shape[0] - 3):
        for p in range(3):
            y[i + p] += x[i]


def of_itself(x, y):
    for i in range(3, y.shape[0] - 3):
        for p in range(3):
            y[i] += y[i + p - 1] * x[i]


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (grey, (data(7, 9, 3), data(3))),
        (pooled, (data(8, 10),)),
        (lengths, (data(11, 4),)),
        (nearest, (data(7, 3), data(6, 3), data(7), np.zeros(7, np.int64))),
        (two_of_them, (data(3, 9), data(9, 3), data(9))),
        (around, (data(7, 9), data(3, 3), data(7, 9))),
        (whole, (np.arange(5), np.arange(15).reshape(5, 3), np.zeros(5, np.int64))),
    ],
)
def test_what_reduces_is_written_out(kernel, given):
    lowered = check(kernel, *given)
    text = lowered.kernel_source
    assert not any(f"in range({ends}):" in text for ends in ("2", "3", "4", "1, 4", "-1, 2"))
    native = as_docc(kernel)
    expected, got = copied(given), copied(given)
    agree(flat(kernel(*expected)), flat(native(*got)))
    agree(expected, got)


@pytest.mark.parametrize(
    ("kernel", "given", "left"),
    [
        (weighted, (data(5, 9, 11), data(5, 3, 3), data(7, 9)), 3),
        (great, (data(12, 7), data(6)), 1),
        (greater, (data(13, 8), data(6)), 2),
        (moved, (data(9), data(9)), 2),
        (of_itself, (data(9), data(9)), 2),
    ],
)
def test_sums_in_one_element_are_written_out_while_they_are_short(kernel, given, left):
    lowered = lower(kernel, given, loops_too=True)
    assert lowered is not None
    assert lowered.kernel_source.count("for ") == left
    expected, got = copied(given), copied(given)
    kernel(*expected)
    as_docc(kernel)(*got)
    agree(expected, got)


def test_sums_stay_sums():
    text = check(grey, data(7, 9, 3), data(3)).kernel_source
    (line,) = [line for line in text.splitlines() if "+" in line]
    assert line.count("sum_0") == 2


def test_what_stores_elements_stays_a_loop():
    lowered = lower(stored, (data(3, 9), data(9, 3), data(9, 3)), loops_too=True)
    assert lowered is not None
    assert "in range(3):" in lowered.kernel_source


def test_loops_that_are_in_no_longer_one_stay():
    def total(x):
        return x.sum()

    assert "in range(3):" in check(total, data(3)).kernel_source


def test_long_ones_stay():
    assert "for k0" in check(lengths, data(11, 5)).kernel_source


def gone_through(x, w):
    return x.sum(), (x > 0.2).sum(), (x * w).max(), (x + w[0, 0]).min()


def known_ones(x, w):
    return x[:, :2].sum(), np.nanmax(x)


@pytest.mark.parametrize(
    ("func", "shape", "loops"),
    [
        (gone_through, (9, 3), 1),
        (gone_through, (5, 6, 4), 1),
        (known_ones, (9, 3), 2),
        (known_ones, (9, 4), 2),
    ],
)
def test_whole_rows_that_follow_each_other_stay_loops(func, shape, loops):
    lowered = check(func, data(*shape), data(*shape, seed=1))
    assert lowered.kernel_source.count(f"in range({shape[-1]}):") == loops


def test_long_rows_stay_apart_as_they_did():
    assert "for k1" in check(gone_through, data(9, 30), data(9, 30)).kernel_source
