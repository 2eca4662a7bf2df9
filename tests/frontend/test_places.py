"""Places of extreme elements, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from .kit import check, data, function

ROWS = "return np.argmin(x, axis=1), x.argmax(axis=1), np.argmax(x), x[0].argmin()"


@pytest.mark.parametrize("size", [1, 2, 17, 255, 256, 257, 512, 513])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_what_is_in_no_other_block_is_in_the_last_one(size, dtype):
    x = np.round(data(6, size, dtype=dtype), 1)
    x[1], x[2, -1], x[3, 0] = 0, -99, -99
    x[4, size // 2 :] = -9
    check(function(ROWS, "x"), x)


@pytest.mark.parametrize("size", [1, 9, 300])
def test_the_first_that_is_no_number_is_meant(size):
    x = data(5, size)
    x[0, size // 2], x[1, -1], x[2, 0], x[3], x[4] = np.nan, np.nan, np.nan, np.nan, np.inf
    check(function(ROWS, "x"), x)
    check(function(ROWS, "x"), -x)


def test_what_is_only_in_a_later_row_is_found_there():
    x = np.zeros((4, 300))
    x[2, 299] = 1.0
    check(function("return np.argmax(x), np.argmin(-x), np.argmin(x)", "x"), x)


def test_short_rows_are_searched_once():
    """Nothing but the last block is there: the loop over the others is empty."""
    source = check(function("return np.argmin(x, axis=1)", "x"), data(9, 20)).kernel_source
    assert "range(size_0 - 1)" in source
