"""Floats of 32 bits beside Python's numbers: scalars have as many bits as NumPy's would."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopbook
from loopbook.normal_form.singles import note
from loopbook.program.accesses import accesses
from loopbook.sdfg import frontend, program
from loopbook.sdfg.narrow import with_narrow


def single(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32) + np.float32(0.5)


def rows(A, x, y):
    for i in range(A.shape[0]):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * x[j]
        y[i] = s


def softmax(A, B):
    for i in range(A.shape[0]):
        m = A[i, 0]
        for j in range(A.shape[1]):
            m = max(m, A[i, j])
        t = 0.0
        for j in range(A.shape[1]):
            t += np.exp(A[i, j] - m)
        for j in range(A.shape[1]):
            B[i, j] = np.exp(A[i, j] - m) / t


def distances(X, D):
    for i in range(X.shape[0]):
        for j in range(X.shape[0]):
            d = 0.0
            for k in range(X.shape[1]):
                t = X[i, k] - X[j, k]
                d += t * t
            D[i, j] = np.sqrt(d)


def damped(x, y, c):
    h = 0.1 * c
    s = 1.0
    for i in range(x.shape[0]):
        s = s * 0.5 + h * x[i]
        y[i] = s


def mean(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    s = s / x.shape[0]
    for i in range(x.shape[0]):
        y[i] = x[i] - s


def chosen(x, y):
    best = 1e300
    for i in range(x.shape[0]):
        if x[i] < best:
            best = x[i]
    for i in range(x.shape[0]):
        y[i] = best


def doubles(func: Callable[..., Any], *given: Any) -> set[str]:
    """Scalars of 64 bits in a program as books and steps see it."""
    _, tree, _ = program.prepare_tree(frontend.trace(func, list(given)))
    kinds = tree.containers.items()
    return {name for name, kind in kinds if not kind.is_array and kind.element == "double"}


@pytest.mark.parametrize(
    ("func", "given"),
    [
        (rows, [single(7, 9), single(9), single(7)]),
        (softmax, [single(7, 9), single(7, 9)]),
        (distances, [single(6, 9), single(6, 6)]),
        (mean, [single(9), single(9)]),
    ],
)
def test_what_is_summed_up_of_floats_of_32_bits_is_one(func, given):
    assert not doubles(func, *given)
    wanted, got = [a.copy() for a in given], [a.copy() for a in given]
    func(*wanted)
    loopbook.native(func, strict=True)(*got)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("c", [0.3, 3, np.float32(0.3), np.float64(0.3), np.int64(3)])
def test_numbers_of_python_s_are_rounded_where_numpy_rounds_them(c):
    wanted, got = single(30), single(30)
    damped(single(30, seed=1), wanted, c)
    loopbook.native(damped, strict=True)(single(30, seed=1), got, c)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_a_number_that_no_float_of_32_bits_reaches_is_infinite_as_in_numpy():
    wanted, got = single(30), single(30)
    with np.errstate(over="ignore"):
        chosen(single(30, seed=1), wanted)
    loopbook.native(chosen, strict=True)(single(30, seed=1), got)
    np.testing.assert_array_equal(got, wanted)


def by_python(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += float(x[i])
    y[0] = s


def by_mathematics(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += math.sqrt(x[i])
    y[0] = s


def summed(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    y[0] = s


def weighted(x, y, c):
    s = 0.0
    for i in range(x.shape[0]):
        s += c * x[i]
    y[0] = s


@pytest.mark.parametrize(
    ("func", "given"),
    [
        (by_python, [single(9), single(1)]),
        (by_mathematics, [single(9), single(1)]),
        (summed, [single(9), np.zeros(1)]),
        (summed, [np.ones(9), single(1)]),
        (weighted, [single(9), single(1), np.float64(0.1)]),
    ],
)
def test_where_a_function_makes_doubles_they_stay(func, given):
    assert "s" in doubles(func, *given)


def counted(x, k, y):
    s = 0.0
    t = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        t += k[i]
    y[0] = s
    y[1] = t


def test_what_is_summed_up_of_words_is_none():
    found = doubles(counted, single(9), np.arange(9), single(2))
    assert found & {"s", "t"} == {"t"}


def halves(x, y):
    h = 1.0 / 3.0
    s = 0.0
    for i in range(x.shape[0]):
        s = s * h + x[i]
    y[0] = s
    y[1] = h * h


def test_a_number_that_is_computed_of_python_s_alone_keeps_its_bits():
    assert doubles(halves, single(9), single(2)) & {"h", "s"} == {"h"}


def scaled(A, B, alpha):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            B[i, j] += alpha * A[i, j]


def test_an_argument_is_rounded_once_where_the_program_begins():
    """As servers and the tuner are shown it, whose programs no front end of ours has written."""
    args = np.ones((7, 5), np.float32), np.zeros((7, 5), np.float32), 0.1
    _, tree, nests = program.prepare_tree(frontend.trace(scaled, args))
    first, *_ = tree.body.children
    assert {access.container for access in accesses(first)} == {"alpha", "alpha_single"}
    assert len(nests) == 1
    assert tree.containers["alpha_single"].element == "float"


def quantised(W, x, y):
    for i in range(W.shape[0]):
        s = 0.0
        for j in range(W.shape[1]):
            s += W[i, j] * x[j]
        y[i] = s


def of_whole_numbers(W, x, y):
    for i in range(W.shape[0]):
        t = W[i, 0] * 0.1
        y[i] = (t - 0.3) * 1e9 + x[i]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_narrow_whole_numbers_beside_floats_of_32_bits_are_such(dtype):
    W = np.arange(63).reshape(7, 9).astype(dtype)
    traced = frontend.trace(quantised, [W.astype(int), single(9), single(7)])
    noted = json.loads(with_narrow(traced, {0: W.dtype.name}))
    note(noted)
    _, tree, _ = program.prepare_tree(json.dumps(noted))
    kinds = tree.containers.values()
    assert not any(kind.element == "double" for kind in kinds)
    wanted, got = single(7), single(7)
    quantised(W, single(9), wanted)
    loopbook.native(quantised, strict=True)(W, single(9), got)
    np.testing.assert_allclose(got, wanted, rtol=2e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16])
def test_narrow_whole_numbers_beside_python_s_are_doubles(dtype):
    W, x = np.full((7, 9), 3, dtype), np.zeros(7, np.float32)
    wanted, got = single(7), single(7)
    of_whole_numbers(W, x, wanted)
    loopbook.native(of_whole_numbers, strict=True)(W, x, got)
    np.testing.assert_allclose(got, wanted, atol=1e-3)
