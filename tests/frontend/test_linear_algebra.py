"""Matrices that have no inverse, determinant or root: NumPy raises, or says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import agree, check, data, flat, function

GOOD = data(4, 4) + 5 * np.eye(4)
SINGULAR = [np.zeros((4, 4)), np.ones((4, 4)), np.outer(np.arange(4.0), np.ones(4))]

RAISING = ["np.linalg.solve(A, A[0])", "np.linalg.solve(A, A[:, :2])", "np.linalg.inv(A)"]


@pytest.mark.parametrize("text", RAISING)
def test_a_singular_matrix_is_left_to_python(text):
    kernel = function(f"return {text}", "A")
    lowered = check(kernel, GOOD)
    for matrix in SINGULAR:
        with pytest.raises(np.linalg.LinAlgError):
            kernel(matrix)
        with pytest.raises(SupposedError):
            lowered.plain(matrix)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_without_a_root_is_left_to_python(dtype):
    kernel = function("return np.linalg.cholesky(A)", "A")
    lowered = check(kernel, (GOOD @ GOOD.T).astype(dtype))
    for matrix in (-GOOD @ GOOD.T, np.zeros((4, 4))):
        with pytest.raises(np.linalg.LinAlgError):
            kernel(matrix.astype(dtype))
        with pytest.raises(SupposedError):
            lowered.plain(matrix.astype(dtype))


@pytest.mark.parametrize("text", ["np.linalg.det(A)", "np.linalg.slogdet(A)[0]"])
def test_a_singular_matrix_has_a_determinant(text):
    kernel = function(f"return {text}", "A")
    lowered = check(kernel, GOOD)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for matrix in SINGULAR:
            agree(flat(kernel(matrix)), flat(lowered.plain(matrix)), lowered.source)


def test_powers_of_an_inverse_are_left_to_python():
    kernel = function("return np.linalg.matrix_power(A, n)", "A, n")
    lowered = check(kernel, GOOD, 5)
    assert not lowered.holds(GOOD, -1)
    with pytest.raises(LoweringError, match="a call that raises"):
        lower(function("return np.linalg.matrix_power(A, -2)", "A"), (GOOD,))
