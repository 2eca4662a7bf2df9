"""Functions that make objects for themselves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import loopbook
from loopbook.client.variants.own_objects import without_objects
from loopbook.errors import SdfgError

pytestmark = pytest.mark.usefixtures("no_book")


class Filter:
    order = 2

    def __init__(self, b: float, a: float = 0.5, *, gain: float = 1) -> None:
        self.b, self.a = b, a
        self.reset()
        self.gain = gain

    def reset(self) -> None:
        self.y = 0.0
        self.n = 0

    def step(self, x):
        self.y = self.a * self.y + self.b * x * self.gain
        self.n += 1
        return self.y


class Clipped(Filter):
    def __init__(self, b, most):
        super().__init__(b, gain=2)
        if most < 0:
            raise ValueError(f"no limit: {most}")
        self.most = most

    def step(self, x):
        return max(-self.most, min(self.most, super().step(x)))

    @property
    def count(self):
        return self.n * self.order


def filtered(x, b, most):
    first, second = Clipped(b, most), Filter(0.3)
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = second.step(first.step(x[i]))
        if second.n > 10:
            second.reset()
    count = first.count
    return out, count, first.step(x[0]) - second.step(x[1]), first.most, first.count, second.y


@dataclass
class Control:
    gain: float
    share: float = 0.1
    last: float | None = None
    total: float = 0.0
    errors: list = field(default_factory=list)

    def __call__(self, error):
        self.total += error
        change = 0.0 if self.last is None else error - self.last
        self.last = error
        self.errors.append(error)
        return self.gain * error + self.share * self.total + change


def controlled(x, b, most):
    control = Control(b, share=0.05)
    level, levels = 0.0, []
    for goal in x:
        level += 0.1 * (control(goal - level) - math.sqrt(abs(level)))
        levels.append(level)
    return levels, np.array(control.errors), control.total


class Layer:
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        self.x = x
        self.z = x @ self.w
        return np.maximum(self.z, 0)

    def backward(self, d):
        d = d * (self.z > 0)
        self.step = self.x.T @ d
        return d @ self.w.T


def layers(x, b, most):
    w = np.outer(x[:4], x[:4])
    one, two = Layer(w), Layer(w.T.copy())
    rows = np.outer(x, x[:4])
    for _ in range(3):
        d = two.forward(one.forward(rows)) - most
        one.backward(two.backward(d))
        for layer in (one, two):
            layer.w -= 0.01 * layer.step
    return w, two.w, d


class Walk:
    def __init__(self, b):
        self.inner = Filter(b)
        self.path = []

    def move(self, z):
        self.path.append(self.inner.step(z))
        return self.path[-1]


def walked(x, b, most):
    walk = Walk(b)
    found = [walk.move(v) for v in x if v < most]
    return np.array(found), len(walk.path), walk.inner.n


class Stream:
    def __init__(self, state):
        self.state = state % 2147483648

    def following(self):
        self.state = (1103515245 * self.state + 12345) % 2147483648
        return self.state / 2147483648

    def between(self, low=0.0, high=1.0):
        return low + (high - low) * self.following()


def share(x, b, most):
    inside = 0
    for seed in range(len(x)):
        stream = Stream(seed)
        inside += stream.between(-1, 1) ** 2 + stream.between(-1, 1) ** 2 < most
    return inside


class Sets:
    def __init__(self, n):
        self.parent, self.sizes, self.count = list(range(n)), [1] * n, n

    def root(self, x):
        while self.parent[x] != x:
            x = self.parent[x]
        return x

    def join(self, a, b):
        a, b = self.root(a), self.root(b)
        if a == b:
            return False
        self.parent[b] = a
        self.sizes[a] += self.sizes[b]
        self.count -= 1
        return True


def joined(x, b, most):
    sets, total = Sets(len(x)), 0.0
    for i in np.argsort(x, kind="stable"):
        if sets.join(i, (7 * i + 1) % len(x) // 2):
            total += x[i]
    return total, sets.count, np.array(sets.sizes)


CALLS = [filtered, controlled, layers, walked, share, joined]


def agrees(one: Any, other: Any) -> None:
    assert type(one) is type(other)
    if isinstance(one, tuple | list):
        for a, b in zip(one, other, strict=True):
            agrees(a, b)
    else:
        np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("function", CALLS)
def test_objects_are_variables(function):
    compiled = loopbook.native(function, strict=True)
    for seed, n in ((0, 9), (1, 30), (2, 9)):
        x = np.random.default_rng(seed).standard_normal(n)
        agrees(compiled(x.copy(), 0.2, 1.0), function(x.copy(), 0.2, 1.0))


def test_what_begins_with_an_error_raises_it():
    with pytest.raises(ValueError, match="no limit: -2"):
        loopbook.native(filtered)(np.ones(5), 0.2, -2)


def test_a_class_may_change(monkeypatch):
    compiled = loopbook.native(filtered)
    x = np.linspace(-1, 1, 9)
    agrees(compiled(x, 0.2, 1.0), filtered(x, 0.2, 1.0))
    monkeypatch.setattr(Filter, "reset", lambda self: vars(self).update(y=1.0, n=3))
    agrees(compiled(x, 0.2, 1.0), filtered(x, 0.2, 1.0))


def handed_out(x):
    one = Filter(0.5)
    one.step(x[0])
    return one


def in_a_list(x):
    one = Filter(0.5)
    return [one][0].step(x[0])


def within(x):
    one = Filter(0.5)
    return (lambda v: one.step(v))(x[0])


def after_an_error(x):
    one = Filter(0.5)
    try:
        one.step(x[len(x)])
    except IndexError:
        one.n = 7
    return one.n


def another(x):
    one = Filter(0.5)
    if x[0] > 0:
        one = Clipped(0.5, 1.0)
    return one.step(x[0])


def property_first(x):
    one = Clipped(0.5, 1.0)
    return one.count, one.step(x[0])


def field_first(x):
    one = Filter(0.5)
    return one.y, one.step(x[0])


def not_there_yet(x):
    one = Layer(x[:, None] * x)
    if x[0] > 5:
        one.forward(x)
    return one.z


def of_the_class(x):
    one = Filter(0.5)
    one.order += 1
    return one.order + Filter.order


ASIDE = [
    field_first,
    property_first,
    handed_out,
    in_a_list,
    within,
    after_an_error,
    another,
    not_there_yet,
    of_the_class,
]


@pytest.mark.parametrize("function", ASIDE)
def test_what_nobody_follows_is_left_to_python(function):
    assert without_objects(function) is None
    x = np.arange(1.0, 4.0)
    try:
        expected = function(x)
    except AttributeError:
        with pytest.raises(AttributeError):
            loopbook.native(function)(x)
        return
    got = loopbook.native(function)(x)
    if isinstance(expected, Filter):
        got, expected = vars(got), vars(expected)
    assert got == expected


def test_functions_without_objects_stay_what_they_are():
    def plain(x):
        return np.add(x, 1)

    assert without_objects(plain) is None
    with pytest.raises(SdfgError):
        loopbook.native(in_a_list, strict=True)(np.ones(3))
