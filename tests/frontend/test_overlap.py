"""What a loop nest writes, and whether it still has to read it."""

from __future__ import annotations

import pytest

from .kit import check, data, function

APART = (
    "A[1:-1:2, 1:-1:2] = A[:-2:2, 1:-1:2] + A[1:-1:2, 2::2]",
    "A[::2] += A[1::2]",
    "A[:, 1::2] -= 0.5 * A[:, :-1:2]",
    "A[1::4] = A[3::4]",
)

IN_THE_WAY = (
    "A[2::2] = A[:-2:2]",
    "A[1:] = A[:-1]",
    "A[3::3] = A[1:-2:2]",
    "for k in range(2):\n    A[2 * k + 1::4][:1] = A[1::4][:1] + A[1 + 2 * k::4][:1]",
)


@pytest.mark.parametrize("body", APART)
def test_even_and_odd_elements_need_no_copy(body):
    assert check(function(body), data(8, 8), *[data(8)] * 4).temporaries == ()


@pytest.mark.parametrize("body", IN_THE_WAY)
def test_others_are_copied_first(body):
    check(function(body), data(7, 7), *[data(7)] * 4)
