"""Arrays that hold counts of loops, which docc likes to count again where they are read."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook


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


@pytest.fixture(autouse=True)
def no_book(monkeypatch, tmp_path):
    monkeypatch.setenv("LOOPBOOK_BOOK", str(tmp_path / "none.db"))
    monkeypatch.setenv("LOOPBOOK_STARTER", "")


@pytest.mark.parametrize("func", [open_grid, spaced, powers])
def test_two_arrays_of_counts_are_read_at_places_of_their_own(func):
    compiled = loopbook.native(func, strict=True)
    for n in (5, 8):
        np.testing.assert_allclose(compiled(n), func(n), rtol=1e-12, strict=True)
