"""What the iteration before has left is added last, and in one instruction."""

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


def second_order(x, y, a):
    for i in range(2, x.shape[0]):
        y[i] = a * x[i] - 0.3 * y[i - 1] + 0.2 * y[i - 2]


def biquad(x, y, a):
    x1 = 0.0
    x2 = 0.0
    y1 = 0.0
    y2 = 0.0
    for i in range(x.shape[0]):
        v = a * x[i] + 0.2 * x1 - 0.1 * x2 - 0.3 * y1 - 0.2 * y2
        x2 = x1
        x1 = x[i]
        y2 = y1
        y1 = v
        y[i] = v


def transposed(x, y, a):
    z1 = 0.0
    z2 = 0.0
    for i in range(x.shape[0]):
        v = a * x[i] + z1
        z1 = 0.2 * x[i] - 0.3 * v + z2
        z2 = 0.1 * x[i] - 0.2 * v
        y[i] = v


def all_taken_off(x, y, a):
    s = 0.1
    t = 0.2
    for i in range(x.shape[0]):
        v = -(a * s) - 0.1 * t - 0.3 * x[i]
        t = s
        s = v
        y[i] = v


def stored_before(x, y, a):
    """Elements ahead are those from before the loop; one behind is read after it is stored anew."""
    for i in range(1, x.shape[0] - 1):
        y[i] = a * y[i + 1] + 0.2 * y[i] + 0.1 * x[i] + 0.3 * y[i - 1]


def stored_between(x, y, a):
    s = 0.0
    for i in range(1, x.shape[0]):
        t = a * y[i]
        y[i] = x[i] + s
        s = t + 0.1 * s + 0.2 * y[i - 1] + y[i]


def backwards(x, y, a):
    for i in range(x.shape[0] - 3, -1, -1):
        y[i] = a * x[i] - 0.3 * y[i + 1] + 0.2 * y[i + 2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("function", "count"),
    [
        (smoothed, 1),
        (filtered, 1),
        (twice, 0),
        (replaced, 0),
        (both, 1),
        (levels, 0),
        (second_order, 2),
        (biquad, 4),
        (transposed, 1),
        (all_taken_off, 1),
        (stored_before, 3),
        (stored_between, 0),
        (backwards, 2),
    ],
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
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol)
    (source,) = tmp_path.rglob("*.cpp")
    if dtype == np.float64:  # others may be computed in words twice as long
        assert source.read_text().count("= fma") >= count
        assert count or "= fma" not in source.read_text()
