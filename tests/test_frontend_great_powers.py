"""Sizes that are great powers of an argument."""

from __future__ import annotations

import numpy as np

from loopbook.frontend import lower


def spread(r, x):
    return np.reshape(x, (r, r**6)) * 2.0


def test_a_power_is_computed_before_the_loops():
    args = [2, np.arange(128.0)]
    lowered = lower(spread, args)
    assert lowered is not None
    assert "r * r" not in lowered.kernel_source
    np.testing.assert_array_equal(lowered.plain(*args), spread(*args))
