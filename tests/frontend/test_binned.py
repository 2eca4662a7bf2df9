"""Numbers in bins, and what is done between places."""

from __future__ import annotations

import numpy as np
import pytest

from .kit import check, data, function

BODIES = {
    "edges": "return np.histogram(x, [-1.0, -0.3, 0.5, 1.0])",
    "edges that are whole numbers": "return np.histogram(x.reshape(2, -1), np.arange(-1, 3))",
    "edges that are given": "c, e = np.histogram(x, bins=y[:3])\nreturn c / 2, e",
    "shares": "return np.histogram(x, y, density=True)",
    "sums between places": "return np.add.reduceat(x, k), np.add.reduceat((x * 9).astype(int), k)",
    "extremes": "return np.maximum.reduceat(x, k), np.minimum.reduceat(x, k)",
    "products": "return np.multiply.reduceat(x, [0, 1])",
    "along axes": "A = x[:6].reshape(3, 2)\nreturn np.add.reduceat(A, [0, 2, 1]), "
    "np.maximum.reduceat(A, [0, 1], axis=1), np.add.reduceat(A, [0, 1], axis=-1)",
    "quotient and remainder": "return np.divmod(x, 0.3), divmod(k, 2)",
}


@pytest.mark.parametrize("name", BODIES)
def test_bins(name):
    kernel = function(BODIES[name], "x, y, k")
    edges = np.sort(data(8))
    check(kernel, data(12), edges, np.array([0, 5, 5, 10, 3]))


RANGES = [
    "",
    ", density=True",
    ", range=(0.1, 0.9), density=True",
    ", range=(0.1, 0.9)",
    ", range=(0, 1)",
    ", range=(s, 0.9)",
    ", weights=x",
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("more", RANGES)
def test_edges_have_the_type_of_what_is_counted(more, dtype):
    kernel = function(f"return np.histogram(x, 5{more})", "x, s")
    check(kernel, (np.arange(30) % 11 * 0.1).astype(dtype), 0.2)
