"""Functions of NumPy with arguments that are rarer than those of most programs."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook

from .kit import check, data, flat, function

A, B = data(3, 4), data(2, 3, 4)
X, Y = data(7), data(5)
Z = data(4, 3, dtype=complex)

BODIES = {
    "places of a grid": "g = np.indices((3, 4))\ni, j = np.indices((2, 3))\nreturn g, g.sum(0), "
    "i - j",
    "a quarter turn of the first two axes": "return np.rot90(B), np.rot90(B, 3), np.rot90(B, 2)",
    "a quarter turn of other axes": "return np.rot90(B, 1, (1, 2)), np.rot90(B, -1, axes=(2, 0))",
    "a filter longer than its line": "return np.correlate(y, x, 'full'), np.correlate(y, x)",
    "and of the line's length": "return np.correlate(y, x, 'same'), np.correlate(x, y, 'same')",
    "axes without letters": "return np.einsum('...ij,kj->...ik', B, A), np.einsum('...i->...', B), "
    "np.einsum('...i,...i', B, B), np.einsum('i...->...', A), np.einsum('...,...', y, y)",
    "a complex filter": "w = z[0] * 1j\nreturn np.correlate(z[:, 0], w, 'full'), np.correlate(w, "
    "z[1])",
    "how far complex numbers spread": "return np.var(z), z.std(axis=0), np.var(z, 1, ddof=1)",
    "whether there is an imaginary part": "w = z.real + 0j\nreturn np.iscomplex(w), np.isreal(z), "
    "np.isreal(x)",
    "angles in degrees": "return np.angle(z, deg=True), np.angle(x), np.angle(x, True)",
    "products of all elements": "return np.vdot(A[:, :3], A.ravel()[:9]), np.vdot(z[:3], "
    "z[:3].ravel())",
    "near ones": "return np.isclose(x, [1, 2, 3, 4, 5, 6, 7]), np.allclose([1.0, 2.0], x[:2])",
    "near whole ones": "k = x > 0\nreturn np.isclose(k, k), np.isclose(z, z + 1e-9), "
    "np.allclose(z, z)",
    "near ones that are none": "q = np.where(x > 0, x, np.nan)\n"
    "return np.isclose(q, q), np.isclose(q, q, equal_nan=True), np.allclose(q, q, equal_nan=True)",
    "what repeats": "return np.array_equiv(x[:2], [[1, 2], [1, 2]]), np.array_equiv(1.5, [1.5, "
    "1.5])",
    "turns of another length": "return np.unwrap(x * 3, period=4.0), np.unwrap(x * 9, 4)",
    "what is not there too": "return np.setdiff1d(x, x[2:4], True), np.setdiff1d(x, x[2:4])",
    "places that count columns first": "return np.unravel_index(np.array([5, 11]), (3, 4), 'F')",
    "numbers of a range": "return np.outer(x, range(1, 4)), np.sum(range(0, 9, 2)), np.dot(y, "
    "range(5))",
    "places in a line": "np.put(x, [0, -2], 7)\ny.put([1, 2, 0], [0.5, 1.5])\n"
    "np.put(A, [1, -1, 6], [7, 8])\nreturn x + 1",
    "one after the other": "np.place(A, A > 0, [0.25, 0.5, 0.75])\nnp.place(x, x < 0, 1.0)",
    "over and over again": "np.putmask(A, A < 0, [1.5, 2.5])\nnp.putmask(x, x > 0, y)",
    "again from the first": "return np.resize(x, (3, 4)), np.resize(A, 5), np.resize(y, (2, 2))",
    "without some places": "return np.delete(A, 5), np.delete(x, [1, 3, -1]), np.delete(A, [0, 2], "
    "axis=1)",
    "one more in a row": "return np.insert(A, 2, 0.5), np.insert(A, 11, 3)",
    "on a circle": "return np.interp(x * 9, y, np.cos(y), period=4.0), np.interp(0.7, y, y * y, "
    "period=1.5)",
    "between complex points": "return np.interp(x, np.sort(y), z[:, 0].sum() * y)",
    "to tens": "k = (x * 100).astype(np.int64)\nreturn np.around(k, -1), np.round(k, -2), "
    "k.round(-1)",
    "of both parts": "z.real = 0.5\nz[1:].imag = x[:3]\nz.imag[0] *= 2\nreturn z * 2",
    "operators by name": "import operator as op\nfrom functools import reduce\n"
    "return op.add(A, 1), op.lt(x, 0.5), op.neg(x), op.matmul(A, A.T), reduce(op.mul, (2, x, x))",
    "operators of numbers": "from operator import mod, floordiv, not_, abs as size, pow\n"
    "k = len(x)\nreturn mod(-k, 3), floordiv(k, 2), not_(k > 2), size(x[0]), pow(x[1], 2)",
    "rows of a table": "q = np.array([[np.sum((a - b) ** 2) for a in A] for b in A[1:]])\n"
    "return q, np.asarray([[i * j for j in range(20)] for i in range(len(x) + 12)])",
    "numbers beside a tuple": "t = (0.1, -0.5, 1.5)\n"
    "return (t == A[:, :3]).all(), A[0, :3] > t, (A.shape[0], 2) < (3, A.shape[1])",
    "lengths of vectors": "from numpy.linalg import norm, vector_norm, matrix_norm\n"
    "return norm(x, 3), norm(A, 0, axis=1), norm(x, 0.5), norm(x, -2), vector_norm(A), "
    "vector_norm(B, axis=1), matrix_norm(B), matrix_norm(A, ord=1), vector_norm(z[0], ord=1)",
    "places as Python finds them": "import bisect\nq = np.sort(x)\n"
    "return bisect.bisect_left(q, 0.3), bisect.bisect(q, x[2]), bisect.bisect_right(q, 9)",
    "a function of each item": "f = lambda v: v * v if v > 0 else -v\n"
    "return list(map(f, x)), sum(map(f, y)), np.array(list(map(lambda u, v: u + v[0], x, B[0]))), "
    "max(map(f, x)), any(map(lambda v: v > 1.5, x))",
    "in a loop": "s = 0.0\nfor v, w in zip(map(abs, x), y):\n    s = s * 0.5 + v - w\nreturn s",
    "products of some": "return A.prod(axis=0, dtype=np.float64), np.prod(A, initial=2.0), "
    "np.prod(A, axis=1, where=A > 0), x.prod(keepdims=True)",
    "means of some": "return np.mean(A, where=A > 0), A.mean(axis=0, where=A[0] > -9)",
    "common divisors": "k = (A * 9).astype(np.int64)\nreturn np.gcd(k, 6), np.lcm(k[0], k[1])",
    "steps with ends": "return np.ediff1d(x, to_end=1.0), np.ediff1d(A, [2.0, 3.0], to_begin=0.5)",
    "one array of a grid": "g = np.mgrid[0:3, 0:4]\ni, j = np.mgrid[1:3, 0:2]\n"
    "return g, i * j, np.mgrid[0:5], np.mgrid[0:1:3j, 0:2:5j].sum(0)",
    "a row or a number": "C = np.ones_like(A)\nfor i in range(A.shape[0]):\n    s = A[i].sum()\n"
    "    C[i] = A[i] / s if s > 0 else 0.0\n    C[i, 1:3] = -1 if s < 0.5 else C[i, :2]\nreturn C",
    "diagonals of cubes": "c = np.ones((3, 3, 3))\nnp.fill_diagonal(c, 0.5)\nreturn c",
}


INDICES = {
    "by a name imported here": "from numpy import newaxis as new\nreturn x[:, new] + y[new]",
    "by a list of one place": "return A[k], (2 * A)[k], A[:, k], A[k, k]",
    "by a tuple beside a number": "t = (0, 2)\nreturn A[1, t], A[t], A[:, t]",
    "by a list that has a name": "t = [0, 2]\nreturn A[t], A[1, t], x[t]",
}


def test_another_type_is_no_rounding() -> None:
    func = function(
        "return np.float_power(x, x), np.float_power(x, 2), np.float_power(k, 3)", "x, k"
    )
    line = abs(X).astype(np.float32)
    for one, other in zip(func(line, 3), loopbook.native(strict=True)(func)(line, 3), strict=True):
        assert one.dtype == other.dtype == np.float64
        assert np.allclose(one, other, rtol=1e-13)
    both = loopbook.native(strict=True)(
        function("return np.logaddexp(s, 2.0), np.logaddexp(x, s)", "x, s")
    )
    assert type(both(X, 0.5)[0]) is np.float64


def test_a_circle_is_gone_round_in_64_bits() -> None:
    places, wanted = (data(40, seed=n).astype(np.float32) * 30 for n in (1, 2))
    func = function("return np.interp(w, p, p, period=-4.0)", "w, p")
    got = loopbook.native(strict=True)(func)(wanted, places)
    assert np.allclose(got, func(wanted, places), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_numbers_that_are_computed_are_counted(dtype: type) -> None:
    func = function("return np.bincount(k + 1), np.bincount(k * 2, w)", "k, w")
    for last in (1, 2, 3, 4):
        k = np.array([0, 1, last, 0, 1], dtype)
        expected, got = func(k, Y), loopbook.native(strict=True)(func)(k, Y)
        for one, other in zip(expected, got, strict=True):
            assert one.shape == other.shape
            assert np.allclose(one, other)


@pytest.mark.parametrize("body", INDICES.values(), ids=INDICES)
def test_places_are_named(body: str) -> None:
    func = function(body, "A, x, y, k")
    expected = func(A, X, Y, [1])
    got = loopbook.native(strict=True)(func)(A, X, Y, [1])
    for one, other in zip(flat(expected), flat(got), strict=True):
        assert one.shape == other.shape
        assert np.array_equal(one, other)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_such_a_call_becomes_loops(body: str) -> None:
    check(function(body, "A, B, x, y, z"), A, B, X, Y, Z)


INFINITE = np.array([1.0, np.inf, np.nan, 2.0, -np.inf])
COMPLEX = np.array([[complex(a, b) for a in INFINITE] for b in INFINITE])


def test_complex_numbers_may_be_infinite() -> None:
    check(function("return np.isinf(z), np.isnan(z), np.isfinite(z)", "z"), COMPLEX)
    tests = "return np.isposinf(s), np.isneginf(s), np.isposinf(x)"
    check(function(tests, "s, x"), -np.inf, INFINITE)


@pytest.mark.parametrize("name", ["sinh", "cosh", "tanh", "tan", "log10", "log2"])
def test_functions_of_complex_numbers(name: str) -> None:
    func = function(f"return np.{name}(z), np.{name}(z[0] * 1e-9), np.{name}(w)", "z, w")
    wide = np.array([[300.0 + 1j, 1.0 - 300j], [0.5 + np.pi / 2 * 1j, -40.0 + 0.1j]])
    check(func, Z, wide)


ORDER = "return (a, b) {0} (c, d), (1, a) {0} (1, c, d), [a, b] {0} [c], (a, (b,)) {0} (a, (d,))"


@pytest.mark.parametrize("symbol", ["<", "<=", ">", ">=", "==", "!="])
def test_tuples_are_compared_from_the_first_item_on(symbol: str) -> None:
    func = function(ORDER.format(symbol), "a, b, c, d")
    compiled = loopbook.native(strict=True)(func)
    for args in ((1, 2, 1, 3), (1, 2, 1, 2), (2, 2, 1, 3), (0, 5, 1, -3), (1, 4, 1, 3)):
        assert compiled(*args) == func(*args)


def test_a_tuple_is_no_number() -> None:
    func = function("return x.shape == k, (1, 2) != 3, x.shape == None, (0.5, k) == x[0]", "x, k")
    expected, got = func(X, 7), loopbook.native(strict=True)(func)(X, 7)
    assert got[:3] == expected[:3] == (False, True, False)
    assert np.array_equal(got[3], expected[3])


STEPS = """\
t = np.arange({})
y = np.zeros(len(t))
for i in range(len(t)):
    y[i] = np.cos(t[i])
return t, y
"""


@pytest.mark.parametrize("ends", ["0.0, end, dt", "end", "1, end, dt", "end, 0.0, -dt"])
def test_the_number_of_steps_follows_from_floats(ends: str) -> None:
    func = function(STEPS.format(ends), "end, dt")
    compiled = loopbook.native(strict=True)(func)
    for end, dt in ((2.0, 0.25), (1.0, 0.1), (3.3, 0.3), (1.2, 0.4), (-1.0, 0.25), (900.0, 0.7)):
        for one, other in zip(func(end, dt), compiled(end, dt), strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            assert np.allclose(one, other, rtol=1e-13, atol=1e-13)


@pytest.mark.filterwarnings("ignore::loopbook.errors.InterpretedWarning")
def test_no_number_of_steps_leads_to_no_end() -> None:
    compiled = loopbook.native(function("return np.arange(x[0], x[1], x[2]) * 2.0", "x"))
    compiled(np.array([0.0, 1.0, 0.3]))
    with pytest.raises(ValueError, match="length"):
        compiled(np.array([0.0, np.nan, 0.3]))


NUMPYS = ("fix(s)", "fix(n)", "dot(s, 2)", "inner(n, 3)", "round(s, 1)", "clip(n, 0, 2)", "max(n)")


@pytest.mark.parametrize("call", [*NUMPYS, "ptp(s)", "angle(n)", "imag(s)", "imag(n)", "min(s)"])
def test_numpys_functions_give_numpys_numbers(call: str) -> None:
    func = function(f"return np.{call}", "s, n")
    expected, got = func(2.75, 3), loopbook.native(strict=True)(func)(2.75, 3)
    assert (type(got), got) == (type(expected), expected)


@pytest.mark.parametrize("text", ["1.5, 0", "[]", "None", "x.shape", "'none'"])
def test_nothing_is_computed(text: str) -> None:
    func = function(f"return {text}", "x")
    assert loopbook.native(func)(Y) == func(Y)


def test_a_constant_is_a_result() -> None:
    func = function("return x * 2, 'done', np.pi, True", "x")
    got = loopbook.native(strict=True)(func)(Y)
    assert got[1:] == ("done", np.pi, True)
    assert np.array_equal(got[0], Y * 2)


MADE = "np.arange(n)[1], np.arange(10).reshape(5, 2)[k, k] * 2, np.indices((n, n))[1, k, k]"


def test_numbers_out_of_what_was_made_are_numpys() -> None:
    func = function(f"return {MADE}", "n, k")
    expected, got = func(3, 1), loopbook.native(strict=True)(func)(3, 1)
    assert [*map(type, got)] == [*map(type, expected)]
    assert got == expected
    narrow = function("return x * np.arange(5)[k], x * np.linspace(0, 1, 5)[k]", "x, k")
    check(narrow, X.astype(np.float32), 2)


def test_a_copy_of_a_number_is_an_array() -> None:
    func = function("return np.copy(n), np.unravel_index(n, (2, 3))", "n")
    copy, (row, column) = loopbook.native(strict=True)(func)(4)
    assert (type(copy), copy.shape, copy) == (np.ndarray, (), 4)
    assert type(row) is type(column) is np.int64
    assert (row, column) == (1, 1)
