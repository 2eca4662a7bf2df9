"""Functions that call methods which store into their objects, and give back what was passed."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import loopbook
from loopbook.errors import SdfgError

pytestmark = pytest.mark.usefixtures("no_book")


class Body:
    weight = 2.0
    limits = (0.0, 3.0)

    def __init__(self, count: int) -> None:
        self.x, self.v = np.linspace(0.5, 1, count), np.zeros(count)
        self.t, self.steps = 0.0, 0

    @staticmethod
    def clipped(v):
        return np.minimum(v, 3.0)

    @property
    def energy(self):
        return 0.5 * self.weight * (self.v**2).sum()


class Drop(Body):
    """Falls, and may be turned round."""

    def __init__(self, count: int, drag: float = 0.1) -> None:
        super().__init__(count)
        self.drag = drag

    def pull(self, by=1.0):
        return -self.weight * by - self.drag * self.v

    def step(self, dt):
        self.v = self.clipped(self.v + dt * self.pull())
        self.x += dt * self.v
        self.t += dt
        self.steps += 1
        if self.x.min() < 0:
            return self.x.min()
        return self.x.max()

    def turn(self):
        if self.x[0] < 0:
            self.v = -0.9 * self.v
            self.steps += 100

    def many(self, count, *, dt=0.01):
        most = self.x[0]
        for _ in range(count):
            most = self.step(dt)
        return most


@dataclass
class Numbers:
    """A stream of numbers that look random."""

    state: int = 1

    def following(self):
        self.state = (1103515245 * self.state + 12345) % 2147483648
        return self.state / 2147483648


def filled(d, count, dt):
    out = np.zeros(count)
    for i in range(count):
        out[i] = d.step(dt)
    return out, d.energy


def until(d, count, dt):
    for i in range(count):  # noqa: B007
        if d.step(dt) < 0.1:
            break
    return i, d.energy, d.pull(2.0).sum()


def listed(d, count, dt):
    found = []
    for _ in range(count):
        found.append(d.step(dt))
        d.v[0] += 0.5
    return found


def in_a_method(d, count, dt):
    most = d.many(count) * 2
    return most + d.many(1, dt=dt)


def turned(d, count, dt):
    for _ in range(count):
        d.step(dt)
        d.turn()
    return d


def added(d, count, dt):
    total = 0.0
    while d.steps < count:
        total += d.step(dt)
    return d, total


def twice(d, count, dt):
    found = []
    for _ in range(count):
        found.append(d.step(dt) - d.step(2 * dt))
    return found, [d.step(dt) for _ in range(3)], d.step(d.step(dt)) * d.v.sum()


CALLS = [twice, filled, until, listed, in_a_method, turned, added]


def agrees(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    if isinstance(one, tuple | list):
        for a, b in zip(one, other, strict=True):
            agrees(a, b)
    elif hasattr(one, "__dict__"):
        agrees([*vars(one).values()], [*vars(other).values()])
    else:
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("function", CALLS)
def test_methods_store_into_what_was_passed(function):
    compiled = loopbook.native(function, strict=True)
    for count, calls, dt in ((4, 3, 0.1), (7, 40, 0.05), (7, 40, 0.05), (5, 1, 0.01)):
        ours, theirs = Drop(count), Drop(count)
        v, x = ours.v, ours.x
        got, expected = compiled(ours, calls, dt), function(theirs, calls, dt)
        agrees(ours, theirs)
        assert ours.x is x
        assert ours.v is not v
        if function is turned:
            assert got is ours
        elif function is added:
            assert got[0] is ours
            agrees(got[1], expected[1])
        else:
            agrees(got, expected)


def test_an_array_that_no_call_replaces_stays_the_same_one():
    turn = loopbook.native(turned, strict=True)
    once = loopbook.native(Drop.turn, strict=True)
    for below in (False, True, False):
        ours, theirs = Drop(5), Drop(5)
        if below:
            ours.x[0] = theirs.x[0] = -1.0
        v = ours.v
        assert once(ours) is None
        theirs.turn()
        agrees(ours, theirs)
        assert (ours.v is v) == (not below)
        turn(ours, 0, 0.1)
        turned(theirs, 0, 0.1)
        agrees(ours, theirs)
        assert (ours.v is v) == (not below)


def test_a_state_of_numbers_is_carried_on():
    def share(numbers, count):
        inside = 0
        for _ in range(count):
            x = numbers.following()
            y = numbers.following()
            inside += x * x + y * y < 1
        return 4 * inside / count

    ours, theirs = Numbers(), Numbers()
    compiled = loopbook.native(share, strict=True)
    for count in (10, 1, 500):
        assert compiled(ours, count) == share(theirs, count)
        assert ours == theirs
        assert type(ours.state) is int


def test_what_belongs_to_a_class_may_get_another_value(monkeypatch):
    compiled = loopbook.native(filled, strict=True)
    for weight in (2.0, 5.0, 5.0):
        monkeypatch.setattr(Body, "weight", weight)
        ours, theirs = Drop(4), Drop(4)
        agrees(compiled(ours, 3, 0.1), filled(theirs, 3, 0.1))
        agrees(ours, theirs)


def beside(d, count):
    return abs(max(count, 1)) + d.step(0.1)


def chosen(d, count):
    return d.step(0.1) if count > 3 else 0.0


def before(d, count):
    return d.t * 1.0 + d.step(0.1)


@pytest.mark.parametrize("function", [beside, chosen, before])
def test_what_comes_first_is_left_to_python(function):
    with pytest.raises(SdfgError):
        loopbook.native(function, strict=True)(Drop(4), 5)


def asked(d, count, dt):
    while d.step(dt) > 0.1 and count < 40:
        count += 1
        if count % 7 == 3:
            continue
        d.drag += 0.01
    return count


def heat(state, dt, rate=0.1):
    u = state["u"]
    state["u"] = u + dt * rate * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    state["t"] += dt


def limited(state, most):
    if state["u"].max() > most:
        state["u"] = state["u"] / 2
        return True
    return False


def total(state):
    return state["u"].sum() / (1 + state["t"])


def warmed(state, count, dt):
    times = 0
    for _ in range(count):
        heat(dt=dt, state=state)
        if limited(state, 0.4):
            times += 1
    while limited(state, 0.2):
        times += 10
    return times, total(state), state


def swapped(one, other):
    one.v, other.v = other.v, one.v
    one.steps += other.steps


def exchanged(d, e, count):
    for _ in range(count):
        d.step(0.1)
        swapped(d, e)
    return d.x.sum() - e.x.sum()


def test_functions_store_into_what_they_are_given():
    compiled = loopbook.native(warmed, strict=True)
    for n, count in ((5, 3), (4, 0), (9, 40), (9, 1)):
        u = np.random.default_rng(n).random(n)
        ours, theirs = {"u": u, "t": 0.0}, {"u": u.copy(), "t": 0.0}
        got, expected = compiled(ours, count, 0.1), warmed(theirs, count, 0.1)
        agrees(got[:2], expected[:2])
        agrees([*ours.values()], [*theirs.values()])
        assert got[2] is ours


def test_conditions_of_loops_store_each_time():
    compiled = loopbook.native(asked, strict=True)
    for count in (0, 3, 39):
        ours, theirs = Drop(5), Drop(5)
        assert compiled(ours, count, 0.1) == asked(theirs, count, 0.1)
        agrees(ours, theirs)


def test_two_objects_are_told_apart():
    compiled = loopbook.native(exchanged, strict=True)
    for count in (1, 2, 5):
        ours, theirs = (Drop(4), Drop(4, 0.3)), (Drop(4), Drop(4, 0.3))
        agrees(compiled(*ours, count), exchanged(*theirs, count))
        agrees([*ours], [*theirs])
    walk = Drop(4)
    with pytest.raises(SdfgError):
        compiled(walk, walk, 1)


def scaled(options, other, rate):
    for name in options:
        options[name] -= rate * other[name]
    return options


def counted(options, other, rate):
    options["count"] += 1
    options["x"] = options["x"] * rate + other["x"]
    return options["count"], options


def doubled(things, rate):
    things[0] *= rate
    return things


@pytest.mark.parametrize("function", [scaled, counted])
def test_a_dict_that_is_returned_is_the_caller_s(function):
    compiled = loopbook.native(function, strict=True)
    for n in (3, 5, 3):
        ours = {"x": np.arange(n) * 1.0, "y": np.ones(n), "count": 2}
        if function is scaled:
            del ours["count"]
        theirs, other = copy.deepcopy(ours), copy.deepcopy(ours)
        got, expected = compiled(ours, other, 0.5), function(theirs, other, 0.5)
        agrees([*ours.values()], [*theirs.values()])
        if function is scaled:
            assert got is ours
        else:
            assert got[1] is ours
            assert got[0] == expected[0]


def test_a_list_that_is_returned_is_the_caller_s():
    things = [np.ones(3), np.zeros(2)]
    assert loopbook.native(doubled, strict=True)(things, 2.0) is things
    np.testing.assert_array_equal(things[0], 2.0)
