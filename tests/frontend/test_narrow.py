"""Whole numbers of 8 and 16 bits and unsigned ones: words in the kernel, NumPy's outside."""

from __future__ import annotations

import numpy as np
import pytest

from loopbook.client.variants.dispatch import Dispatcher
from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError
from loopbook.sdfg.build import build_baseline

from .kit import agree, as_docc, check, copied, data, flat, function

BODIES = (
    "y[:] = x + x",
    "y[:] = x * x - 3 * x",
    "y -= x",
    "return (x + y) // 2, x.sum(), y.max(), x.mean()",
    "return x - y > 3, x == y, np.diff(x)",
    "return -x, abs(x), ~x, x << 2, x >> 1, x >> (y & 7), x // 4, x % 4",
    "return A @ x, x @ y, np.outer(x, y)",
    "return x / (y | 1), np.where(x > y, x, y), np.clip(x, 3, 9)",
    "x[x > 5] = 7\nreturn x[x > 3], np.cumsum(x)",
    "t = x[0]\nfor i in range(x.shape[0]):\n    t += x[i]\n    t ^= y[i]\nreturn t",
    "return x // (y | 1), x % (y | 1), x**2, (x * 1.0 % 50).astype(np.int8)",
    "A[0] += x\nA[:, 1] *= 3\nreturn A.T, x[::-1], np.full(4, 7, x.dtype)",
    "return np.fmod(x, y), np.fmod(x, 7), np.fmod(x * 0.5, 3), np.fmod(x, x > 3)",
    "return sum(x), sum(v * v for v in x if v > 1), sum([v for v in x], 2), sum(x > y)",
    "return sum(x, 0.5), sum(int(v) for v in x)",
    "return sum(x, x[0]), sum(x[k] for k in range(1, 4)), sum([x, x, y])",
    "return x.astype(np.uint8), x.astype(np.int16), x & y, x | y, x ^ y",
    "return np.linalg.norm(x), np.linalg.norm(x, 1), np.linalg.norm(x, np.inf), np.unwrap(x & 63)",
)
TYPES = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.int64)


def arguments(dtype):
    """Numbers of the whole range, so that nearly everything wraps around."""
    limits, rng = np.iinfo(dtype), np.random.default_rng(0)
    shapes = ((5, 5), (5, 5), (5,), (5,))
    made = (rng.integers(limits.min, limits.max, s, np.int64, endpoint=True) for s in shapes)
    return [*(array.astype(dtype) for array in made), 3]


@pytest.mark.parametrize("dtype", TYPES)
def test_narrow_numbers_wrap_around_as_numpys(dtype):
    for body in BODIES:
        check(function(body), *arguments(dtype))


def test_the_kernel_is_given_words():
    lowered = check(function("y[:] = x + 1\nreturn x"), *arguments(np.uint8))
    prepared = lowered.prepare(*arguments(np.uint8))
    assert {a.dtype for a in prepared if isinstance(a, np.ndarray)} == {np.dtype(np.int64)}
    assert "x[...]" not in lowered.source  # only what was written is copied back
    assert "y[...]" in lowered.source


def test_compiled_narrow_numbers_are_numpys():
    def checksum(A, x, counts):
        total = 0xFFFF
        for b in x:
            total = (total ^ int(b)) & 0xFFFF
            total = ~(total >> 1) & 0xFFFF
        counts[x] += 1
        A[1:] += A[:-1] * 3
        signed = (A >> 1) + A // 8 + A % 16 - (A >> np.arange(A.shape[1])) + (A >> 70)
        return total, x + x, counts.sum(), signed

    _, _, x, _, _ = arguments(np.uint8)
    args = [arguments(np.int16)[0], x, np.zeros(256, np.uint32)]
    lowered = lower(checksum, copied(args))
    assert lowered is not None
    kernel = as_docc(lowered.kernel)
    kernel.compiled(lowered.prepare(*copied(args)))
    first, second = copied(args), copied(args)
    expected = checksum(*first)
    got = lowered.wrap(kernel)(*second)
    agree([*flat(expected), *first], [*flat(got), *second], lowered.source)


def test_compiled_numbers_wrap_around_before_they_are_compared_or_divided():
    def build(reading, args, folder):
        return [build_baseline(reading.text, "none", folder, vector_maths=True).library]

    def overflows(x, y):
        halves = (x + x) // 2, (x * x) % 7, (x << 4) >> 4, np.abs(x * 5) >> 3, -(x * 3) // 2
        tests = x + x > 0, x - y > 0, x + 1 > x, np.where(x * 3 > 0, x * 2, -x).astype(np.int64)
        return *halves, *tests, (x * x).sum(), np.argmax(x * 5), (x + y)[x + y > 0]

    for dtype in (np.int32, np.int64):
        limits = np.iinfo(dtype)
        args = [arguments(dtype)[2], arguments(dtype)[3]]
        args[0][:2], args[1][:2] = (limits.max, -limits.max), (-5, 7)
        lowered = lower(overflows, copied(args))
        assert lowered is not None
        kernel = Dispatcher(lowered.kernel, build, strict=True)
        with np.errstate(over="ignore"):
            expected = overflows(*copied(args))
        agree(flat(expected), flat(lowered.wrap(kernel)(*copied(args))), lowered.source)


ENDS = (
    "return x // y, x % y, np.fmod(x, y)",
    "return x // 7, x % 7, x // -3, x % -3, x // -1, x % -1, x // 8, x % 8",
    "return x << y, x >> y, x << 3, x << (y & 7), x >> (y & 15), x << 5 * 13, x >> 65",
    "return 99 >> (x & 31), 99 >> y",
    "for i in range(len(x)):\n    x[i] = (x[i] // y[i]) ^ (x[i] % y[i])\nreturn x, x << y[::-1]",
    "x //= y\ny %= x\nreturn x.sum()",
)


def ends(dtype, size):
    """Pairs of the numbers at which C++ and NumPy differ."""
    limits, bits = np.iinfo(dtype), 8 * np.dtype(dtype).itemsize
    numbers = [limits.min, limits.max, 0, 1, 3, -1, bits - 1, bits, bits + 1, 64, -2, -bits, 7]
    each = np.array([n for n in numbers if limits.min <= n <= limits.max], np.int64).astype(dtype)
    x, y = np.meshgrid(each, each)
    return x.ravel()[-size:], y.ravel()[-size:]


@pytest.mark.parametrize("body", ENDS)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_numbers_at_the_ends_are_divided_and_shifted_as_numpys(body, dtype):
    if "-1" in body and np.dtype(dtype).kind == "u":
        body = body.replace("-1", "1").replace("-3", "3")
    for size in (1, 2, 3, 8, 33, 99):
        check(function(body, "x, y"), *ends(dtype, size))


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
def test_compiled_numbers_at_the_ends_are_numpys(dtype):
    def divided(x, y):
        z = x.copy()
        z //= y
        for i in range(len(x)):
            z[i] ^= x[i] % y[i]
        return x // y, x % y, x // 7, x // -3, x // -1, x % -1, x << y, x >> y, z, np.fmod(x, y)

    args = ends(dtype, 99)
    lowered = lower(divided, copied(args))
    assert lowered is not None
    kernel = as_docc(lowered.kernel)
    with np.errstate(all="ignore"):
        expected = divided(*copied(args))
    agree(flat(expected), flat(lowered.wrap(kernel)(*copied(args))), lowered.source)


def test_compiled_numbers_of_python_have_all_their_bits():
    def products(x, y):
        total = 0
        for i in range(len(x)):
            u = x[i]
            total += int(x[i]) * int(y[i]) + int(u) * int(u)
        return total

    args = [arguments(np.int32)[2], arguments(np.int32)[3] // 8]
    lowered = lower(products, copied(args))
    assert lowered is not None
    kernel = as_docc(lowered.kernel)
    assert lowered.wrap(kernel)(*copied(args)) == products(*args)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32])
def test_pythons_numbers_that_have_no_room_are_numpys_to_refuse(dtype):
    body = "return x + k, k * x - 1, x > k"
    kernel, x = function(body, "x, k"), np.arange(5).astype(dtype)
    lowered = check(kernel, x, 3)
    most = int(np.iinfo(dtype).max)
    assert lowered.holds(x, most)
    assert not lowered.holds(x, most + 1)
    with pytest.raises(LoweringError, match="as "):
        lower(kernel, (x, most + 1))
    assert check(kernel, x.astype(float), 3).holds(x, most + 1)


def test_what_is_computed_as_another_type_does_not_wrap_around_at_its_own():
    body = """wide = np.add(x, y, dtype=np.int16), np.multiply(x, 2, dtype=np.float32)
np.subtract(x, y, out=z, dtype=int)
return (*wide, np.power(x, 2, dtype=np.int32), np.divide(z, y, dtype=np.float32), z)"""
    for dtype in (np.uint8, np.int8):
        x = np.array([0, 1, 100, 127, np.iinfo(dtype).max], dtype)
        check(function(body, "x, y, z"), x, x[::-1].copy(), np.zeros(5, int))
    with pytest.raises(LoweringError, match="computed as"):
        lower(function("return np.add(x, 1, dtype=int)", "x"), (data(3),))


@pytest.mark.parametrize(
    "text",
    ["x + 300", "x * 300", "x % -3", "x & -2", "300 - x", "x[0] + 300", "np.maximum(x, 300)"],
)
def test_pythons_numbers_without_room_in_a_type_are_left_to_python(text):
    x = np.array([1, 200], np.uint8)
    kernel = function(f"return {text}", "x")
    with pytest.raises(OverflowError):
        kernel(x)
    with pytest.raises(LoweringError, match="as uint8"):
        lower(kernel, (x,))
    check(function("return x > 300, x == -1", "x"), x)


def test_pythons_numbers_that_loops_compute_are_looked_at_beside_arrays():
    kernel = function("n = 0\nfor v in x:\n    if v > 9:\n        n += 100\nreturn x + n", "x")
    few, many = np.array([1, 2, 20], np.uint8), np.array([10, 20, 30], np.uint8)
    lowered = check(kernel, few)
    with pytest.raises(OverflowError):
        kernel(many)
    with pytest.raises(SupposedError):
        lowered.plain(many)
    check(function("n = 0\nfor i in range(3):\n    x += i\nreturn x", "x"), few)


def test_inverted_floats_are_left_to_python():
    with pytest.raises(LoweringError, match="no whole number"):
        lower(function("return ~x", "x"), (data(3),))
