"""Indices from data that seldom count from the end, told to clang where that is a store's."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook

PLACES = np.array([3, -1, 0, -4, 3, 2])


def counted(places, found):
    for i in range(places.shape[0]):
        found[places[i]] += 1.0


def gathered(places, found):
    for i in range(places.shape[0]):
        found[i] = 2.0 * i + places[places[i]]


def stepped(places, found):
    """What is negative in it is no index."""
    for i in range(places.shape[0]):
        k = places[i]
        if k < 0:
            k = k + 4
        found[i] += k


@pytest.mark.parametrize(
    ("function", "told"), [(counted, True), (gathered, False), (stepped, False)]
)
def test_a_store_at_an_index_waits_for_no_choice(function, told, tmp_path):
    found, expected = np.zeros(6), np.zeros(6)
    program = loopbook.native(function, strict=True)
    program.compile(PLACES, found, output_folder=tmp_path)
    program(PLACES, found)
    function(PLACES, expected)
    np.testing.assert_array_equal(found, expected)
    sources = [path.read_text() for path in tmp_path.rglob("*.cpp")]
    assert any("__builtin_expect" in source for source in sources) == told


def nearest(key, done, out):
    for t in range(out.shape[0]):
        at = -1
        least = 1e19
        for i in range(key.shape[0]):
            if done[i] == 0 and key[i] < least:
                least = key[i]
                at = i
        out[t] = at


def least_of_rows(A, out):
    for i in range(A.shape[0]):
        least = A[i, 0]
        at = 0
        for j in range(A.shape[1]):
            if A[i, j] < least:
                least = A[i, j]
                at = j
        out[i] = least + at


def least_alone(A, out):
    for i in range(A.shape[0]):
        least = A[i, 0]
        for j in range(A.shape[1]):
            if A[i, j] < least:
                least = A[i, j]
        out[i] = least


def two_of_each(A, out):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            a = 0.0
            b = 1.0
            if A[i, j] > 0.5:
                a = 2.0 * A[i, j]
                b = A[i, j]
            out[i] += a * b


def spanning(W, key, done):
    total = 0.0
    for _ in range(key.shape[0]):
        at = -1
        least = 1e19
        for i in range(key.shape[0]):
            if done[i] == 0 and key[i] < least:
                least = key[i]
                at = i
        done[at] = 1
        total += least
        for i in range(key.shape[0]):
            if done[i] == 0 and W[at, i] < key[i]:
                key[i] = W[at, i]
    return total


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (nearest, True),
        (least_of_rows, True),
        (least_alone, False),
        (two_of_each, False),
        (spanning, True),
    ],
)
def test_an_extreme_and_its_place_are_seldom_found(function, told, tmp_path):
    def arguments(n):
        numbers = np.random.default_rng(n)
        if function is nearest:
            return numbers.random(n), numbers.integers(0, 2, n), np.zeros(3, np.int64)
        if function is spanning:
            return numbers.random((n, n)), numbers.random(n), np.zeros(n, np.int64)
        return numbers.random((5, n)), np.zeros(5)

    program = loopbook.native(function, strict=True)
    program.compile(*arguments(40), output_folder=tmp_path)
    for n in (40, 41, 2):
        got, expected = arguments(n), arguments(n)
        assert program(*got) == function(*expected)
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14)
    sources = [path.read_text() for path in tmp_path.rglob("*.cpp")]
    assert any("__builtin_expect" in source for source in sources) == told


def test_cells_are_scalars_where_docc_is_done(tmp_path):
    program = loopbook.native(spanning, strict=True)
    args = np.ones((30, 30)), np.ones(30), np.zeros(30, np.int64)
    program.compile(*args, output_folder=tmp_path)
    assert all("malloc" not in path.read_text() for path in tmp_path.rglob("*.cpp"))
