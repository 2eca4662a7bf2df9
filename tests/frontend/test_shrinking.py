"""Arrays that lose elements at both ends in each round: the same sizes, written otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from .kit import agree, check, data, flat, function

BODIES = [
    "for i in range(n):\n    x = s * x[1:] + (1 - s) * x[:-1]\nreturn x",
    "for i in range(n):\n    x = x[2:] - x[:-2]\nreturn x",
    "for i in range(n):\n    x = x[1:-1] * 2 - x[2:] - x[:-2]\nreturn x",
    "t = 0.0\nwhile x.size > 1:\n    x = x[1:] - x[:-1]\n    t += x.sum()\nreturn x, t",
]


@pytest.mark.parametrize("body", BODIES)
def test_sizes_are_the_same_to_the_last_element(body):
    kernel = function(body, "x, s, n")
    lowered = check(kernel, data(9), 0.3, 3)
    assert not lowered.failed  # nothing is supposed of them
    for size in range(8):
        for rounds in range(6):
            expected = kernel(data(size), 0.3, rounds)
            agree(flat(expected), flat(lowered.plain(data(size), 0.3, rounds)))


def test_rows_are_lost_too():
    body = "for i in range(A.shape[0] - 1):\n    A = (1 - s) * A[:-1] + s * A[1:]\nreturn A[0]"
    kernel = function(body, "A, s")
    lowered = check(kernel, data(5, 2), 0.25)
    for size in range(1, 7):
        np.testing.assert_allclose(
            lowered.plain(data(size, 2), 0.25), kernel(data(size, 2), 0.25), rtol=1e-12
        )
