"""Whether an array is the argument or a copy of it, which NumPy lets the layout decide."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import loopbook

pytestmark = pytest.mark.usefixtures("no_book")

A = np.arange(12.0).reshape(3, 4)


def strided(a):
    wide = np.zeros((*a.shape, 2))
    wide[..., 0] = a
    return wide[..., 0]


def contiguous(a):
    b = np.ascontiguousarray(a)
    b[0, 0] = 7.0
    return b.sum()


def rows(a):
    b = np.ascontiguousarray(a[1:3])
    b[1] = 100.0
    return b * 2


def columns_first(a):
    a[0, 0] = np.asarray(a, order="F")[1, 1]
    return a.sum()


def of_its_type(a):
    b = a.astype(np.float64, copy=False)
    b[1] = 100.0
    return b * 2


def where_it_may(a):
    b = np.array(a, copy=None)
    b[1] = 100.0
    return b * 2


def only_read(a):
    return np.ascontiguousarray(a.T) @ np.array(a, order="F")


@pytest.mark.parametrize(
    "func", [contiguous, rows, columns_first, of_its_type, where_it_may, only_read]
)
def test_the_layout_decides_what_is_stored_into(func):
    """Arrays in C order come first: the others are not to be served by what was compiled then."""
    program = loopbook.native(func)
    for laid_out in (np.copy, np.asfortranarray, strided, np.copy):
        given, wanted = laid_out(A), laid_out(A)
        expected = func(wanted)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", loopbook.errors.InterpretedWarning)
            found = program(given)
        np.testing.assert_allclose(found, expected)
        np.testing.assert_allclose(given, wanted)


def test_what_is_only_read_is_compiled_whatever_the_layout():
    program = loopbook.native(only_read, strict=True)
    for laid_out in (np.copy, np.asfortranarray, strided):
        np.testing.assert_allclose(program(laid_out(A)), only_read(A))
