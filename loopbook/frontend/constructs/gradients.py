"""Slopes of what lies on a grid: gradient.

Before::

    d = np.gradient(y, h)

After::

    for i0 in range(1, n - 1):
        d[i0] = (y[i0 + 1] - y[i0 - 1]) / (2.0 * h)
    d[0] = (y[1] - y[0]) / h
    d[n - 1] = (y[n - 1] - y[n - 2]) / h
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.constructs.joining import part
from loopbook.frontend.constructs.reductions import axes_of
from loopbook.frontend.operators import lift
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import FLOAT
from loopbook.frontend.values import Array, Scalar, Thing, Tup, Value, looked_at, whole


@dataclass(frozen=True)
class _Line:
    """Along one axis of an array: ranges of its places, and the gaps between these."""

    t: Translator
    array: Array
    axis: int
    gap: Scalar | Array

    @property
    def size(self) -> Int:
        return self.array.shape[self.axis]

    def values(self, start: Int, count: Int) -> Array:
        return part(self.array, self.axis, start, count)

    def gaps(self, start: Int, count: Int) -> Scalar | Array:
        """The gaps behind `count` places."""
        if isinstance(self.gap, Scalar):
            return self.gap
        shape = tuple(count if n == self.axis else ONE for n in range(self.array.rank))
        return looked_at(self.gap, shape, ((start, ((self.axis, ONE),)),))


@lowers(np.gradient)
def gradient(
    t: Translator,
    f: Value,
    *varargs: Value,
    axis: Value | None = None,
    edge_order: Value | None = None,
) -> Value:
    """Central differences, one-sided at both ends; one array for each axis."""
    array = t.array(f)
    array = t.array(cast(t, array, array.dtype if array.dtype.kind in "fc" else FLOAT))
    if array.dtype.kind == "c" or not array.rank:
        raise t.code.fail("gradient of complex numbers or of a number; take that of both parts")
    axes = axes_of(t, axis, array.rank)
    if axis is not None and isinstance(t.python(axis), tuple):
        axes = tuple(one % array.rank for one in t.python(axis))  # in this order
    order = 1 if edge_order is None else t.python(edge_order)
    if array.view is None:
        array = t.stored(array)
    given: list[Value] = [arith.constant(1.0)] if not varargs else list(varargs)
    if len(given) == 1 and (len(axes) == 1 or _is_number(given[0])):
        given *= len(axes)
    if len(given) != len(axes):
        raise t.code.fail("gradient needs one spacing for all axes, or one for each")
    found = [
        _slopes(t, _Line(t, array, place, _gap(t, array, place, one)), order)
        for place, one in zip(axes, given, strict=True)
    ]
    return found[0] if len(found) == 1 else Tup(tuple(found))


def _is_number(value: Value) -> bool:
    return isinstance(value, Scalar | Thing) or (isinstance(value, Array) and not value.rank)


def _gap(t: Translator, array: Array, axis: int, given: Value) -> Scalar | Array:
    """The width between neighbours: a number, or the differences of the places that are given."""
    if _is_number(given):
        return t.code.let(t.number(given))
    places = t.array(given)
    if places.rank != 1 or not t.code.same(places.shape[0], array.shape[axis]):
        raise t.code.fail("gradient with places that do not fit the axis")
    if places.dtype.kind != "f":
        places = t.array(cast(t, places, FLOAT))
    less = places.shape[0] - 1
    later, sooner = part(places, 0, ONE, less), part(places, 0, ZERO, less)
    return t.stored(t.array(lift(t, lambda x, y: arith.binary(t.code, "-", x, y), later, sooner)))


def _slopes(t: Translator, line: _Line, order: int) -> Array:
    code, array, n = t.code, line.array, line.size
    if order not in (1, 2) or code.facts.nonnegative(n - 1 - order) is not True:
        raise code.fail(f"gradient of fewer than {order + 1} places along an axis")
    result = whole(code.temporary(array.shape, array.dtype), array.shape)

    def put(start: Int, count: Int, value: Value) -> None:
        nests.assign(code, part(result, line.axis, start, count), t.array(value))

    def do(symbol: str, x: Value, y: Value) -> Value:
        return lift(t, lambda a, b: arith.binary(code, symbol, a, b), x, y)

    inner = n - 2
    if isinstance(line.gap, Scalar):
        gap = do("-", line.values(Int.of(2), inner), line.values(ZERO, inner))
        put(ONE, inner, do("/", gap, do("*", arith.constant(2.0), line.gap)))
    else:
        put(ONE, inner, _between(line, do))
    for start, sign in ((ZERO, 1), (n - 1, -1)):
        if order == 1:
            first = start if sign > 0 else n - 2
            gap = do("-", line.values(first + 1, ONE), line.values(first, ONE))
            put(start, ONE, do("/", gap, line.gaps(first, ONE)))
        else:
            put(start, ONE, _at_end(line, do, sign))
    return result


def _between(line: _Line, do) -> Value:
    """The slope of the parabola through three places that are not evenly apart."""
    inner = line.size - 2
    before, after = line.gaps(ZERO, inner), line.gaps(ONE, inner)
    both = do("+", before, after)
    minus = do("/", do("-", arith.constant(0), after), do("*", before, both))
    middle = do("/", do("-", after, before), do("*", before, after))
    plus = do("/", before, do("*", after, both))
    total: Value | None = None
    for factor, start in ((minus, ZERO), (middle, ONE), (plus, Int.of(2))):
        term = do("*", factor, line.values(start, inner))
        total = term if total is None else do("+", total, term)
    assert total is not None
    return total


def _at_end(line: _Line, do, sign: int) -> Value:
    """The slope at an end of the parabola through the three places there."""
    n = line.size
    near = line.gaps(ZERO if sign > 0 else n - 2, ONE)
    far = line.gaps(ONE if sign > 0 else n - 3, ONE)
    both = do("+", near, far)
    twice = do("+", do("*", arith.constant(2.0), near), far)
    factors = (
        do("/", do("-", arith.constant(0), twice), do("*", near, both)),
        do("/", both, do("*", near, far)),
        do("/", do("-", arith.constant(0), near), do("*", far, both)),
    )
    total: Value | None = None
    for away, factor in enumerate(factors):
        place = Int.of(away) if sign > 0 else n - 1 - away
        term = do("*", factor, line.values(place, ONE))
        total = term if total is None else do("+", total, term)
    assert total is not None
    return total if sign > 0 else do("-", arith.constant(0), total)
