"""Programs by hand in C that NPBench's are compared with: numbers as NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.npbench_suite import by_hand

MADE = np.random.default_rng(5)


def random(*shape: int) -> np.ndarray:
    return MADE.uniform(-1, 1, shape)


def lower(c: np.ndarray, a: np.ndarray) -> np.ndarray:
    made = 0.5 * c + 2.0 * a @ a.T
    return np.where(np.tri(len(c), dtype=bool), made, c)


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("n", [1, 7, 8, 21])
def test_products(n: int):
    a, b, x, c = random(n, 5), random(n, 5), random(5), random(n, n)
    gesummv = by_hand.function("gesummv", ("alpha", "beta", "A", "B", "x"))
    square = random(5, 5)
    found = gesummv([2.0, 0.5, square, square.T.copy(), x])
    np.testing.assert_allclose(found, 2.0 * square @ x + 0.5 * square.T @ x)
    np.testing.assert_allclose(by_hand.function("atax", ("A", "x"))([a, x]), a.T @ (a @ x))
    wanted = lower(c, b)
    by_hand.function("syrk", ("alpha", "beta", "C", "A"))([2.0, 0.5, c, b])
    np.testing.assert_allclose(c, wanted)


def test_products_for_many_vectors():
    a, c4 = random(3, 50, 6), random(6, 6)
    wanted = a @ c4
    by_hand.function("doitgen", ("NR", "NQ", "NP", "A", "C4"))([3, 50, 6, a, c4])
    np.testing.assert_allclose(a, wanted)


def test_rows():
    x = (20 * random(2, 3, 4, 33)).astype(np.float32)
    found = by_hand.function("softmax", ("x",))([x])
    np.testing.assert_allclose(found, softmax(x.astype(np.float64)), rtol=1e-5, atol=1e-12)


def test_recursion():
    r = random(40) / 40
    y = by_hand.function("durbin", ("r",))([r])
    # What it solves (Levinson, 1946): the matrix of the autocorrelations 1, r[0], r[1], …
    places = np.abs(np.subtract.outer(np.arange(40), np.arange(40)))
    matrix = np.concatenate([[1.0], r])[places]
    np.testing.assert_allclose(matrix @ y, -r, atol=1e-12)
