"""Maths functions in loops that only glibc has vectors of."""

from __future__ import annotations

import ctypes
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook.sdfg import frontend
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain import vector_functions
from loopbook.toolchain.clang import shared_library
from loopbook.toolchain.compiler import MATHS_LIBRARY, activate, find_compiler
from loopbook.toolchain.own_maths import TEXT as OWN_MATHS
from loopbook.toolchain.vector_functions import FLAG, LINES, NAMES

TO_NUMPY = {"acos": "arccos", "asin": "arcsin", "atan": "arctan"}
TO_NUMPY |= {"acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh"}
FLAGS = ("-O3", "-ffp-contract=fast", "-fassociative-math", "-freciprocal-math")
"""Those of docc that let clang calculate in another order."""

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    1e-20,
    5e-324,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("functions")
    (folder / "all.csv").write_text(LINES)
    if not vector_functions.has_vector_functions(find_compiler().path, folder / "all.csv"):
        pytest.skip("no such compiler, or no such library, here")
    loops = "".join(
        f'extern "C" void all_{name}(const double *x, double *y, long n) {{'
        f" for (long i = 0; i < n; i++) y[i] = {name}(x[i]); }}\n"
        f'extern "C" void all_{name}f(const float *x, float *y, long n) {{'
        f" for (long i = 0; i < n; i++) y[i] = {name}f(x[i]); }}\n"
        for name in NAMES
    )
    loops += "".join(
        f'extern "C" void all_{name}(const {kind} *x, const {kind} *y, {kind} *z, long n) {{'
        f" for (long i = 0; i < n; i++) z[i] = {name}(x[i], y[i]); }}\n"
        for name, kind in (("fmod", "double"), ("pow", "double"), ("powf", "float"))
    )
    words = (*FLAGS, "-march=native", "-fno-math-errno", FLAG, MATHS_LIBRARY)
    table = f"-mllvm=-forceattrs-csv-path={folder / 'all.csv'}"
    shared_library(find_compiler().path, OWN_MATHS + loops, *words, table, to=folder / "all.so")
    return ctypes.CDLL(str(folder / "all.so"))


def called(library: ctypes.CDLL, name: str, x: np.ndarray) -> np.ndarray:
    y = np.empty_like(x)
    function = getattr(library, f"all_{name}{'f' if x.dtype == np.float32 else ''}")
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y)), ctypes.c_long(x.size))
    return y


def called_with_two(library: ctypes.CDLL, name: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    z = np.empty_like(x)
    function = getattr(library, f"all_{name}{'f' if x.dtype == np.float32 else ''}")
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y, z)), ctypes.c_long(x.size))
    return z


def exact(name: str, x: np.ndarray) -> np.ndarray:
    if name in ("erf", "erfc"):
        return np.array([getattr(math, name)(value) for value in x.tolist()])
    with np.errstate(all="ignore"):
        return getattr(np, TO_NUMPY.get(name, name))(x.astype(float))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", NAMES)
def test_they_are_right_to_a_few_units(library: ctypes.CDLL, name: str, kind: Any):
    draw = np.random.default_rng(0)
    ends = {"acosh": (1.0, 50.0), "acos": (-1.0, 1.0), "asin": (-1.0, 1.0), "atanh": (-1.0, 1.0)}
    ends |= {"log1p": (-1.0, 9.0), "log2": (0.0, 1e3), "log10": (0.0, 1e3), "erfc": (-5.0, 5.0)}
    ends |= {"log": (0.0, 3.0), "tanh": (-2.0, 2.0), "exp": (-80.0, 80.0)}
    x = draw.uniform(*ends.get(name, (-20.0, 20.0)), 20_003).astype(kind)
    want = exact(name, x)
    units = np.abs(called(library, name, x) - want) / np.spacing(np.abs(want).astype(kind))
    assert units.max() <= (6.0 if name == "erf" and kind is np.float32 else 4.5)


@pytest.mark.parametrize("name", NAMES)
def test_infinities_signs_and_what_is_no_number_are_kept(library: ctypes.CDLL, name: str):
    x = np.array(SPECIAL * 3)
    got, want = called(library, name, x), exact(name, x)
    np.testing.assert_allclose(got, want, rtol=1e-15)
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


def test_digits_and_edges_can_be_counted(library: ctypes.CDLL):
    whole = np.arange(23.0)
    np.testing.assert_array_equal(called(library, "log10", 10.0**whole), whole)
    np.testing.assert_array_equal(called(library, "log2", 2.0**whole), whole)
    np.testing.assert_array_equal(called(library, "exp2", whole), 2.0**whole)
    edges = np.arange(-2000.0, 2000.0)
    np.testing.assert_array_equal(called(library, "cbrt", edges**3), edges)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_exp_of_any_number_is_right_to_four_units(library: ctypes.CDLL, kind: Any):
    special = [0.0, math.inf, -math.inf, math.nan, -1e9, -1e30, 800.0]
    edges = [709.782712893384, 709.7827128933841, 710.0]
    near = np.linspace(-760.0, 709.5, 50_001), np.linspace(-110, 89, 9_001)
    x = np.concatenate([special, *near, edges]).astype(kind)
    with np.errstate(all="ignore"):
        want = np.exp(x.astype(np.longdouble)).astype(kind)
    np.testing.assert_array_max_ulp(called(library, "exp", x), want, 4)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["log", "tanh"])
def test_the_least_numbers_and_those_near_one_keep_their_digits(
    library: ctypes.CDLL, name: str, kind: Any
):
    tiny = np.finfo(kind).smallest_subnormal * np.arange(1, 9, dtype=kind)
    x = np.concatenate([tiny, 1 + np.linspace(-0.06, 0.06, 30_001), np.logspace(-37, 37, 20_001)])
    x = x.astype(kind)
    got, want = called(library, name, x), getattr(np, name)(x.astype(np.longdouble)).astype(kind)
    np.testing.assert_array_max_ulp(got, want, 4)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_powers_are_right_to_a_unit(library: ctypes.CDLL, kind: Any):
    draw = np.random.default_rng(0)
    x = np.exp(draw.uniform(-30.0, 30.0, 200_003)).astype(kind)
    y = draw.uniform(-40.0, 40.0, x.size).astype(kind)
    x[:9_000] = 1 + draw.uniform(-1e-3, 1e-3, 9_000)
    got = called_with_two(library, "pow", x, y)
    with np.errstate(all="ignore"):
        want = np.power(x.astype(np.longdouble), y.astype(np.longdouble)).astype(kind)
    np.testing.assert_array_max_ulp(got, want, 1)


def test_whole_powers_are_whole(library: ctypes.CDLL):
    base, to = (a.ravel().astype(float) for a in np.mgrid[1:60, 0:30])
    small = base**to < 2.0**53
    base, to = base[small], to[small]
    want = np.array([int(a) ** int(b) for a, b in zip(base, to, strict=True)], float)
    np.testing.assert_array_equal(called_with_two(library, "pow", base, to), want)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(), st.floats()), min_size=1, max_size=40))
def test_powers_of_whatever_are_c_s(library: ctypes.CDLL, pairs: list[tuple[float, float]]):
    check_powers(library, pairs * 9)


def test_powers_of_special_numbers_are_c_s(library: ctypes.CDLL):
    numbers = [*SPECIAL, -2.5, 3.0, -3.0, 1e-300, 0.25]
    check_powers(library, [(x, y) for x in numbers for y in numbers])


def check_powers(library: ctypes.CDLL, pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array(a) for a in zip(*pairs, strict=True))
    got = called_with_two(library, "pow", x, y)
    with np.errstate(all="ignore"):
        want = np.float_power(x, y)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    known = ~np.isnan(want)
    np.testing.assert_array_max_ulp(got[known], want[known], 4)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(), st.floats()), min_size=1, max_size=40))
def test_remainders_are_exact(library: ctypes.CDLL, pairs: list[tuple[float, float]]):
    check_remainders(library, np.array(pairs * 9))


@pytest.mark.parametrize("size", [1.0, 1e3, 2.0**52, 2.0**54, 1e300, 1e-300])
def test_remainders_of_large_and_small_quotients_are_exact(library: ctypes.CDLL, size: float):
    draw = np.random.default_rng(0)
    divisors = np.concatenate([draw.random(5000), 1.0 / draw.integers(1, 99, 5000)])
    times = draw.integers(-9, 9, 10_000)
    numbers = np.where(times < 5, draw.normal(size=10_000) * size, divisors * times)
    check_remainders(library, np.stack([numbers, divisors], axis=1))


def check_remainders(library: ctypes.CDLL, pairs: np.ndarray) -> None:
    x, y = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    got = called_with_two(library, "fmod", x, y)
    with np.errstate(all="ignore"):
        want = np.fmod(x, y)
    np.testing.assert_array_equal(got, want)
    known = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(want[known]))


def angles(x, y):
    for i in range(x.shape[0]):
        y[i] = math.asin(x[i]) + math.log1p(x[i])


def test_served_code_calls_them(library: ctypes.CDLL, tmp_path: Path):
    activate()
    x = np.linspace(0.0, 1.0, 1001)
    args = [x, np.zeros_like(x)]
    text = frontend.trace(angles, args)
    own = build_baseline(text, "sequential", tmp_path / "own").library.read_bytes()
    served = build_baseline(text, "sequential", tmp_path / "served", vector_maths=True)
    for name in (b"asin", b"log1p"):
        assert b"v_" + name not in own
        assert b"v_" + name in served.library.read_bytes()
    assert b"v_cosh" not in served.library.read_bytes()
    y = np.zeros_like(x)
    frontend.bind(angles, args, served.library)(x, y)
    np.testing.assert_allclose(y, np.arcsin(x) + np.log1p(x), rtol=1e-14)
