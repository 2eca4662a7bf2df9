"""Updates of whole numbers that are wrapped around, as they are written for those of 32 bits."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import bench_of, check_recipe

from loopbook.errors import IllegalStepError


def greatest(x, y, m):
    for i in range(x.shape[0]):
        for j in range(m.shape[0]):
            m[j] = max(m[j], ((x[i] + y[j] + 2147483648) & 4294967295) - 2147483648)


def greatest_of_more(x, y, m):
    for i in range(x.shape[0]):
        for j in range(m.shape[0]):
            m[j] = max(m[j], ((x[i] + y[j] + 1099511627776) & 2199023255551) - 1099511627776)


def masked_only(x, y, m):
    for i in range(x.shape[0]):
        for j in range(m.shape[0]):
            m[j] = max(m[j], (x[i] + y[j] + 2147483648) & 4294967295)


def summed(x, y, m):
    for i in range(x.shape[0]):
        for j in range(m.shape[0]):
            m[j] = ((m[j] + x[i] * y[j] + 2147483648) & 4294967295) - 2147483648


def summed_in_bits(x, y, m):
    for i in range(x.shape[0]):
        for j in range(m.shape[0]):
            m[j] = (m[j] + x[i] * y[j]) & 65535


def given(dtype, scale: int = 1):
    numbers = np.random.default_rng(3)
    x, y = (numbers.integers(-(2**31), 2**31, n) // scale for n in (7, 9))
    return [x, y, np.arange(-4, 5).astype(dtype)]


@pytest.mark.parametrize(
    ("kernel", "dtype"), [(greatest, np.int32), (greatest_of_more, np.int64), (summed, np.int32)]
)
def test_updates_by_what_is_wrapped_around_may_change_places(kernel, dtype, tmp_path):
    scale = 2**16 if kernel is summed else 1
    check_recipe(kernel, [given(dtype, scale)], [("reverse", ("L1",))], tmp_path)


@pytest.mark.parametrize(
    ("kernel", "dtype"),
    [(greatest_of_more, np.int32), (masked_only, np.int32), (summed_in_bits, np.int32)],
)
def test_what_is_cut_off_when_it_is_stored_waits_for_its_turn(kernel, dtype):
    with pytest.raises(IllegalStepError):
        bench_of(kernel, given(dtype)).apply("reverse", ("L1",))
