"""Python's own functions: range, len, min, max, sum, enumerate, zip, tuple…"""

from __future__ import annotations

from functools import reduce

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.code import bare
from loopbook.frontend.indexing import load_at
from loopbook.frontend.loops import Range, Rows, rows_of
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Scalar, Thing, Tup, Value


@lowers(range)
def range_(t: Translator, *ends: Value) -> Value:
    numbers = [t.integer(end) for end in ends]
    step = t.python(arith.whole(numbers[2])) if len(numbers) > 2 else 1
    if step == 0:
        raise t.code.fail("range with a step of nought")
    start, stop = (ZERO, numbers[0]) if len(numbers) == 1 else numbers[:2]
    return Thing(Range(start, stop, step))


@lowers(len)
def len_(t: Translator, value: Value) -> Value:
    if isinstance(value, Tup):
        return arith.constant(len(value.items))
    if isinstance(value, Array) and value.mask is None and value.rank:
        return arith.whole(value.shape[0])
    return arith.whole(t.array(value).shape[0])


def _extreme(symbol: str, function, numpy_function):
    def lowering(t: Translator, *values: Value) -> Value:
        if len(values) == 1 and isinstance(values[0], Array):
            return numpy_function(t, values[0])
        items = values[0].items if len(values) == 1 and isinstance(values[0], Tup) else values

        def pair(left: Scalar, right: Scalar) -> Scalar:
            if left.value is not None and right.value is not None:
                return arith.constant(function(left.value, right.value))
            if left.whole is not None and right.whole is not None and left.weak and right.weak:
                more = t.code.facts.nonnegative(left.whole - right.whole)
                if more is not None:
                    return left if more == (symbol == ">") else right
            left, right = t.code.let(left), t.code.let(right)
            if left.dtype.kind in "iu" and right.dtype.kind in "iu":
                name = "max" if symbol == ">" else "min"
                made = Scalar(
                    f"{name}({bare(left.text)}, {bare(right.text)})", left.dtype, left.weak
                )
                if made.dtype == right.dtype:
                    return made
            # Python takes the second one only where it is truly more.
            return arith.select(t.code, arith.compare(t.code, symbol, right, left), right, left)

        return reduce(pair, [t.number(item) for item in items])

    return lowering


lowers(max)(_extreme(">", max, lambda t, a: FUNCTIONS[np.max](t, a)))
lowers(min)(_extreme("<", min, lambda t, a: FUNCTIONS[np.min](t, a)))


@lowers(sum)
def sum_(t: Translator, values: Value, start: Value | None = None) -> Value:
    import ast

    from loopbook.frontend.operators import operate

    if isinstance(values, Array) and values.rank == 1:
        return FUNCTIONS[np.sum](t, values)
    items = _items(t, values)
    first = arith.constant(0) if start is None else start
    return reduce(lambda a, b: operate(t, ast.Add, a, b), items, first)


def _items(t: Translator, values: Value) -> tuple[Value, ...]:
    if isinstance(values, Tup):
        return values.items
    if isinstance(values, Thing) and isinstance(values.value, Range):
        ends = values.value
        count = t.python(arith.whole(ends.stop - ends.start))
        return tuple(arith.whole(ends.start + i) for i in range(0, count, ends.step))
    if isinstance(values, Array) and values.rank:
        count = values.shape[0].constant
        if count is not None:
            return tuple(load_at(t, values, [arith.whole(Int.of(i))]) for i in range(count))
    raise t.code.fail("going through what is not known to have few items; use a loop over range")


def _rows(t: Translator, values: Value) -> Rows | None:
    """What a loop goes through, where its items are too many to be written out."""
    if isinstance(values, Thing) and isinstance(values.value, Rows):
        return values.value
    if isinstance(values, Thing) and isinstance(values.value, Range) and values.value.step == 1:
        ends = values.value
        return Rows(ends.stop - ends.start, lambda i: arith.whole(ends.start + i))
    if isinstance(values, Array) and values.rank and values.shape[0].constant is None:
        return rows_of(t, values)
    return None


@lowers(enumerate)
def enumerate_(t: Translator, values: Value, start: Value | None = None) -> Value:
    first = 0 if start is None else t.python(start)
    rows = _rows(t, values)
    if rows is not None:
        return Thing(Rows(rows.count, lambda i: Tup((arith.whole(i + first), rows.item(i)))))
    items = _items(t, values)
    return Tup(tuple(Tup((arith.constant(first + i), item)) for i, item in enumerate(items)))


@lowers(zip)
def zip_(t: Translator, *values: Value) -> Value:
    """Items side by side: as many as the tuples among them have, or else in a loop."""
    several = [_rows(t, value) for value in values]
    rows = [one for one in several if one is not None]
    if len(rows) < len(values):
        listed = [_items(t, v) for v, row in zip(values, several, strict=True) if row is None]
        count = min(map(len, listed))
        if not all(t.code.facts.zero(one.count - count) for one in rows):
            raise t.code.fail("zip of what is not known to be as long")
        items = iter(listed)
        sides = [
            [row.item(Int.of(place)) for place in range(count)] if row else next(items)
            for row in several
        ]
        return Tup(tuple(map(Tup, zip(*sides, strict=False))))
    if not all(t.code.same(one.count, rows[0].count) for one in rows):
        raise t.code.fail("zip of what is not known to be as long")
    return Thing(Rows(rows[0].count, lambda i: Tup(tuple(one.item(i) for one in rows))))


@lowers(tuple, list)
def tuple_(t: Translator, values: Value | None = None) -> Value:
    return Tup(() if values is None else _items(t, values))


@lowers(reversed)
def reversed_(t: Translator, values: Value) -> Value:
    if isinstance(values, Thing) and isinstance(values.value, Range):
        ends = values.value
        if abs(ends.step) == 1:
            return Thing(Range(ends.stop - ends.step, ends.start - ends.step, -ends.step))
    return Tup(_items(t, values)[::-1])


@lowers(isinstance)
def isinstance_(t: Translator, value: Value, kind: Value) -> Value:
    kinds = t.python(kind)
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if isinstance(value, Array):
        return arith.constant(np.ndarray in kinds)
    if isinstance(value, Scalar) and value.weak:
        return arith.constant(
            any(issubclass(value.dtype.type(0).item().__class__, k) for k in kinds)
        )
    if isinstance(value, Scalar):
        return arith.constant(any(issubclass(value.dtype.type, k) for k in kinds))
    raise t.code.fail("isinstance of this")


@lowers(print)
def print_(t: Translator, *values: Value) -> Value:
    raise t.code.fail("print(); take it out of what is compiled")


@lowers(divmod)
def divmod_(t: Translator, a: Value, b: Value) -> Value:
    left, right = t.code.let(t.number(a)), t.code.let(t.number(b))
    return Tup((arith.binary(t.code, "//", left, right), arith.binary(t.code, "%", left, right)))


__all__ = ["ONE"]
