"""Sweeps in place get as many rows together as do best, whatever their neighbours had."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.client.opening import open_book
from loopbook.client.plan import make_plan
from loopbook.recipes.book import Book
from loopbook.sdfg import frontend

EIGHT_ROWS = "tile L0 8\npeel L0\ninterchange L0 L1\nunroll L0*\n"


def relaxed(u, f):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * u[i, j] + 0.2 * (
                u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j]
            )


def summed(x, s):
    for i in range(1, s.shape[0]):
        for j in range(1, s.shape[1]):
            s[i, j] = x[i - 1, j - 1] + s[i - 1, j] + s[i, j - 1] - s[i - 1, j - 1]


@pytest.mark.parametrize("starter", [True, False])
@pytest.mark.parametrize("kernel", [relaxed, summed])
def test_eight_rows_together(kernel, starter, tmp_path):
    Book.open(tmp_path / "own.db").close()
    layered = open_book(tmp_path / "own.db", starter=starter)
    arguments = [np.ones((400, 400)), np.ones((400, 400))]
    sizes = frontend.size_symbols(kernel, arguments)
    plan = make_plan(frontend.trace(kernel, arguments), "sequential", layered, sizes=sizes)
    assert plan.recipes[0].text() == EIGHT_ROWS
