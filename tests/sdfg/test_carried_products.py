"""Products of what the iteration before has left are added to in one instruction, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook import native


def smoothed(x, y, a):
    y[0] = x[0]
    for i in range(1, x.shape[0]):
        y[i] = a * x[i] + (1 - a) * y[i - 1]


def filtered(x, y, a):
    s = 0.0
    for i in range(x.shape[0]):
        s = a * s + 0.25 * x[i]
        y[i] = s


def twice(x, y, a):
    """The product is needed itself."""
    s = 0.0
    for i in range(x.shape[0]):
        t = a * s
        s = t + 0.25 * x[i]
        y[i] = t + s


def replaced(x, y, a):
    """What is multiplied is another one by the time of the sum."""
    s = 1.0
    for i in range(x.shape[0]):
        t = a * s
        s = x[i]
        y[i] = t + 0.25 * x[i] * s


def both(x, y, a):
    s = 1.0
    t = 1.0
    for i in range(x.shape[0]):
        s = a * s + 0.25 * t
        t = x[i]
        y[i] = s * t


def levels(x, y, a):
    """Tests for equality see each rounding."""
    s = 0.0
    for i in range(x.shape[0]):
        s = a * s + 0.25 * x[i]
        y[i] = 1.0 if s == 0.25 else s


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("function", "count"),
    [(smoothed, 1), (filtered, 1), (twice, 0), (replaced, 0), (both, 0), (levels, 0)],
)
def test_sums_wait_for_one_instruction(function, count, dtype, tmp_path):
    compiled = native(function, strict=True)
    numbers = np.random.default_rng(5)
    for n in (2, 3, 40, 1001):
        x, wanted = numbers.random(n).astype(dtype), np.zeros(n, dtype)
        got = wanted.copy()
        function(x, wanted, 0.5)
        if n == 40:
            compiled.compile(x, got, 0.5, output_folder=tmp_path)
        compiled(x, got, 0.5)
        rtol = 1e-12 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(got, wanted, rtol=rtol)
    (source,) = tmp_path.rglob("*.cpp")
    assert source.read_text().count("= fma") == count
