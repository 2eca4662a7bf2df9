"""Arrays whose sizes floats among the arguments give: as many steps as there are in a time."""

from __future__ import annotations

import numpy as np
import pytest

import loopbook
from loopbook.frontend import lower

from .kit import check, data, function


def decay(T, dt):
    n = int(np.ceil(T / dt)) + 1
    x, y = np.zeros((n, 2)), np.empty(n)
    x[0, 1] = 3.0
    for i in range(n - 1):
        x[i + 1] = x[i] * (1 - dt)
        y[i + 1] = x[i, 1]
    y[0] = 1.0
    return x, y


def steps(T, dt):
    t = np.arange(0.0, T + dt, dt)
    x = np.zeros_like(t)
    for i in range(1, len(t)):
        x[i] = x[i - 1] + dt * np.sin(t[i - 1])
    return t, x


def of_data(x, dt):
    return np.arange(0, x.max(), dt) * 2


def window(s):
    return np.exp(-(np.arange(-3 * s, 3 * s + 1) ** 2) / (2 * s * s))


named = function(
    "whole = np.arange(1, stop=n), np.arange(start=0, stop=n, step=2), np.arange(n, step=2)\n"
    "return *whole, np.arange(0, n, 3, np.float32), np.arange(n, None), np.arange(2, n)",
    "n",
)


def known():
    return np.arange(0, 1, 0.1), np.arange(5.0, 1.0, -0.7), np.arange(0.5, 4, dtype=np.float32)


CALLS = [(1.0, 0.01), (1.0, 0.3), (0.2, 0.3), (2, 0.5), (3.0, 1)]


@pytest.mark.parametrize("args", CALLS)
def test_sizes_follow_from_floats(args):
    for func in (decay, steps):
        check(func, *args)


def test_other_arrays_from_arange():
    check(of_data, np.linspace(0, 3, 50), 0.1)
    for s in (2.5, 1, 0.75):
        check(window, s)
    for n in (10, 7):
        check(named, n)
    check(known)


def test_there_is_room_for_all_and_no_more():
    """In one compiled function, for whatever number of steps."""
    for func in (decay, steps):
        program = loopbook.native(func, strict=True)
        lowered = lower(func, (1.0, 0.1))
        assert lowered is not None
        around = lowered.wrap(lowered.kernel)  # without Python to fall back on
        for args in ((1.0, 0.1), (30.0, 0.001), (0.5, 0.2), (100.0, 0.001)):
            for found, wanted in zip(program(*args), func(*args), strict=True):
                assert found.shape == wanted.shape
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-14)
        around(30.0, 0.001)


@pytest.mark.filterwarnings("ignore::loopbook.errors.InterpretedWarning")
def test_sizes_that_are_none_raise_as_in_python():
    def stepped(T, dt):
        x = np.zeros(int(T / dt))
        x[1:] = dt
        return x

    program = loopbook.native(stepped)
    assert len(program(1.0, 0.1)) == 10
    for args, error in (
        ((-1.0, 0.1), ValueError),
        ((1.0, 0.0), ZeroDivisionError),
        ((np.nan, 1.0), ValueError),
        ((np.inf, 1.0), OverflowError),
    ):
        with pytest.raises(error):
            program(*args)


def test_as_many_as_the_greatest_of_an_argument_says():
    """What they are the sizes of has rows that lie close together."""
    body = """k = i.max() + 1
means = np.zeros((k, 2))
for c in range(k):
    means[c] = A[i == c].mean(axis=0)
far = np.abs(A[:, None] - means[None]).sum(axis=-1)
return far.argmin(axis=1), means"""
    places = np.arange(12) % 3
    lowered = check(function(body, "A, i"), data(12, 2), places)
    sizes = [text for name, text in lowered.definitions if name.startswith("size_")]
    assert any("i.max(" in text for text in sizes)
    largest = [shape for _, shape, _ in lowered.allocations]
    assert all(np.prod(eval(shape, {"A": data(12, 2), "size_0": 20})) < 1000 for shape in largest)
    more = np.arange(12)
    assert np.array_equal(lowered.plain(data(12, 2), more)[0], more)
    later = "i += 40\nk = i.max() + 1\nreturn np.ones(k)"
    check(function(later, "A, i"), data(12, 2), places)


def test_rows_as_long_as_only_the_loops_find_out_have_room_for_all_rows():
    """Together: many rows have the room that few have, and lie side by side in the result."""
    body = """lens = np.diff(i)
rows = np.zeros((len(lens), lens.max()))
for r in range(len(lens)):
    rows[r, : lens[r]] = 1.5 * r
return rows"""
    ragged = function(body, "i")
    for count, longest in ((7, 40), (50_000, 3)):
        lens = np.arange(count) % longest + 1
        ends = np.concatenate([[0], np.cumsum(lens)])
        lowered = check(ragged, ends)
        assert lowered.failed
        around = lowered.wrap(lowered.plain_kernel)  # without Python to fall back on
        assert around(ends).flags.c_contiguous
