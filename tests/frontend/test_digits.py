"""Binary digits of Python's whole numbers."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, function


@pytest.mark.parametrize("n", [0, 1, 5, 8, -1, -9, 2**40, 2**62])
def test_digits_of_a_number(n):
    check(function("x[0] = n.bit_length()\nx[1] = n.bit_count()", "n, x"), n, np.zeros(2, int))


def test_digits_of_elements_and_sizes():
    body = """m = 1 << (len(x) - 1).bit_length()
y = np.zeros(m)
y[:len(x)] = x
for i in range(len(k)):
    y[i] += int(k[i]).bit_length() + int(k[i]).bit_count()
return y, (12).bit_length()"""
    check(function(body, "x, k"), np.arange(11.0), np.array([0, 1, -6, 255, 4]))


def test_others_have_none():
    with pytest.raises(LoweringError, match="whole number"):
        lower(function("x[:] = s.bit_length()", "x, s"), [np.zeros(3), 2.5])
