"""np.roll by small distances: places in one copy with a halo, as long as its array is the same."""

from __future__ import annotations

import numpy as np
import pytest

from .kit import check, data, function

BODIES = [
    "return np.roll(A, 1, 0) + np.roll(A, -1, 0) - np.roll(A, (1, -2), (0, 1))",
    "return sum(np.roll(np.roll(A, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1))",
    "r = np.roll(x, 1)\nr[0] = 0\nx[0] = 9.0\nreturn r, np.roll(x, 1), np.roll(r, 2)",
    "r = np.roll(x, -1)\nx[1] = 7.0\nq = np.roll(x, -1)\nx[2] = 5.0\nreturn r - q * np.roll(x, 1)",
    "for t in range(3):\n    x = x - s * (np.roll(x, 1) - np.roll(x, -1))\nreturn x",
    "for t in range(3):\n    if t:\n        y += np.roll(x, 1)\n    y -= np.roll(x, 1)\n    x *= 2",
    "for t in range(3):\n    x[:] = np.roll(x, 1) + np.roll(np.roll(x, 1), 1)",
    "return np.roll(np.roll(np.roll(x, 2), 2), -3), np.roll(A[::2, 1:3], 1, 1), np.roll(A, 1)",
    "return np.roll(A.T, 1, 0) * np.roll(A.T, 1, 1), np.roll(A > 0, -1, 1), np.roll(y + 1j * x, 1)",
    "r = np.roll(A, 1, 0)\nA[1] = 0\nreturn np.roll(r, 1, 1) + r, np.roll(A, 1, 0)",
]


@pytest.mark.parametrize("body", BODIES)
def test_it_gives_the_same(body):
    check(function(body), data(6, 5), data(3, 3), data(5), data(5, seed=1), 0.5)


@pytest.mark.parametrize("size", [1, 2])
def test_in_short_arrays(size):
    body = "return np.roll(x, 1) + np.roll(x, -2), np.roll(x, 2) - np.roll(x, 0)"
    check(function(body, "x"), data(size))


def test_neighbours_come_from_one_copy():
    lowered = check(function(BODIES[1], "A"), np.arange(12).reshape(4, 3) % 3)
    assert [name for name in lowered.temporaries if name.startswith("halo")] == ["halo_0", "halo_1"]
    assert len(lowered.temporaries) == 3


def test_an_array_may_say_how_far_and_one_number_for_all_axes():
    moves = np.array([[0, 0], [1, 0], [0, -2]])

    def along_both(A, s):
        for k in range(3):
            A = np.roll(A, moves[k], axis=(0, 1)) + k
        return A, np.roll(A, s, axis=(0, 1)), np.roll(A, 1, axis=(0, 1))

    check(along_both, data(4, 5), np.array([3, 1]))
