"""Divisions of whole numbers from data by powers of two."""

from __future__ import annotations

import numpy as np
import pytest

from .kit import check, function

FALLING = """\
for i in range(len(x)):
    n = x[i]
    steps = 0
    while n > 1 or n < -1:
        n = n // 2 if n % 2 == 0 else n // 4 - 1
        steps += 1
    out[i] = 100 * steps + n
"""

SPREAD = """\
n = 0
for i in range(len(x)):
    n = n + x[i]
    out[n % 8] += n // 16
"""


@pytest.mark.parametrize("dtype", [np.int64, np.int16])
@pytest.mark.parametrize("body", [FALLING, SPREAD])
def test_they_are_shifts_and_bits(body, dtype):
    kernel = function(f"out = np.zeros(9, np.int64)\n{body}return out", "x")
    source = check(kernel, np.array([40, -7, 0, -64, 33, 1, -1], dtype)).kernel_source
    assert "//" not in source
    assert "%" not in source
    assert "< 0" not in source  # nor is one of them an index from the end


SMALL = np.array([1e-200, 5e-324, -5e-324, -1e-200, 1e-170, 0.0])
BY = np.array([-1e-150, -0.3, 0.3, 1e-160, -1e-170, -2.0])


@pytest.mark.parametrize("by", ["y", "0.3", "-0.3"])
@pytest.mark.parametrize("op", ["%", "//"])
def test_a_rest_whose_product_with_the_divisor_is_0_has_a_sign(op, by):
    kernel = function(f"return x {op} {by}", "x, y")
    check(kernel, SMALL, BY)
