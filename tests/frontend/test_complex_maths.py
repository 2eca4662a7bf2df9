"""Python's cmath, and numbers that NumPy asks for their angle or their size."""

from __future__ import annotations

import cmath

import numpy as np
import pytest

import loopbook

from .kit import check, data, function


def functions(z):
    first = cmath.exp(z), cmath.sqrt(z), cmath.sin(z), cmath.cos(z), cmath.tan(z)
    second = cmath.sinh(z), cmath.cosh(z), cmath.tanh(z), cmath.phase(z), cmath.polar(z)
    return first, second, cmath.isnan(z), cmath.isfinite(z), cmath.isinf(z)


def logarithms(z):
    return cmath.log(z), cmath.log10(z)


def transformed(x):
    y = np.zeros(len(x), dtype=complex)
    for k in range(len(x)):
        s = 0j
        for n in range(len(x)):
            s += x[n] * cmath.exp(-2j * cmath.pi * k * n / len(x))
        y[k] = s
    return y


def roots(b, c):
    d = cmath.sqrt(b * b - 4 * c)
    return (-b + d) / 2, (-b - d) / 2, cmath.rect(b, c)


@pytest.mark.parametrize("z", [1 + 2j, 0.5, -3, 2j, np.complex64(1 - 1j), 300j, np.float32(0.5)])
def test_functions_of_any_number(z):
    for func in (functions, logarithms):
        check(func, z)


def test_in_loops_and_of_negative_numbers():
    check(transformed, data(9))
    for args in ((1.0, 3.0), (5.0, 3.0), (1, 3)):
        check(roots, *args)


def test_there_is_no_logarithm_of_nought():
    program = loopbook.native(logarithms)
    assert program(1j) == pytest.approx(logarithms(1j))
    with pytest.raises(ValueError, match="math domain error"):
        program(0j)


def test_angles_of_real_numbers():
    for dtype in (np.float64, np.float32, np.int64):
        check(function("return np.angle(x)", "x"), data(7, dtype=dtype))
    x = np.array([0.0, -0.0, np.nan, -np.inf, 2.0])
    program = loopbook.native(function("return np.angle(x), np.angle(s)", "x, s"), strict=True)
    for s in (-0.0, 3.0):
        for found, wanted in zip(program(x, s), program.func(x, s), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_norms_of_any_order():
    text = (
        "np.linalg.norm(x, 3), np.linalg.norm(x, 0), np.linalg.norm(x, 2.5), np.linalg.norm(x, -1)"
    )
    for dtype in (np.float64, np.float32, np.int64, complex):
        x = data(6, dtype=dtype)
        x[x == 0] = 1
        check(function(f"return {text}", "x"), x)
    text = "np.linalg.norm(A, 3, axis=1), np.linalg.norm(A, 0, axis=0)"
    check(function(f"return {text}", "A"), data(3, 4))


def test_weights_that_add_up_to_nothing_raise():
    program = loopbook.native(function("return np.average(x, weights=w)", "x, w"))
    assert program(np.arange(3.0), np.ones(3)) == 1.0
    with pytest.raises(ZeroDivisionError):
        program(np.arange(3.0), np.array([1.0, -1.0, 0.0]))
    text = "return np.average(A, 0, v), np.average(A, 1, w), np.average(A, 0, A), np.average(A)"
    check(function(text, "A, v, w"), data(3, 4) + 3, np.arange(3.0), np.arange(4.0))


def test_lists_that_loops_fill_are_stored_into_parts_of_arrays():
    body = "x[n::2] = [2 * i for i in range((len(x) - n + 1) // 2)]\n"
    body += "x[:n] = [2.5 * i for i in range(n)]\nreturn x * 2"
    for size, n in ((21, 10), (50, 44)):
        check(function(body, "x, n"), np.arange(float(size)), n)
