"""Remainders divide once, and are Python's for all that 64 bits hold."""

from __future__ import annotations

import numpy as np
import pytest
from sdfg_kit import check_recipe, prepared_text

from loopbook.sdfg.build import build_tuned

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
NUMBERS = np.array(
    [0, 1, -1, 2, -7, 9, 5, -5, 2**62, -(2**62), 2**62 + 3, LEAST + 1, MOST, MOST - 1]
)


def by_each_other(a, b, o):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            o[i, j] = a[i] % b[j]


def by_numbers(a, o):
    for i in range(a.shape[0]):
        o[i, 0] = a[i] % 7
        o[i, 1] = a[i] % -7
        o[i, 2] = (3 * (a[i] % 1000) + 1) % 64
        o[i, 3] = a[i] % 9223372036854775807


def narrow(a, b, o):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            o[i, j] = a[i] % b[j]


def euclid(a, b, o):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            x = a[i]
            y = b[j]
            while y != 0:
                t = x % y
                x = y
                y = t
            o[i, j] = x


def _table(dtype=np.int64):
    a = NUMBERS.astype(dtype)
    b = a[a != 0]
    return [a, b, np.zeros((len(a), len(b)), dtype)]


@pytest.mark.parametrize("kernel", [by_each_other, euclid])
def test_remainders_are_pythons(kernel, tmp_path):
    check_recipe(kernel, [_table()], [], tmp_path)


def test_remainders_by_numbers_are_pythons(tmp_path):
    check_recipe(by_numbers, [[NUMBERS, np.zeros((len(NUMBERS), 4), np.int64)]], [], tmp_path)


def test_narrow_numbers_are_left_to_docc(tmp_path):
    a = np.array([0, 1, -1, 5, -5, 100, -100], np.int32)
    b = a[a != 0]
    check_recipe(narrow, [[a, b, np.zeros((len(a), len(b)), np.int32)]], [], tmp_path)


def test_one_division_is_left(tmp_path):
    text = prepared_text(by_each_other, _table())
    built = build_tuned(text, "sequential", {}, tmp_path)
    (source,) = built.library.parent.rglob("*.cpp")
    assert source.read_text().count(" % ") == 1
