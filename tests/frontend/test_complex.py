"""Complex numbers, which the loops hold as pairs of floats."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function

C = np.complex128

EXPRESSIONS = {
    "sum": "x + y - 2 * s",
    "product": "x * y * 0.5j - s * z",
    "quotient": "x / y + 1.0 / x + z / s + x / 3",
    "squares": "x**2 + y**3 + s**4",
    "powers": "np.power(x, 1.7) + y**-2 + np.power(s, -0.3)",
    "exp": "np.exp(x) + np.exp(-2j * np.pi * z)",
    "roots": "np.sqrt(x) + x**0.5 + np.log(y)",
    "waves": "np.sin(x) * np.cos(y) + np.tan(s)",
    "hyperbolic": "np.sinh(x) + np.cosh(y) * np.tanh(x - y) + np.tanh(s * 400) + np.tan(x * 300j)",
    "other logarithms": "np.log10(x) + np.log2(y)",
    "complex powers": "x ** (0.5 - 1j) + y**x + 2.0**y + s**s",
    "powers of nought": "(x - x) ** (1 + 2j) + (y - y) ** (x - x)",
    "running": "np.cumsum(x) + np.cumprod(y) + np.cumsum(np.outer(x, y), axis=0)[2]",
    "product of all": "np.prod(x) + np.outer(x, y).prod()",
    "products of some": "np.outer(x, y).prod(axis=1) + np.prod(np.outer(x, z)[:4] - s, 0)",
    "products of planes": "np.prod(x[:, None, None] * y[:, None] - z, axis=(0, 2))",
    "spread": "np.var(x) + np.std(y, ddof=1) + np.outer(x, y).var(axis=1)[2]",
    "which are numbers": "(np.isnan(x * [np.nan, 1, np.inf, 2, 0]), np.isfinite(x), np.isnan(s))",
    "which are infinite": "(np.isinf(x * [1, np.inf, 2, 0, 3]), np.isinf(y), np.isinf(s))",
    "parts": "x.real * y.imag + np.real(x * y) - np.imag(x + s)",
    "real of real": "z.real + np.imag(z)",
    "conjugates": "x.conj() * np.conjugate(y) + z.conj()",
    "absolute": "abs(x) + np.abs(x - y) + abs(s)",
    "angle": "np.angle(x)",
    "where": "np.where(abs(x) > 1.5, x, z)",
    "equal": "(x == y) | (x[::-1] != x)",
    "total": "x.sum() + (x * y).sum()",
    "means": "x.mean() - y.mean()",
    "truth": "np.any(x) and np.all(y)",
    "norm": "np.linalg.norm(x)",
    "dot": "x @ y + x @ z",
    "vdot": "np.vdot(x, y)",
    "outer": "np.outer(x, y)",
    "matrices": "np.outer(x, y) @ np.outer(z, x).T + s * np.outer(x, x)",
    "slices": "x[1:-1] * y[2:] - x[::-1][:-2]",
    "builtin": "x * complex(2, 1) + complex(z[0], 3.0)",
    "of complex parts": "x + complex(x[0], 2.0) * complex(1, y[1]) - complex(x[1], y[2])",
    "signs": "np.sign(x) + np.sign(y * 0) + np.sign(s)",
    "casts": "(z.astype(np.complex128) * 1j).astype(np.complex64)",
    "new": "np.zeros(3, dtype=np.complex128) + np.full(3, 2j) + np.eye(3, dtype=np.complex128)[1]",
    "joined": "np.concatenate((x, z, y))",
    "reshaped": "np.reshape(np.outer(x, y).T, (x.size * y.size,))",
    "repeated": "np.repeat(x, 2)",
    "several": "(x[1], s * 2, x[1:3], x.real, x[1:].imag)",
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name):
    x, y, z = data(5, dtype=C), data(5, dtype=C, seed=3), data(5, seed=1)
    kernel = function(f"return {EXPRESSIONS[name]}", "x, y, z, s")
    check(kernel, x, y, z, 0.7 - 1.3j)


def test_short_complex_numbers_stay_short():
    x = data(6, dtype=np.complex64)
    check(function("return x * s + 1j", "x, s"), x, np.complex64(2 + 1j))
    check(function("return x * np.float32(2), x * 2.0, x.sum(), abs(x)", "x"), x)


def test_elements_written_from_themselves_are_read_whole_first():
    def square(z):
        z[:] = z * z
        z *= 1j
        z[1:] = z[:-1]
        z[0] = z[0] * z[1]

    def parts(z, x):
        z.real[:] = z.imag
        z.imag[1:] = x[1:]
        r = z.real
        r[0] = 7.0
        return r

    check(square, data(6, dtype=C))
    check(parts, data(6, dtype=C), data(6))


def test_masks_indices_and_rows():
    def masked(z, c, n):
        inside = np.less(abs(z), 2.0)
        n[inside] = 1
        z[inside] = z[inside] ** 2 + c[inside]
        return z[~inside]

    def indexed(z, places):
        z[places] = z[places + 1] * 1j
        total = 0
        for row in z:
            total = total + row * row
        return total

    check(masked, data(4, 5, dtype=C), data(4, 5, dtype=C, seed=2), np.zeros((4, 5)))
    check(indexed, data(6, dtype=C), np.array([0, 2, 2]))


def test_numbers_that_become_complex_later():
    def kernel(x, n):
        a = 1.0
        b = 0.0
        for i in range(n):
            a, b = a * x[i] + b, a
            if abs(a) > 3.0:
                a = a / 2
        return a, b

    check(kernel, data(5, dtype=C), 5)


def test_linear_algebra():
    a, real = data(4, 4, dtype=C) + 3 * np.eye(4), data(4, 4) + 3 * np.eye(4)
    both = function("return np.linalg.solve(a, b), np.linalg.inv(a)", "a, b")
    for left, right in ((a, data(4, 2, dtype=C)), (a, data(4)), (real, data(4, dtype=C))):
        check(both, left, right)


@pytest.mark.parametrize(
    "text",
    [
        "np.max(z)", "np.argmax(z)", "np.floor(z)", "float(z[0])", "np.sort(z)", "np.linalg.det(w)",
        "np.arctanh(z)",
        "np.histogram(z)", "np.cov(w)", "np.clip(z, 0, 1)", "np.linalg.cholesky(w)",
    ],
)  # fmt: skip
def test_what_has_no_pairs_is_refused(text):
    with pytest.raises(LoweringError):
        lower(function(f"return {text}", "z, w"), [data(4, dtype=C), data(3, 3, dtype=C)])


def test_arrays_that_are_no_pairs_in_memory_are_copied():
    def kernel(z, w):
        z[1:] = z[:-1] * w[0] + 1j
        return z.T, w[::-1] * 2

    z, w = data(6, 8, dtype=C), data(8, 6, dtype=C, seed=2)
    for given in (z[::2, ::2], np.asfortranarray(z), z[::-1], w.T):
        check(kernel, given, data(given.shape[1], given.shape[1], dtype=C)[:, ::-1])


def test_a_number_in_an_array_is_refused():
    with pytest.raises(LoweringError, match="no axes"):
        lower(function("return z + 1", "z"), [np.array(1j)])


def test_quotients_of_two_precisions_are_those_of_the_greater_one():
    check(function("return x / y, y / x", "x, y"), data(9), data(9, dtype=np.complex64, seed=1))


def test_complex_into_real_is_refused():
    def kernel(z, x):
        x[:] = z

    with pytest.raises(LoweringError, match="real"):
        lower(kernel, [data(4, dtype=C), data(4)])


def test_pairs_lie_along_the_last_axis():
    """How far apart neighbours are is then known to who compiles the loops."""
    body = "z.real[1:] = w.imag[:-1] * z.shape[1]\nreturn z * w + z.shape[0], np.abs(z[:, ::2])"
    z, w = data(3, 4) + 1j * data(3, 4), data(3, 4) - 1j * data(3, 4)
    lowered = check(function(body, "z, w"), z, w)
    given = dict(zip(lowered.kernel_parameters, lowered.prepare(z, w), strict=True))
    assert given["z"].shape == given["w"].shape == (3, 8)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_turns_need_no_size(dtype):
    body = "return np.exp(-1j * x), np.exp(2j * np.pi * x / len(x)), x / 2j, (1 - 1j) * x, z * -1j"
    args = data(6, dtype=dtype), data(6, dtype=np.complex128)
    lowered = check(function(body, "x, z"), *args)
    assert "math.exp(" not in lowered.kernel_source


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_parts_of_two_types_are_compiled(dtype):
    def sizes(x, y):
        a, b = np.abs(x + 1j), np.angle(1 - x * 1j)
        return a, b, np.log(x + 1j), np.sqrt(x - 2j), np.exp(2 + x * 1j), np.abs(x + 1j * y)

    x, y = (data(9, seed=seed).astype(dtype) for seed in range(2))
    with np.errstate(all="ignore"):
        expected, got = sizes(x, y), loopbook.native(sizes, strict=True)(x, y)
    for one, other in zip(expected, got, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
