"""Arrays that hold counts of loops, which docc likes to count again where they are read."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook

pytestmark = pytest.mark.usefixtures("no_book")


def open_grid(n):
    y, x = np.ogrid[:n, :n]
    return x * y % 3


def spaced(n):
    x, y = np.linspace(0, 1, n)[None, :], np.linspace(2, 5, n)[:, None]
    return x * y


def powers(n):
    k = np.arange(n)
    rows, columns = k.reshape(n, 1) + 1, k[None] * 0.5
    return rows**2 * columns


def apart(n):
    rows, columns = np.indices((n, n))
    return np.abs(rows - columns)


def apart_from_the_row_before(n):
    rows, columns = np.indices((n, n))
    far = np.abs(rows - columns)
    return np.abs(far[1:] * rows[:-1] - far[:-1] * 2)


@pytest.mark.parametrize("func", [open_grid, spaced, powers])
def test_two_arrays_of_counts_are_read_at_places_of_their_own(func):
    compiled = loopbook.native(func, strict=True)
    for n in (5, 8):
        np.testing.assert_allclose(compiled(n), func(n), rtol=1e-12, strict=True)


@pytest.mark.parametrize("func", [apart, apart_from_the_row_before])
def test_counts_of_loops_that_become_one_are_values(func):
    compiled = loopbook.native(func, strict=True)
    for n in (5, 8):
        np.testing.assert_array_equal(compiled(n), func(n), strict=True)


def hashed(seed, n):
    z = np.arange(1, 2 * n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
    z = (z ^ (z >> 30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> 27)) * np.uint64(0x94D049BB133111EB)
    z ^= z >> 31
    u = (z >> 11) * (1.0 / (1 << 53))
    return u[:n] + u[n:]


@pytest.mark.parametrize("seed", [0, 42])
def test_what_is_hashed_of_counts_may_be_less_than_any_count(seed):
    compiled = loopbook.native(hashed, strict=True)
    for n in (5, 40):
        np.testing.assert_allclose(compiled(seed, n), hashed(seed, n), rtol=1e-12)


def agreement(i, k):
    n = max(i.max(), k.max()) + 1
    both = np.bincount(i * n + k, minlength=n * n).reshape(n, n)
    hits = np.diag(both)
    a, b = hits / np.maximum(both.sum(0), 1), hits / np.maximum(both.sum(1), 1)
    return both, np.divide(2 * a * b, a + b, out=np.zeros(n), where=a + b > 0)


def test_counts_of_pairs_up_to_what_the_loops_find():
    i = np.random.default_rng(0).integers(0, 5, 50)
    found = loopbook.native(agreement, strict=True)(i, i[::-1].copy())
    for got, expected in zip(found, agreement(i, i[::-1].copy()), strict=True):
        np.testing.assert_allclose(got, expected)
