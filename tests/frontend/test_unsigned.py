"""Unsigned numbers of 64 bits: hashes, random numbers, bits; loops have them as signed words."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.errors import LoweringError
from loopbook.frontend import lower
from loopbook.frontend.lowered import SupposedError

from .kit import check, function

BODIES = [
    "return x + y, x * y, x - y, x ^ y, x & y, x | y, ~x",
    "return x >> np.uint64(3), x << np.uint64(5), x >> (y & np.uint64(63)), x << y % np.uint64(70)",
    "return x // y, x % y, x // np.uint64(10), x % np.uint64(1000000007), x % np.uint64(64)",
    "return x // np.uint64(2**63 + 5), x % np.uint64(2**63), x // np.uint64(8)",
    "return x < y, x >= y, x == y, (x > y).sum(), x < 5, x >= np.uint64(2**63), np.uint64(7) > x",
    "return np.maximum(x, y), np.where(x > y, x, y), x.sum(), x.max(), np.uint64(2**63 + 1) <= x",
    "return x.astype(float), x / y, x * 0.5, np.sqrt(x), x.astype(np.uint32), x.astype(np.int64)",
    "return (x >> np.uint64(11)) * (1.0 / 9007199254740992.0), x.astype(float).astype(np.uint64)",
    "h = np.uint64(14695981039346656037)\nfor v in x:\n    h = (h ^ v) * np.uint64(1099511628211)\n"
    "return h",
    "s = np.uint64(88172645463325252)\no = np.zeros(len(x), np.uint64)\nfor i in range(len(x)):\n"
    "    s ^= s << np.uint64(13)\n    s ^= s >> np.uint64(7)\n    s ^= s << np.uint64(17)\n"
    "    o[i] = s\nreturn o, s, s % np.uint64(10)",
    "x[:] = x * np.uint64(6364136223846793005) + np.uint64(1)\ny += x\nx[::2] = 7",
    "k = 0\nfor v in x:\n    while v:\n        v &= v - np.uint64(1)\n        k += 1\nreturn k",
    "return [int(v >> np.uint64(1)) for v in x][0], np.uint64(len(x)) * x[0]",
]


def numbers(n):
    rng = np.random.default_rng(n)
    x, y = (rng.integers(0, 2**64, n, dtype=np.uint64) for _ in range(2))
    x[0], x[1], x[-1], y[0], y[2], y[3] = 2**63, 5, 2**64 - 1, 3, 1, x[3]
    return x, y


@pytest.mark.parametrize("body", BODIES)
def test_words_have_the_same_bits(body):
    check(function(body, "x, y"), *numbers(9))


def test_numbers_that_are_passed():
    kernel = function("return x ^ s, np.uint64(n) * s, s >> np.uint64(63)", "x, s, n")
    for s in (np.uint64(2**64 - 3), np.uint64(4)):
        check(kernel, numbers(6)[0], s, 11)


def test_what_is_none_of_pythons_words_is_left_to_python():
    lowered = lower(function("return int(x[0])", "x"), [numbers(6)[1]])
    assert lowered is not None
    assert lowered.plain(numbers(6)[1]) == 3
    with pytest.raises(SupposedError):
        lowered.plain(numbers(6)[0])


@pytest.mark.parametrize("body", ["return np.sort(x)", "return x.argmax()", "return x > y"])
def test_what_would_compare_them_as_signed_words_is_refused(body):
    x, _ = numbers(6)
    with pytest.raises(LoweringError, match="uint64"):
        lower(function(body, "x, y"), [x, np.arange(6)])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint32, np.int32])
def test_tests_and_sizes_are_computed_of_whole_numbers_that_do_not_wrap_around(dtype):
    """Of 200 doubled there are 400 elements, in front of the loops too; 5 - 8 is less than 0."""
    last = min(int(np.iinfo(dtype).max), 200)

    def chosen(n, x):
        return x.sum() if n > 3 else x[0] * 3

    def doubled(n, x):
        y = np.ones(n.astype(np.int64) * 2)
        y[: len(x)] = x
        return y

    x = np.arange(8.0)
    for func in (chosen, doubled):
        program = loopbook.native(func)
        for number in (4, 7, 2, 5, last):
            if func is chosen or number > 3:
                found, wanted = program(dtype(number), x), func(dtype(number), x)
                np.testing.assert_array_equal(found, wanted)
