"""Calls that were made before take a short way, also to Python, and it leads where they led."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import loopbook
from loopbook.client.variants import cases
from loopbook.client.variants.compiled import Compiled
from loopbook.client.variants.dispatch import Dispatcher
from loopbook.client.variants.looped import Looped
from loopbook.errors import InterpretedWarning, SdfgError


def line() -> np.ndarray:
    return np.linspace(0.0, 1.0, 40)


@pytest.fixture
def long_ways(monkeypatch) -> list[int]:
    """How many calls took the long way, at place 0."""
    count = [0]
    whole = Dispatcher._long_way

    def counted(self: Any, *args: Any) -> Any:
        count[0] += 1
        return whole(self, *args)

    monkeypatch.setattr(Dispatcher, "_long_way", counted)
    return count


def shifted(x, by=2.0, how="up", bound=None):
    y = x + by if how == "up" else x - by
    return y if bound is None else np.minimum(y, bound)


CALLS = [(), (3.0,), (3.0, "down"), (3.0, "up", None), (3, "up", 0.5)]


def test_what_has_a_default_may_be_left_out_and_be_none_or_a_text(long_ways):
    program = loopbook.native(shifted, strict=True)
    for rest in CALLS:
        program(line(), *rest)
    long_ways[0] = 0
    for rest in [*CALLS, *CALLS]:
        np.testing.assert_allclose(program(line(), *rest), shifted(line(), *rest))
    assert long_ways[0] == 0


def test_arrays_may_lie_in_any_order(long_ways):
    def changed(x, y):
        x += 2.0 * y
        return x.sum()

    program = loopbook.native(changed, strict=True)
    for _ in range(3):
        ours, theirs = line(), line()
        got = program(ours[::-2], line()[:20])
        assert got == pytest.approx(changed(theirs[::-2], line()[:20]))
        np.testing.assert_allclose(ours, theirs)
    assert long_ways[0] == 1


def grid() -> np.ndarray:
    return np.arange(30.0).reshape(5, 6)


LAYOUTS = [
    lambda a: (a[:4:2, ::-1], a[4:, :].T[:, :1].T),
    lambda a: (a.T[1:3], grid().T[4:]),
    lambda a: (a[::-1], grid()[:, ::-1]),
    lambda a: (np.asfortranarray(a), a[:, :1]),
    lambda a: (a[1:3, 2:], a[3:, 1:5]),
]


@pytest.mark.parametrize("func", ["loops", "arrays"])
@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
def test_the_loops_take_it_too_where_arrays_lie_otherwise(layout, func, monkeypatch):
    def arrays(x, y):
        x += 2.0 * y
        return x.sum()

    def loops(x, y):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                x[i, j] = x[i, j] + 2.0 * y[i % y.shape[0], j % y.shape[1]]

    written = {"loops": loops, "arrays": arrays}[func]
    program, looked = loopbook.native(written, strict=True), [0]
    found = cases.Cases.variant

    def counted(self: Any, *args: Any) -> Any:
        looked[0] += 1
        return found(self, *args)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterpretedWarning)
        for time in range(4):
            if time == 2:
                monkeypatch.setattr(cases.Cases, "variant", counted)
            ours, theirs = grid(), grid()
            one, other = LAYOUTS[layout](ours), LAYOUTS[layout](theirs)
            assert program(*one) == pytest.approx(written(*other))
            np.testing.assert_allclose(ours, theirs)
            np.testing.assert_allclose(one[0], other[0])
    assert looked[0] == 0


def test_arrays_that_overlap_otherwise_than_before_are_looked_at_again():
    """An array that is written, and lies in another order, must not share elements."""

    def changed(x, y):
        x += 2.0 * y

    program = loopbook.native(changed, strict=True)
    for _ in range(3):
        program(grid()[:, ::2], grid()[:, ::2])
    ours, theirs = grid(), grid()
    program(ours[:, ::2], ours[:, 1::2])  # they lie within each other, and share nothing
    changed(theirs[:, ::2], theirs[:, 1::2])
    np.testing.assert_allclose(ours, theirs)
    with pytest.raises(SdfgError, match="overlap in part"):
        program(ours[:, :3][:, ::-1], ours[:, 2:5][:, ::-1])
    once = np.lib.stride_tricks.as_strided(np.ones(40), (5, 3), (0, 16))
    with pytest.raises(SdfgError, match="overlaps itself"):
        program(once, grid()[:, ::2])


def test_arrays_that_overlap_take_the_long_way():
    def changed(x, y):
        x += 2.0 * y

    program = loopbook.native(changed)
    program(line()[::2], line()[::2])
    ours, theirs = line(), line()
    with pytest.warns(InterpretedWarning, match="overlap"):
        program(ours[::2], ours[:20])
    changed(theirs[::2], theirs[:20])
    np.testing.assert_allclose(ours, theirs)


def test_what_runs_as_python_does_so_at_once(long_ways):
    def bits(x, n=1):
        return np.unpackbits(x) * n

    program = loopbook.native(bits)
    x = np.arange(5, dtype=np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterpretedWarning)
        for n in (2, 2, 2, 2, 3):
            np.testing.assert_array_equal(program(x, n), bits(x, n))
    assert long_ways[0] == 3  # the third one for another number


@pytest.mark.filterwarnings("ignore::loopbook.errors.InterpretedWarning")
def test_what_a_loop_calls_as_python_with_other_numbers_each_time_does_so_at_once(long_ways):
    def named(x, n):
        return {str(x): n}

    program = loopbook.native(named)
    for i in range(40):
        program(0.1 * i, i)
    long_ways[0] = 0
    for i in range(40, 60):
        assert program(0.1 * i, i) == named(0.1 * i, i)
    assert long_ways[0] == 0


@pytest.mark.filterwarnings("ignore::loopbook.errors.InterpretedWarning")
def test_numbers_that_can_be_compiled_stay_so_among_many_that_cannot(long_ways):
    def steps(T, dt):
        x = np.zeros(int(T / dt))
        x[1:] = dt
        return x.sum()

    program = loopbook.native(steps)
    program(1.0, 0.125)
    for i in range(40):
        with pytest.raises(ValueError, match="negative"):
            program(-1.0 - i, 0.125)
    long_ways[0] = 0
    assert program(2.0, 0.125) == steps(2.0, 0.125)
    assert long_ways[0] == 0


def test_a_number_with_which_it_runs_as_python_leaves_others_compiled():
    def head(x, n):
        y = np.zeros(n)
        y[:] = x[:n]
        return y.sum() / max(n, 1)

    program = loopbook.native(head)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterpretedWarning)
        for n in (5, 0, 0, 0, 7, 0, 9):
            assert program(line(), n) == pytest.approx(head(line(), n))
    assert program.last is not None
    assert program(line(), 11) == pytest.approx(head(line(), 11))


def test_a_size_that_cannot_be_compiled_leaves_others_compiled(monkeypatch, long_ways):
    """Arrays that a function makes may have one element where none that it is given has."""

    def rises(x):
        steps = x[1:] - x[:-1]
        return steps[::-1] + steps.max()

    def refusing(*args):
        case = args[1]
        if any(isinstance(value, np.ndarray) and value.size == 1 for value in case.args):
            raise SdfgError("docc loses what is stored into steps")
        return Compiled(*args)

    monkeypatch.setattr(cases, "Compiled", refusing)
    program = loopbook.native(rises)
    short = line()[:2]
    with pytest.raises(SdfgError, match="docc loses"):
        program.compile(short)
    with pytest.warns(InterpretedWarning, match="docc loses"):
        program(short)
    for size in (2, 2, 7, 2, 9):
        x = line()[:size]
        np.testing.assert_allclose(program(x), rises(x))
    assert isinstance(program.last, Looped)
    assert program.last.is_compiled
    assert long_ways[0] == 4  # each size that is compiled, and twice the one that is not
    with pytest.raises(SdfgError, match="docc loses"):
        loopbook.native(rises, strict=True)(short)
