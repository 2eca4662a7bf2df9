"""Loops that call a function which changes its arguments and gives them back."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import agree, check, data, flat


def _step(u, v, dt=0.1):
    u[0] = v[-1]
    u[1:] += dt * v[:-1]
    v -= dt * u
    return u, v


def _grown(u, rate):
    if rate > 0:
        u[1:] += rate
        return u
    return u * rate


def _to_and_fro(u, n):
    v = np.zeros_like(u)
    for _ in range(n):
        u, v = _step(u, v)
    return v


def _known_twice(n):
    first = np.ones(n)
    second = first
    total = 0.0
    for k in range(4):
        (first, other) = _step(first, np.full(n, 0.5 * k), dt=0.2)
        total = total + second[1] + other[0]
    return first, second, total


def _until(u, most):
    v = u.copy()
    while u.sum() < most:
        u, v = _step(u, v)
        if u[0] > 2.0:
            u, v = _step(u, v, 0.5)
    return u.max()


@pytest.mark.parametrize(
    ("func", "args"),
    [(_to_and_fro, (data(9), 5)), (_known_twice, (8,)), (_until, (abs(data(7)) + 1.0, 40.0))],
)
def test_an_array_that_comes_back_is_the_same(func, args) -> None:
    check(func, *args)
    copies = [[a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2)]
    expected, got = func(*copies[0]), loopbook.native(strict=True)(func)(*copies[1])
    agree([*flat(expected), *copies[0]], [*flat(got), *copies[1]])


def _sometimes_another(u, n):
    for k in range(n):
        u = _grown(u, 1.5 - k)
    return u


def test_another_array_is_no_second_name_for_the_argument() -> None:
    with pytest.raises(LoweringError, match="second name"):
        lower(_sometimes_another, [data(5), 4])


def _always_another(u, n):
    for k in range(n):
        u = np.negative(_grown(u * 1.0, k))
    return u


def test_an_array_that_is_made_anew_lives_on_its_own() -> None:
    check(_always_another, data(5), 4)
