"""Sizes that are great powers of an argument."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function


def spread(r, x):
    return np.reshape(x, (r, r**6)) * 2.0


def test_a_power_is_computed_before_the_loops():
    args = [2, np.arange(128.0)]
    lowered = lower(spread, args)
    assert lowered is not None
    assert "r * r" not in lowered.kernel_source
    np.testing.assert_array_equal(lowered.plain(*args), spread(*args))


def test_products_of_sizes_are_floats_before_they_are_too_large():
    """docc computes them in words of 32 bits where they become floats."""
    body = "n = len(x)\nreturn x.sum() / (n * (n**2 - 1)), np.sqrt(n * n * n), s + n * n"
    lowered = check(function(body, "x, s"), data(7), 0.5)
    assert "x.shape[0] * x.shape[0]" not in lowered.kernel_source


def test_powers_of_whole_numbers_with_exponents_that_only_the_loops_know():
    body = """s = 0
for j in range(k):
    s += (-1) ** j * 3 ** p[j]
return 4 ** np.arange(k), 10 ** np.arange(k), (-3) ** p, (-1) ** p, p ** p, q ** q, s"""
    exponents = np.arange(6) % 5
    powers = function(body, "p, q, k")
    lowered = check(powers, exponents, exponents.astype(np.int32), 6)
    check(powers, exponents * 8, exponents.astype(np.int32), 5)  # some leave the words
    with pytest.raises(LoweringError):  # NumPy raises
        lowered.plain(exponents - 1, exponents.astype(np.int32), 6)
