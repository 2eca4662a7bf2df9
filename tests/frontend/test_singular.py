"""Least squares and the like, as loops run as Python."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import check, data, function

DEFICIENT = np.outer([1.0, 2, 3, 4], [1.0, -2, 0.5])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("shape", [(6, 3), (4, 4), (3, 5), (1, 1), (5, 1)])
def test_least_squares(shape, dtype):
    body = """x, left, rank, values = np.linalg.lstsq(A, b, rcond=None)
two, gaps = np.linalg.lstsq(A, np.stack((b, 2 * b + 1), 1), rcond=1e-12)[:2]
return x, rank, values, left.shape[0], two, gaps.size, np.linalg.pinv(A)"""
    check(function(body, "A, b"), data(*shape, dtype=dtype), data(shape[0], dtype=dtype, seed=1))


def test_of_all_answers_it_is_the_shortest_where_there_are_several():
    body = "x, left, rank, values = np.linalg.lstsq(A, b, rcond=None)\n"
    body += "return x, left, rank, values[0], np.linalg.pinv(A), np.linalg.matrix_rank(A)"
    check(function(body, "A, b"), DEFICIENT, data(4))
    check(function("return np.linalg.cond(A), np.linalg.matrix_rank(A, tol=0.5)", "A"), data(4, 3))


def test_polynomials_through_points():
    body = "m, c = np.polyfit(x, y, deg=1)\n"
    body += "return np.polyfit(x, y, 2), m, c, np.polyfit(x, y, 1, w=np.abs(y) + 1), "
    body += "np.polyfit(x, np.stack((y, x), 1), 1)"
    for dtype in (np.float64, np.float32, np.int64):
        check(function(body, "x, y"), data(9, dtype=dtype), data(9, dtype=dtype, seed=1))


def test_what_numpy_warns_or_raises_of_is_left_to_it():
    lowered = lower(function("return np.polyfit(x, y, 2)", "x, y"), (data(7), data(7)))
    assert lowered is not None
    with pytest.raises(SupposedError):
        lowered.plain(np.ones(7), data(7))
    with pytest.raises(SupposedError):
        lowered.plain(np.full(7, np.nan), data(7))
    with pytest.raises(LoweringError):
        lower(function("return np.linalg.pinv(A)", "A"), (data(3, 3, dtype=complex),))
