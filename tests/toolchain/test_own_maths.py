"""Maths functions of our own, in place of C's, in vector loops."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopbook.toolchain.clang import shared_library
from loopbook.toolchain.compiler import find_compiler
from loopbook.toolchain.own_maths import TEXT as OWN_MATHS

FLAGS = ("-O3", "-ffp-contract=fast", "-fassociative-math", "-freciprocal-math")
"""Those of docc that let clang calculate in another order."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    names = ("expf", "erff")
    loops = "".join(
        f'extern "C" void all_{name}(const float *x, float *y, long n) {{'
        f" for (long i = 0; i < n; i++) y[i] = {name}(x[i]); }}\n"
        for name in names
    )
    path = tmp_path_factory.mktemp("maths") / "maths.so"
    # As where graphs of PyTorch are compiled.
    rest = ("-DLOOPBOOK_MEMORY", "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno")
    flags = (*FLAGS, *rest, "-march=native")
    shared_library(find_compiler().path, OWN_MATHS + loops, *flags, to=path)
    return ctypes.CDLL(str(path))


def called(function: Any, x: np.ndarray) -> np.ndarray:
    y = np.empty_like(x)
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y)), ctypes.c_long(x.size))
    return y


def units(got: np.ndarray, want: np.ndarray) -> float:
    """The largest error in units of the last place."""
    return float((np.abs(got - want) / np.spacing(np.abs(want).astype(np.float32))).max())


def test_exp_is_right_to_two_units(library: ctypes.CDLL):
    x = np.linspace(-103.0, 88.7, 300_001).astype(np.float32)
    assert units(called(library.all_expf, x), np.exp(x.astype(float))) <= 2.0


def test_exp_of_what_is_too_large_too_small_or_no_number(library: ctypes.CDLL):
    x = np.array([89.0, 1e30, math.inf, -105.0, -1e30, -math.inf, 0.0, math.nan] * 2, np.float32)
    want = [math.inf] * 3 + [0.0] * 3 + [1.0, math.nan]
    np.testing.assert_array_equal(called(library.all_expf, x), want * 2)


def test_erf_is_right_to_six_units(library: ctypes.CDLL):
    x = np.linspace(-5.0, 5.0, 30_002).astype(np.float32)
    want = np.array([math.erf(float(value)) for value in x])
    assert units(called(library.all_erff, x), want) <= 6.0


def test_erf_of_what_is_large_small_or_no_number(library: ctypes.CDLL):
    x = np.array([4.0, 1e30, math.inf, -4.0, -math.inf, 1e-30, 0.0, math.nan], np.float32)
    got = called(library.all_erff, x)
    np.testing.assert_array_equal(got[:5], [1.0, 1.0, 1.0, -1.0, -1.0])
    assert got[5] == pytest.approx(1.1283792e-30, rel=1e-6)
    np.testing.assert_array_equal(got[6:], [0.0, math.nan])


POWERS = (-6, -3, -2.5, -2, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 5, 6, 6.5, 7, 0.3)
LOOP = """extern "C" void power_{number}({type} *x, {type} *y, long n) {{
    for (long i = 0; i < n; i++) {{ {type} to = {exponent}; y[i] = {name}(x[i], to); }} }}
"""


@pytest.mark.parametrize(("name", "dtype"), [("pow", np.float64), ("powf", np.float32)])
def test_short_powers_are_c_s(name: str, dtype: Any, tmp_path: Path):
    kind = {"pow": "double", "powf": "float"}[name]
    loops = "".join(
        LOOP.format(number=number, type=kind, exponent=float(exponent), name=name)
        for number, exponent in enumerate(POWERS)
    )
    path = tmp_path / "powers.so"
    flags = (*FLAGS, "-fno-signed-zeros", "-fno-trapping-math", "-fno-math-errno", "-march=native")
    shared_library(find_compiler().path, OWN_MATHS + loops, *flags, to=path)
    library = ctypes.CDLL(str(path))
    special = [0.0, -0.0, 1.0, -1.0, -2.5, math.inf, -math.inf, math.nan]
    numbers = np.exp(np.linspace(-9.0, 9.0, 30_001))
    x = np.concatenate([special, numbers, -numbers]).astype(dtype)
    for number, exponent in enumerate(POWERS):
        got = called(getattr(library, f"power_{number}"), x)
        with np.errstate(all="ignore"):
            want = np.array([_pow(float(value), exponent) for value in x]).astype(dtype)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want), str(exponent))
        far = np.isinf(want) | (want == 0)
        np.testing.assert_array_equal(np.abs(got[far]), np.abs(want[far]), str(exponent))
        if exponent % 1:  # they have no sign
            np.testing.assert_array_equal(got[far], want[far], str(exponent))
        near = ~far & np.isfinite(want)
        np.testing.assert_array_max_ulp(got[near], want[near], 5)


def _pow(x: float, y: float) -> float:
    """C's, which raises nothing."""
    return float(np.float_power(x, y))


def test_an_exponent_that_is_not_known_is_left_to_c(tmp_path: Path):
    loop = """extern "C" void to(double *x, double *y, long n) {
        for (long i = 0; i < n; i++) y[i] = pow(x[i], x[i]); }"""
    path = tmp_path / "power.so"
    shared_library(find_compiler().path, OWN_MATHS + loop, *FLAGS, to=path)
    x = np.array([0.5, 1.5, 2.0, 3.7, 20.25])
    np.testing.assert_allclose(called(ctypes.CDLL(str(path)).to, x), x**x, rtol=1e-15)


TURNS = """extern "C" void turns({type} *y, {type} *x, {type} *to, long n) {{
    for (long i = 0; i < n; i++) to[i] = {name}(y[i], x[i]); }}
"""


@pytest.mark.parametrize(("name", "dtype"), [("atan2", np.float64), ("atan2f", np.float32)])
def test_turns_are_right_to_four_units(name: str, dtype: Any, tmp_path: Path):
    """In vectors, with NumPy's signs of noughts, and where something is no number."""
    kind = "double" if dtype is np.float64 else "float"
    path = tmp_path / "turns.so"
    text = OWN_MATHS + TURNS.format(type=kind, name=name)
    flags = (*FLAGS, "-fno-trapping-math", "-fno-math-errno", "-march=native")
    shared_library(find_compiler().path, text, *flags, to=path)
    turns = ctypes.CDLL(str(path)).turns

    def found(y: np.ndarray, x: np.ndarray) -> np.ndarray:
        to = np.empty_like(y)
        turns(*(ctypes.c_void_p(a.ctypes.data) for a in (y, x, to)), ctypes.c_long(y.size))
        return to

    random = np.random.default_rng(2)
    y, x = (random.normal(size=200_000).astype(dtype) for _ in range(2))
    y[:1000] *= dtype(1e-6)
    x[1000:2000] *= dtype(1e-6)
    want = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    apart = np.abs(found(y, x) - want) / np.spacing(np.abs(want).astype(dtype))
    assert apart.max() <= 4.0
    ends = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-30, -1e30]
    y, x = (part.ravel().astype(dtype) for part in np.meshgrid(ends, ends))
    got, want = found(y, x), np.arctan2(y, x)
    np.testing.assert_allclose(got, want, rtol=4 * np.finfo(dtype).eps)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))
