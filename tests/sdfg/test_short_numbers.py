"""Words that cannot be more than 32 bits hold, as numbers of 32 bits."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import prepared_text

from loopbook import native
from loopbook.program.json_text import loaded
from loopbook.program.read import read
from loopbook.program.types import Scalar
from loopbook.sdfg.narrow import narrowed, with_narrow
from loopbook.sdfg.short_numbers import in_short_numbers

TYPES = (np.uint8, np.int8, np.uint16, np.int16)


def edges(x, y, n):
    for i in range(1, x.shape[0] - 1):
        a = int(x[i + 1]) - 2 * int(x[i]) + int(x[i - 1])
        b = int(x[i + 1]) - int(x[i - 1])
        y[i] = min(abs(a) + abs(b), 100)


def weighed(x, y, n):
    for i in range(x.shape[0] - 2):
        y[i] = (66 * int(x[i]) - 129 * int(x[i + 1]) + 25 * int(x[i + 2]) + 128) >> 8 & 127


def counted(x, y, n):
    for i in range(x.shape[0]):
        y[int(x[i]) & 15] += 1


def large(x, y, n):
    for i in range(x.shape[0]):
        a = int(x[i]) * int(x[i])
        b = a * a
        y[i] = (b * a >> 41) & 15


def shifted_far(x, y, n):
    for i in range(x.shape[0]):
        y[i] = ((int(x[i]) + 3) >> 40) & 15


def rounded_down(x, y, n):
    for i in range(x.shape[0] - 1):
        y[i] = ((int(x[i]) - int(x[i + 1])) // 3) & 63


def shifted_by_data(x, y, n):
    for i in range(x.shape[0] - 1):
        y[i] = ((int(x[i]) - int(x[i + 1])) >> (int(x[i]) & 63)) & 63


def added_up(x, y, n):
    s = 0
    for i in range(x.shape[0]):
        s += int(x[i]) * 70000
        y[i] = (s >> 20) & 15


def with_a_word(x, y, n):
    for i in range(x.shape[0]):
        y[i] = (int(x[i]) * n + (int(x[i]) - 5) * 30000 // 7) & 15


def asked(x, y, n):
    for i in range(x.shape[0]):
        a = int(x[i])
        if a * a * a > 3 * 10**9 and a * 10**7 != 8:
            y[i] = 1


KERNELS = (
    edges,
    weighed,
    counted,
    large,
    shifted_far,
    rounded_down,
    shifted_by_data,
    added_up,
    with_a_word,
    asked,
)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_numbers_are_python_s(kernel, dtype):
    limits = np.iinfo(dtype)
    for size in (3, 40, 333):
        x = np.random.default_rng(size).integers(limits.min, limits.max, size, dtype, endpoint=True)
        x[-1], x[0] = limits.max, limits.min
        expected, got = (np.zeros(max(size, 16), dtype) for _ in range(2))
        kernel(x, expected, 10**12)
        native(kernel, strict=True)(x, got, 10**12)
        np.testing.assert_array_equal(got, expected)


def _short(kernel, kind="uint8"):
    arrays = np.ones(9, int), np.ones(9, int)
    text = with_narrow(prepared_text(kernel, [*arrays, 3]), {0: kind, 1: kind})
    program = in_short_numbers(narrowed(read(loaded(text))))
    return [name for name, known in program.containers.items() if known == Scalar("int32")]


def squared(x, y, n):
    for i in range(x.shape[0]):
        a = x[i]
        b = a * a
        y[i] = b >> 3


def multiplied(x, y, n):
    for i in range(x.shape[0]):
        a = x[i]
        b = a * a
        y[i] = b * a >> 3


def test_what_cannot_be_large_is_short():
    assert _short(squared)
    assert _short(squared, "int16")
    assert not _short(multiplied, "int16")
    assert not _short(squared, "uint32")
