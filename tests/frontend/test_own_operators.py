"""Classes with operators of their own: named tuples and dataclasses that are no mere tuples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import loopbook
from loopbook.errors import LoweringError
from loopbook.frontend import lower

from .kit import check, data, function


class Vector(NamedTuple):
    x: Any
    y: Any

    def __add__(self, other):  # type: ignore[override]
        return Vector(self.x + other.x, self.y + other.y)

    def __mul__(self, by):  # type: ignore[override]
        return Vector(self.x * by, self.y * by)

    __rmul__ = __mul__  # type: ignore[assignment]

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __lt__(self, other):  # type: ignore[override]
        return self.x < other.x

    def __eq__(self, other):
        return self.x == other.x


@dataclass(frozen=True)
class Dual:
    value: float
    slope: float

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other, 0.0)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __mul__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.value * other, self.slope * other)
        slope = self.value * other.slope + self.slope * other.value
        return Dual(self.value * other.value, slope)

    __rmul__ = __mul__

    def sin(self):
        return Dual(math.sin(self.value), math.cos(self.value) * self.slope)


class Pair(NamedTuple):
    a: float
    b: float

    def __getitem__(self, place):
        return 5.0


BODIES = [
    "p, v = Vector(0.0, x[0]), Vector(1.0, 2.0)\n"
    "for i in range(3):\n    p = p + 0.1 * v\n    p += -v * 0.01\nreturn p.x, p.y, p @ v",
    "p, v = Vector(x, 1.0), Vector(x * 2, y)\nw = p + v\nreturn w.x, w.y",
    "p, v = Vector(x[0], 9.0), Vector(x[1], 2.0)\nreturn p < v, p > v, p == v, p == p",
    "z = x[0]\nfor _ in range(4):\n    d = Dual(z, 1.0)\n"
    "    f = 1.5 + 2 * d * d + d.sin() + 3.0\n    z = z - 0.1 * f.slope\nreturn z",
]


def written(body):
    made = function(body, "x, y")
    made.__globals__.update(Vector=Vector, Dual=Dual, Pair=Pair)
    return made


@pytest.mark.parametrize("body", BODIES)
def test_they_are_called(body):
    check(written(body), data(5), data(5, seed=1))


@pytest.mark.parametrize(
    "body",
    ["return Pair(x[0], x[1])[0]", "p, v = Vector(1.0, x[0]), 2.0\nreturn p != Vector(v, v)"],
)
def test_what_is_not_followed_is_refused(body):
    with pytest.raises(LoweringError, match=r"its own|__eq__"):
        lower(written(body), (data(5), data(5)))


@dataclass
class Layer:
    weights: np.ndarray
    shift: np.ndarray

    def __call__(self, x):
        return np.maximum(x @ self.weights + self.shift, 0)


class Counting:
    def __init__(self):
        self.times, self.total = 0, np.zeros(4)

    def __call__(self, x):
        self.times += 1
        self.total = self.total + x
        return self.total.sum() * self.times


def through(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def twice(counting, x):
    first = counting(x)
    second = counting(2 * x)
    return first - second


def test_objects_that_are_passed_are_called():
    layers = [Layer(data(4, 6), data(6)), Layer(data(6, 3), data(3))]
    found = loopbook.native(through, strict=True)(layers, data(5, 4))
    np.testing.assert_allclose(found, through(layers, data(5, 4)), rtol=1e-12)


def test_what_they_store_when_they_are_called_is_stored():
    program, one, other = loopbook.native(twice, strict=True), Counting(), Counting()
    for _ in range(2):
        assert program(one, data(4)) == pytest.approx(twice(other, data(4)))
    assert one.times == other.times == 4
    np.testing.assert_allclose(one.total, other.total)
