"""Each construct of the front end against NumPy: its loops are run as Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopbook.errors import LoweringError
from loopbook.frontend import check as loops_agree
from loopbook.frontend import lower

from .kit import check, data, function


def arguments(n: int = 4, m: int = 3, dtype: Any = np.float64):
    return (
        data(n, m, dtype=dtype),
        data(m, n, dtype=dtype),
        data(n, dtype=dtype),
        data(m, dtype=dtype),
        2,
    )


ANY = [
    "return A + 2 * A - y",
    "return A[:, None, :] * y",
    "return A[1:-1, ::2], A[::-1, -2:]",
    "return -A, abs(A), A ** 2, A ** 3",
    "return A < 1, A == A, (A > 0) & (A < 1), ~(A > 0)",
    "return np.maximum(A, y), np.minimum(A, 1), np.clip(A, -1, s)",
    "return np.where(A > 0, A, 0), np.where(x > s, 1, 0)",
    "return A @ B, A @ y, x @ A, x @ x",
    "return A.T @ A, A @ A.T, np.dot(x, x), np.vdot(A, A)",
    "return np.outer(x, y), np.inner(A, A)",
    "return np.einsum('ij,jk->ik', A, B), np.einsum('ij->j', A), np.tensordot(A, B, axes=1)",
    "return np.einsum('ij,j->i', A, y), np.einsum('ii->i', A @ B), np.trace(A @ B)",
    "v = np.einsum('ij->ji', A)\nw = np.einsum('ii->i', B[:2, :2])\nA *= 2\nw += 1\nreturn -v, B",
    "return A.sum(), A.sum(axis=0), A.sum(axis=1, keepdims=True), np.sum(A, axis=(0, 1))",
    "return A.max(), A.min(axis=0), A.max(axis=-1), np.ptp(x)",
    "return A.argmax(), A.argmin(axis=0), np.argmax(A, axis=1)",
    "return A.mean(), A.mean(axis=0)",
    "return np.var(A), np.std(A, axis=1), np.var(x, ddof=1)",
    "return np.std(A, 0, np.float64), A.var(dtype=np.float64), np.std(A, axis=1, keepdims=True)",
    "return np.logical_xor.reduce(A > 1), np.logical_xor.reduce(A, axis=1)",
    "return np.prod(x), np.prod(A, axis=0)",
    "return np.any(A > 1), np.all(A > -100, axis=0), np.count_nonzero(A)",
    "return np.cumsum(x), np.cumsum(A, axis=0), np.cumprod(y), np.diff(x), np.diff(A, axis=0)",
    "return np.zeros((3, 2)), np.ones_like(A), np.full((2, A.shape[0]), 7), np.eye(3, k=1)",
    "return np.arange(5), np.arange(1, A.shape[0]), np.arange(9, 2, -2), np.linspace(0, 1, 5)",
    "return np.concatenate((A, A)), np.concatenate((x, y)), np.stack((x, x), axis=1)",
    "return np.hstack((x, y)), np.vstack((x, x)), np.column_stack((x, x)), np.append(x, y)",
    "return np.roll(x, 1), np.roll(A, -1, axis=0), np.flip(A), np.flip(A, axis=1)",
    "return np.pad(x, 2), np.pad(A, ((1, 0), (2, 1)), mode='edge'), np.pad(x, 1, mode='reflect')",
    "return np.repeat(x, 2), np.repeat(A, 3, axis=1), np.tile(x, 3), np.tile(A, (2, 1))",
    "return A.reshape(-1), A.reshape(2, -1), A.T.reshape(3, 2, 2), A.ravel(), A.flatten()",
    "return np.transpose(A), A.T[1:], np.swapaxes(A, 0, 1), np.expand_dims(x, 1)",
    "return np.tril(A), np.triu(A, 1), np.diag(x), np.diag(A @ B), np.diagonal(A @ B)",
    "return np.diagflat(x, 1), np.diagflat(A), np.diagflat(np.diag(A @ B))",
    "X, Y = np.meshgrid(x, y)\nreturn X * Y",
    "i, j = np.mgrid[0:3, 0:4]\nreturn i * 10 + j",
    "A[A > 0] = 1\nx[x < 0] *= 2\nreturn A[A < 0]",
    "B[:] = A.T\nx[1:] = x[:-1]\nx[::-1] += x",
    "A[1:, :] -= A[:-1, :]\nA[0] = y\nA[:, 0] = 5",
    "n = len(x)\nreturn np.arange(1.0, n + 1), np.arange(n, 0, -1.0), np.arange(0.0, n, 2.0) * 0.5",
    "return x[np.arange(2)], A[np.array([0, 2, -1])]",
    "x[np.array([0, 1, 0])] = np.array([5, 6, 7])\nreturn A[[0, 1], [1, 2]]",
    "return len(x), x.size, A.ndim, A.shape[0], A.shape",
    "return np.sign(A), np.square(x)",
    "return np.convolve(x, y), np.convolve(x, y, mode='valid'), np.convolve(x, y, 'same')",
    "n = 0\nfor i in range(3):\n    n += i\n    x = x + n\nreturn x, n",
    "for row in A:\n    row += 1\nreturn A",
    "for i, v in enumerate((1, 2)):\n    x[i] = v",
    "t = 0\nfor i in (-1, 0, 1):\n    for j in (0, 1):\n        if i == 0 and j == 1:\n"
    "            continue\n        if x[j] < 0:\n            t += 1\n            continue\n"
    "        t += x[i]\nreturn t",
    "for i in range(len(y)):\n    for k in [0, 1, 2]:\n        if y[(i + k) % len(y)] < 0:\n"
    "            break\n        x[i] += k\n    y[i] = k",
    "t = 0\nwhile t < 3:\n    t += 1\n    x[0] += t\nreturn t",
    "if s > 1:\n    return x\nreturn y",
    "if x[0] > 0:\n    z = x * 2\nelse:\n    z = x + 1\nreturn z",
    "a, b = x, x + 1\na, b = b, a\nreturn a, b",
    "x[0], x[1] = x[1], x[0]",
    "def f(v, k=2):\n    return v * k\nreturn f(x) + f(x, k=s)",
    "f = lambda v: v + 1\nreturn f(x)",
    "return [x * k for k in range(2)][1], sum([x, x])",
    "return 0 < s < 3, max(s, 1), min(3, s)",
    "on = x > 0\nz = np.zeros_like(x)\nz[np.arange(len(x))[on]] = (x * 3)[on]\nreturn z",
    "k = np.abs(x).astype(np.int64) % 4\nn = 1 + k.max()\nz = np.bincount(k, minlength=n)\n"
    "v = np.zeros(n)\nnp.add.at(v, k, x)\n"
    "return np.divide(z, v, out=np.full(n, np.nan), where=v > 0)",
    "u, v = (1.5, 0) if x[0] == 0 else (x[1] / x[0], s)\na, b = (x, s) if s > 1 else (y, 1)\n"
    "return u, v * 2.0, a, b",
    "for i in range(len(y)):\n    u, v = (x[i], i) if x[i] > y[i] else (y[i], 2)\n    y[i] = u - v",
    "t = 0.0\nfor i, (u, v) in enumerate(zip(x, y[1:])):\n    t += i * u * v\n"
    "for u, v in zip(A[1:, 0], A[:, 1]):\n    t += u - v\nfor u, v in zip(x, (1, 2)):\n"
    "    t += u * v\nreturn t",
    "u = x\nx = x + 1\nreturn u, x",
    "u = x\nu += 1\nreturn x",
    "np.add(x, 1, out=x)\nreturn x",
    "return np.histogram(x, 4)[0], np.count_nonzero(x > 0)",
    "return A // 2, A % 3, A % -2, x // -3",
]
REAL = [
    "return np.exp(A), np.sin(x), np.sqrt(abs(A)), np.arctan2(x, 2.0), np.hypot(x, x)",
    "return A / y, 1.0 / (1.0 + x), x ** 0.5, x ** -1, 2.0 ** x",
    "z = np.trunc(y)\nreturn x[1:] // z, np.floor_divide(-A, z), A // 0.0, 7.5 // z, A // -np.inf",
    "return x * 100 // 0.3, np.inf // x, x % 0.3, (x / 0)[1:] // y, A // np.nan",
    "for i in range(len(y)):\n    y[i] = x[i] // np.trunc(y[i])\nreturn y",
    "return np.linalg.norm(x)",
    "return np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.sign(x)",
    "return (np.exp(A - A.max(axis=1, keepdims=True)).T / np.exp(A).sum(axis=1)).T",
    "x /= 2\nA -= A.mean(axis=0)\nreturn np.cov(A.T), x",
    "return np.isnan(x / 0 * 0), np.isfinite(x)",
    "return np.floor(x) if s > 1 else x",
    "x[:] = s * A @ y + 2 * x\nA += np.outer(x, y)",
    "h = np.maximum(A @ B + x, 0.0)\nreturn h @ A + x[:, None]",
    "return np.trapezoid(x), np.corrcoef(A.T)",
    "return np.round(x, 2), np.round(x * 100, -1), np.round(x), round(s * 1.5)",
    "return np.kron(x, y), np.kron(A, B[:2])",
    "h = x[1:] - x[:-1]\ng = h[1:] * h[:-1]\nreturn g[::2]",
]
WHOLE = [
    "return np.bitwise_xor.reduce(x), np.bitwise_or.reduce(A), np.bitwise_and.reduce(A, axis=1)",
    "return np.bitwise_and.reduce(x > 0), np.bitwise_xor.reduce((x, x + 1, 2 * x))",
    "return x & 3, x | 1, x ^ 2, x << 1, x >> 1, ~x",
    "return x / 2, np.mean(x), x + 0.5",
]


@pytest.mark.parametrize("body", ANY)
def test_constructs_are_what_numpy_does(body):
    for dtype in (np.float64, np.int64, np.float32, np.int32):
        check(function(body), *arguments(dtype=dtype))


@pytest.mark.parametrize("body", REAL)
def test_maths_is_what_numpy_does(body):
    for dtype in (np.float64, np.float32):
        check(function(body), *arguments(dtype=dtype))


@pytest.mark.parametrize("body", WHOLE)
def test_whole_numbers_are_what_numpy_makes_of_them(body):
    for dtype in (np.int64, np.int32):
        check(function(body), *arguments(dtype=dtype))


SIZES = [
    "return A + y, A.sum(axis=0), A @ B, A.T",
    "x[1:] = x[:-1]\nreturn x[::2], x[1:-1]",
    "return np.cumsum(x), np.roll(x, 1), np.concatenate((x, y)), A.reshape(-1)",
]


@pytest.mark.parametrize("body", SIZES)
@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (1, 1), (1, 4), (2, 1), (2, 2)])
def test_empty_arrays_and_single_elements(body, sizes):
    check(function(body), *arguments(*sizes))


ends = st.one_of(st.none(), st.integers(-6, 6))
slices = st.tuples(ends, ends, st.sampled_from([None, 1, 2, 3, -1, -2]))


def written(part) -> str:
    return ":".join("" if p is None else str(p) for p in part)


@settings(max_examples=60, deadline=None)
@given(slices, slices, slices, st.integers(0, 5))
def test_slices_of_slices(first, second, third, n):
    body = f"v = x[{written(first)}]\nw = v[{written(second)}]\nreturn w * 2, w[{written(third)}]"
    check(function(body, "x"), data(n))


@settings(max_examples=40, deadline=None)
@given(slices, slices, st.integers(1, 5))
def test_overlapping_stores(first, second, n):
    x = data(n)
    try:
        x.copy()[slice(*first)] += x[slice(*second)]
    except ValueError:
        return
    check(function(f"x[{written(first)}] += x[{written(second)}]\nreturn x", "x"), x)


def test_what_has_no_loops_is_refused_in_one_line():
    def kernel(x):
        y = x * 2
        return np.fft.fft(y)

    with pytest.raises(LoweringError) as caught:
        lower(kernel, [data(4)])
    assert caught.value.line == kernel.__code__.co_firstlineno + 2
    assert "\n" not in str(caught.value)
    assert __file__ in str(caught.value)
    assert "fft" in str(caught.value)


def test_arguments_that_are_one_array_are_one_array():
    """NumPy takes the whole right-hand side before it stores; loops go through a temporary."""
    func = function("x[1:] = y[:-1]\nreturn x", "x, y")
    x = data(6)
    assert check(func, x, data(6)).kernel_parameters == ("x", "y")
    lowered = check(func, x, x)
    assert "y" not in lowered.kernel_parameters
    assert loops_agree(func, lowered, [x, x]) == 3


def test_a_product_is_one_nest_however_its_matrices_are_stored():
    for body in ("return A @ A.T", "return A.T @ A", "return 2 * A @ B"):
        lowered = lower(function(body), arguments())
        assert lowered is not None
        assert "sum_" not in lowered.kernel_source, body
        assert lowered.kernel_source.count("for ") == 5, body


def test_sizes_that_arguments_give_are_told_as_those_of_arrays():
    def reshaped(n, m, A, B):
        return A.reshape((n * n, m)) @ B + np.zeros((n * n, m))

    args = (3, 4, data(9, 4), data(4, 4))
    lowered = lower(reshaped, args)
    assert lowered is not None
    assert " m)" not in lowered.kernel_source.partition("\n")[2]
    loops_agree(reshaped, lowered, args)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extremes_of_rows_are_one_loop_and_store_nothing_before(dtype):
    kernel = function(
        "return A.max(), A[:, 1:].min(axis=1), A[:, ::-1].max(axis=1), A.T.max(axis=1), x.min()"
    )
    for n in (2, 16, 41):
        A, B, _, y, s = arguments(5, n, dtype=dtype)
        check(kernel, A, B, -data(n, dtype=dtype), y, s)
    lowered = check(
        function("return np.abs(A - x[:, None]).max(axis=1)"), *arguments(5, 41, dtype=dtype)
    )
    assert lowered.kernel_source.count("for ") == 2


@pytest.mark.parametrize("s", [-9.0, 0.0, 9.0])
@pytest.mark.parametrize(
    "body",
    [
        "c = 5.0\nif x[1] > s:\n    c = 1.0\nelif c > s:\n    c = 2.0\nreturn c",
        "c = 5.0\nif x[1] > s:\n    c = 1.0\nelse:\n    if x[2] > s:\n        c = 2.0\nreturn c",
        "c = 2 * x\nif x[1] > s:\n    c = x - 1\nelif c[0] > s:\n    c = 3 * x\nreturn c",
        "c = 5\nif x[1] > s:\n    c = 1\nelse:\n    for i in range(len(x) - 5):\n        c = 2\n"
        "return c",
    ],
)
def test_what_a_branch_leaves_or_reads_has_its_value_from_before(body, s):
    check(function(body, "x, s"), data(5), s)


def test_a_side_of_a_choice_is_computed_where_it_is():
    body = "t = ((x - x.mean()) ** 2).sum() if s else 1.0\nreturn (x * x).sum() / (t + 1)"
    for s in (0.0, 2.0):
        check(function(body, "x, s"), data(5), s)
