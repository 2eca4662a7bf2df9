"""Loops that docc's front end does not read are translated, as array expressions are."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import loopbook
from loopbook.errors import InterpretedWarning, SdfgError


def normal(x, y):
    for i in range(x.shape[0]):
        y[i] = 0.5 * (1.0 + math.erf(x[i] / math.sqrt(2.0)))


def gamma(x, y):
    for i in range(x.shape[0]):
        y[i] = math.gamma(x[i])


def given():
    return np.linspace(0.5, 3.0, 40), np.zeros(40)


def test_what_has_a_form_in_loops_is_compiled():
    native, (x, y) = loopbook.native(normal, strict=True), given()
    with warnings.catch_warnings():
        warnings.simplefilter("error", InterpretedWarning)
        native(x, y)
        native(x, y)
    expected = np.zeros(40)
    normal(x, expected)
    np.testing.assert_allclose(y, expected, rtol=1e-13)


def test_of_anything_else_docc_says_why():
    with pytest.raises(SdfgError, match="docc cannot parse gamma"):
        loopbook.native(gamma, strict=True)(*given())
    native, (x, y) = loopbook.native(gamma), given()
    with pytest.warns(InterpretedWarning, match="gamma"):
        native(x, y)
    assert y[0] == math.gamma(0.5)
