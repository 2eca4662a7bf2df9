"""Python's own functions: range, len, min, max, sum, enumerate, zip, tuple…"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np

from loopbook.frontend import arith, choices, lists, nests, sorts, types
from loopbook.frontend.calls import call
from loopbook.frontend.casts import strong
from loopbook.frontend.code import bare
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.indexing import load_at
from loopbook.frontend.list_parts import of_rows
from loopbook.frontend.loops import Range, Rows, rows_of
from loopbook.frontend.operators import operate
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.slices import above_nought
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import INT
from loopbook.frontend.values import Array, Listing, Scalar, Slice, Thing, Tup, Value


@lowers(range)
def range_(t: Translator, *ends: Value) -> Value:
    numbers = [t.integer(end) for end in ends]
    if len(numbers) > 1 and isinstance(ends[0], Scalar):
        _begins_with_place(t, ends[0], numbers[0])
    if len(numbers) > 2 and t.code.facts.known(numbers[2]) is None:
        return Thing(_stepped(t, *numbers))
    step = t.python(arith.whole(numbers[2])) if len(numbers) > 2 else 1
    if step == 0:
        raise t.code.fail("range with a step of nought")
    start, stop = (ZERO, numbers[0]) if len(numbers) == 1 else numbers[:2]
    return Thing(Range(start, stop, step))


_ELEMENT = re.compile(r"(\w+)\[[^\[\]]*\]")


def _begins_with_place(t: Translator, begin: Scalar, number: Int) -> None:
    """Take for granted that an array which says where rows begin, as in ``range(rows[i],
    rows[i + 1])``, has no negative number: else each index from there on would be tested for it."""
    code = t.code
    found = _ELEMENT.fullmatch(code.texts.get(begin.text, begin.text))
    if not found or found[1] not in code.only_read or begin.dtype.kind != "i":
        return
    values = code.elements[found[1]]
    if (not values.size or values.min() >= 0) and code.facts.natural(number):
        code.demand_places(found[1])


def _stepped(t: Translator, start: Int, stop: Int, step: Int) -> Rows:
    """Numbers with a step that only the loops know; it is supposed to be above nought."""
    code = t.code
    step = above_nought(code, step)
    count = code.fresh("n_")
    code.emit(f"{count} = max({(stop - start + step - 1).text}, 0) // {step.operand}")
    return Rows(Int.atom(count), lambda i: arith.whole(start + i * step))


@lowers(len)
def len_(t: Translator, value: Value) -> Value:
    if isinstance(value, Tup):
        return arith.constant(len(value.items))
    if isinstance(value, Thing) and isinstance(value.value, str):
        return arith.constant(len(value.value))
    if isinstance(value, Array) and value.mask is None and value.rank:
        return arith.whole(value.shape[0])
    if isinstance(value, Listing):
        return t.code.let(lists.length(value)) if value.buffer is None else lists.count(t, value)
    return arith.whole(t.array(value).shape[0])


def _array(t: Translator, values: Value) -> Array:
    """What a function of Python's goes through, as an array."""
    return lists.as_array(t, values) if isinstance(values, Listing) else t.array(values)


def _extreme(symbol: str, function, numpy_function):
    def lowering(t: Translator, *values: Value) -> Value:
        values = tuple(_listed(t, value) for value in values)
        if len(values) == 1 and isinstance(values[0], Listing):
            found = t.number(numpy_function(t, t.array(values[0])))
            return Scalar(found.text, found.dtype, values[0].kind[1], found.whole)
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
            name = "max" if symbol == ">" else "min"
            if left.dtype == right.dtype and left.dtype.kind == "f":
                kind = left.dtype, left.weak and right.weak
                several = sorts.of_one(t.code, kind, left, right)
                if several is None or not several.text:  # else which of both it is has to be told
                    t.code.extremes.add("python")
                    if t.code.pythons:
                        text = f"{name}({bare(left.text)}, {bare(right.text)})"
                        return Scalar(text, *kind, sorts=several)
            left, right = t.code.let(left), t.code.let(right)
            if left.dtype == right.dtype and left.dtype.kind in "iu":
                text = f"{name}({bare(left.text)}, {bare(right.text)})"
                made = Scalar(text, left.dtype, left.weak and right.weak)
                second = arith.compare(t.code, symbol, right, left)
                _note_ends(t, text, (left, right), symbol)
                return choices.told(t.code, made, second, right, left)
            # Python takes the second one only where it is truly more.
            return choices.either(t.code, arith.compare(t.code, symbol, right, left), right, left)

        return reduce(pair, [t.number(item) for item in items])

    return lowering


def _note_ends(t: Translator, text: str, items: Sequence[Scalar], symbol: str) -> None:
    """What the greatest of whole numbers is no less than, or the least of them no greater."""
    wholes = [one.whole for one in items if one.whole is not None]
    ends = tuple(end for end in wholes if not end.atoms & t.code.mutable)
    positive = len(wholes) == len(items) and all(map(t.code.facts.never_negative, ends))
    if symbol == ">":
        t.code.facts.extremes[text] = ends, ()
    else:
        t.code.facts.extremes[text] = (ZERO,) if positive and len(ends) == len(items) else (), ends


lowers(max)(_extreme(">", max, lambda t, a: FUNCTIONS[np.max](t, a)))
lowers(min)(_extreme("<", min, lambda t, a: FUNCTIONS[np.min](t, a)))


@lowers(sum)
def sum_(t: Translator, values: Value, start: Value | None = None) -> Value:
    first = arith.constant(0) if start is None else start
    values = _listed(t, values)
    if isinstance(values, Listing):
        found = _added_to(t, first, lists.as_array(t, values), values.kind)
        if values.shape:
            return found
        number = t.number(found)
        weak = values.kind[1] and t.number(first).weak
        made = Scalar(number.text, number.dtype, weak, number.whole)
        if lists.is_certain(t, values):
            return made
        made = t.code.let(made)  # of none it is what it begins with
        return choices.told(t.code, made, lists.is_full(values), made, t.number(first))
    if isinstance(values, Array) and values.rank == 1:
        found = _added_to(t, first, values, values.kind)
        weak = values.kind[1] and not isinstance(first, Array) and t.number(first).weak
        return replace(t.number(found), weak=True) if weak else found
    return reduce(lambda a, b: operate(t, ast.Add, a, b), _items(t, values), first)


def _listed(t: Translator, values: Value) -> Value:
    """What a loop would go through (``map(f, x)``) as a list."""
    if isinstance(values, Thing) and isinstance(values.value, Rows):
        return of_rows(t, "items", values.value)
    return values


def _added_to(t: Translator, first: Value, values: Array, kind: tuple[np.dtype, bool]) -> Value:
    """A sum of items in the type that adding one by one gives; NumPy's own has whole words."""
    start = first if isinstance(first, Array) else t.number(first)
    dtype, weak = types.promote(start.kind, kind)
    if dtype.kind in "fc" and kind[0].kind in "iu":
        values = t.array(cast(t, values, dtype))
    total = FUNCTIONS[np.sum](t, values, arith.constant(0))
    if dtype.kind in "iu" and not weak:
        total = cast(t, total, dtype)
    if isinstance(start, Scalar) and start.weak and start.value == 0 and start.dtype == INT:
        return total
    return operate(t, ast.Add, start, total)


def _items(t: Translator, values: Value) -> tuple[Value, ...]:
    if isinstance(values, Tup):
        return values.each()
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
    if isinstance(values, Listing):
        return lists.rows(t, values)
    if isinstance(values, Array) and values.rank and values.shape[0].constant is None:
        return rows_of(t, values)
    return None


def rows_in(t: Translator, values: Value) -> Rows:
    """What a comprehension goes through in a loop."""
    if isinstance(values, Thing) and isinstance(values.value, Range) and values.value.step > 1:
        ends, step = values.value, values.value.step
        span = arith.whole(ends.stop - ends.start + (step - 1))
        count = t.integer(arith.binary(t.code, "//", span, arith.constant(step)))
        return Rows(count, lambda i: arith.whole(ends.start + i * step))
    rows = rows_of(t, values) if isinstance(values, Array) and values.rank else _rows(t, values)
    if rows is None:
        raise t.code.fail("a comprehension over what is not known; use a loop")
    return rows


@lowers(enumerate)
def enumerate_(t: Translator, values: Value, start: Value | None = None) -> Value:
    first = 0 if start is None else t.python(start)
    rows = _rows(t, values)
    if rows is not None:
        return Thing(Rows(rows.count, lambda i: Tup((arith.whole(i + first), rows.item(i)))))
    items = _items(t, values)
    return Tup(tuple(Tup((arith.constant(first + i), item)) for i, item in enumerate(items)))


@lowers(zip)
def zip_(t: Translator, *values: Value, strict: Value | None = None) -> Value:
    """Items side by side: as many as the tuples among them have, or else in a loop."""
    several = [_rows(t, value) for value in values]
    rows = [one for one in several if one is not None]
    if len(rows) < len(values):
        listed = [_items(t, v) for v, row in zip(values, several, strict=True) if row is None]
        count = min(map(len, listed))
        if strict is not None and t.python(strict) and count < max(map(len, listed)):
            raise t.code.fail("zip of what is not as long")
        exact = strict is not None and bool(t.python(strict))
        enough = t.code.facts.zero if exact else t.code.facts.nonnegative
        if not all(enough(one.count - count) for one in rows):
            raise t.code.fail("zip of what is not known to be as long")
        items = iter(listed)
        sides = [
            [row.item(Int.of(place)) for place in range(count)] if row else next(items)
            for row in several
        ]
        return Tup(tuple(map(Tup, zip(*sides, strict=False))))
    count = rows[0].count
    for one in rows[1:]:
        if not t.code.same(count, one.count):
            if strict is not None and t.python(strict):
                raise t.code.fail("zip of what is not known to be as long")
            count = _shorter(t, count, one.count)
    return Thing(Rows(count, lambda i: Tup(tuple(one.item(i) for one in rows))))


@lowers(map)
def map_(t: Translator, function: Value, *values: Value) -> Value:
    """What a function gives for each item: of a few, or in the loop that goes through them."""
    several = [_rows(t, value) for value in values]
    if any(several):  # then few rows of an array may as well be gone through in the loop
        several = [
            row or (rows_of(t, value) if isinstance(value, Array) and value.rank else None)
            for row, value in zip(several, values, strict=True)
        ]
    rows = [one for one in several if one is not None]
    if len(rows) == len(values) and rows:
        count = reduce(partial(_shorter, t), (one.count for one in rows))
        return Thing(
            Rows(count, lambda i: call(t, function, [one.item(i) for one in rows], {}, "map"))
        )
    sides = [_items(t, value) for value in values]
    return Tup(tuple(call(t, function, list(a), {}, "map") for a in zip(*sides, strict=False)))


def _shorter(t: Translator, one: Int, other: Int) -> Int:
    """The lesser of two sizes."""
    more = t.code.facts.nonnegative(one - other)
    if more is not None:
        return other if more else one
    name = t.code.fresh("n_")
    t.code.emit(f"{name} = min({one.text}, {other.text})")
    return Int.atom(name)


def _truth(numpy_function, symbol: str):
    def lowering(t: Translator, values: Value) -> Value:
        values = _listed(t, values)
        if isinstance(values, Array) and values.rank != 1:
            raise t.code.fail("any or all of an array of several axes; use np.any or np.all")
        if isinstance(values, Array | Listing):
            found = arith.truth(t.number(FUNCTIONS[numpy_function](t, _array(t, values))))
        else:
            tests = [arith.truth(t.number(item)) for item in _items(t, values)]
            first = arith.constant(symbol == "&")
            found = reduce(lambda a, b: arith.logical(symbol, a, b), tests, first)
        return replace(found, weak=True) if found.value is None else found

    return lowering


lowers(any)(_truth(np.any, "|"))
lowers(all)(_truth(np.all, "&"))


@lowers(sorted)
def sorted_(t: Translator, values: Value, *, reverse: Value | None = None) -> Value:
    """Numbers in order, as a list; NaN has no place there."""
    code = t.code
    numbers = _array(t, values)
    if numbers.rank != 1 or numbers.dtype.kind not in "biuf":
        raise code.fail("sorted() of what are no numbers")
    mixed = isinstance(values, Tup) and len({t.number(v).kind for v in values.items}) > 1
    if mixed or (isinstance(values, Listing) and values.mixed):
        raise code.fail("sorted() of numbers of different types; use np.sort")
    weak = isinstance(values, Listing) and values.kind[1]
    weak = weak or (isinstance(values, Tup) and all(t.number(v).weak for v in values.items))
    down = reverse is not None and t.python(reverse)
    line = t.stored(t.array(FUNCTIONS[np.sort](t, numbers)))
    count = line.shape[0]
    if numbers.dtype.kind == "f" and code.facts.nonnegative(count - 1):
        last = line.element((count - 1,))
        code.suppose(f"math.fabs({last.text}) >= 0.0")
    if down:
        line = t.array(load_at(t, line, [Slice(None, None, arith.constant(-1))]))
    items = count.constant
    if isinstance(values, Tup) and items is not None:
        found = [load_at(t, line, [arith.whole(Int.of(i))]) for i in range(items)]
        return Tup(tuple(replace(one, weak=weak) for one in found), True)  # type: ignore[type-var]
    line = nests.materialise(code, line) if down else line
    return lists.of_numbers(t, "ordered", line, weak)


@lowers(slice)
def slice_(t: Translator, *ends: Value) -> Value:
    given = (None, *ends, None) if len(ends) == 1 else (*ends, *[None] * (3 - len(ends)))
    numbers = [
        None if end is None or (isinstance(end, Thing) and end.value is None) else t.number(end)
        for end in given
    ]
    start, stop, step = (None if number is None else t.code.let(number) for number in numbers)
    return Slice(start, stop, step)


@lowers(tuple)
def tuple_(t: Translator, values: Value | None = None) -> Value:
    return Tup(() if values is None else _items(t, values))


@lowers(list)
def list_(t: Translator, values: Value | None = None) -> Value:
    count = values.shape[0].constant if isinstance(values, Array) and values.rank else None
    rows = None if values is None or count is not None else _rows(t, values)
    if rows is not None:
        return of_rows(t, "list", rows)
    return Tup(() if values is None else _items(t, values), True)


@lowers(reversed)
def reversed_(t: Translator, values: Value) -> Value:
    if isinstance(values, Thing) and isinstance(values.value, Range):
        ends = values.value
        if abs(ends.step) == 1:
            return Thing(Range(ends.stop - ends.step, ends.start - ends.step, -ends.step))
    rows = _rows(t, values)
    if rows is not None:
        return Thing(Rows(rows.count, lambda i: rows.item(rows.count - 1 - i)))
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
    from loopbook.frontend.constructs.kinds import kind_of

    return arith.constant(issubclass(kind_of(t, value), kinds))


@lowers(print)
def print_(t: Translator, *values: Value) -> Value:
    raise t.code.fail("print(); take it out of what is compiled")


@lowers(ord)
def ord_(t: Translator, c: Value) -> Value:
    return arith.constant(ord(t.python(c)))


@lowers(np.divmod)
def numpys_divmod(t: Translator, a: Value, b: Value) -> Value:
    found = divmod_(t, a, b)
    return Tup(tuple(strong(one) if isinstance(one, Scalar) else one for one in found.items))


@lowers(divmod)
def divmod_(t: Translator, a: Value, b: Value) -> Tup:
    if isinstance(a, Array) or isinstance(b, Array):
        sides = [t.stored(v) if isinstance(v, Array) and v.rank else v for v in (a, b)]
        return Tup(tuple(operate(t, operator, *sides) for operator in (ast.FloorDiv, ast.Mod)))
    left, right = t.code.let(t.number(a)), t.code.let(t.number(b))
    return Tup((arith.binary(t.code, "//", left, right), arith.binary(t.code, "%", left, right)))


__all__ = ["ONE"]
