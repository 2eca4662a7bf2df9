"""What sorting tells: median, percentile, quantile.

Before::

    m = np.median(x)

After, with `a` a copy of x in which the number that belongs at n // 2 is brought there::

    middle_0 = a[n // 2]
    if (n - 1) // 2 < n // 2: middle_0 = (x_0 + middle_0) / 2.0     # x_0 the greatest before it
    if n_0 < n: middle_0 = a[n - 1]             # there is what is no number
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from math import prod

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.code import bare
from loopbook.frontend.constructs.finite import isnan
from loopbook.frontend.constructs.folding import keep
from loopbook.frontend.constructs.networks import few, in_order
from loopbook.frontend.constructs.reductions import flag, may_be_none, suppose_some
from loopbook.frontend.constructs.selection import bring, next_above, next_below
from loopbook.frontend.constructs.sorting import Line, each_copy, each_element, operand
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import FLOAT
from loopbook.frontend.values import (
    Array,
    Index,
    Listing,
    Scalar,
    Tup,
    Value,
    held,
    whole,
)


def _kind_of(array: Array) -> np.dtype:
    return array.dtype if array.dtype.kind == "f" else FLOAT


def _reduced(
    t: Translator,
    array: Array,
    axis: int,
    find: Callable[[Line], Scalar],
    keepdims: bool,
    dtype: np.dtype | None = None,
    *,
    missing: bool = False,
) -> Value:
    """A number for each line, or what is none where the line has such, or nothing at all.

    Args:
        missing: what is no number is left out of a line; only one without any gives none.
    """
    code = t.code
    dtype = dtype or _kind_of(array)
    shape = tuple(size for n, size in enumerate(array.shape) if n != axis)
    buffer = code.temporary(shape or (ONE,), dtype)

    def use(line: Line, own: list[Int]) -> None:
        target = tuple(i for n, i in enumerate(own) if n != axis) or (ZERO,)
        if missing:
            line = replace(line, size=line.known)
        if not missing and not may_be_none(code, line.size):
            put(line, target)
            return
        for text in nests.put(buffer, target, arith.constant(np.nan), dtype):
            code.emit(text)
        with code.indented(f"if {line.size.text} > 0:"):
            put(line, target)

    def put(line: Line, target: Index) -> None:
        for text in nests.put(buffer, target, find(line), dtype):
            code.emit(text)
        if array.dtype.kind == "f" and line.size != line.known:
            with code.indented(f"if {line.known.text} < {line.size.text}:"):
                nothing = held(line.numbers, (line.size - 1,), array.dtype)
                for text in nests.put(buffer, target, nothing, dtype):
                    code.emit(text)

    each_copy(t, array, axis, use)
    if not shape:
        return keep(t, code.let(held(buffer, (ZERO,), dtype)), 1, (0,), keepdims)
    return keep(t, whole(buffer, shape), array.rank, (axis,), keepdims)


def _half(t: Translator, size: Int) -> Int:
    code = t.code
    found = arith.binary(code, "//", arith.whole(size), arith.constant(2))
    return t.integer(found)


@lowers(np.median)
def median(
    t: Translator,
    a: Value,
    axis: Value | None = None,
    out: Value | None = None,
    overwrite_input: Value | None = None,
    keepdims: Value | None = None,
) -> Value:
    """The number in the middle, or halfway between two."""
    code, rank = t.code, t.array(a).rank
    array, place = operand(t, a, axis, True)
    if flag(t, keepdims) and array.rank != rank:
        raise code.fail("median with keepdims of all axes; reshape it")
    if out is not None:
        raise code.fail("median with out=; assign it")

    if array.rank > 1 and (count := few(code, array.shape[place])):
        return _of_few(t, array, place, count, flag(t, keepdims))
    return _reduced(t, array, place, _middle(t, _kind_of(array)), flag(t, keepdims))


@lowers(np.nanmedian)
def nanmedian(
    t: Translator, a: Value, axis: Value | None = None, *, keepdims: Value | None = None
) -> Value:
    """The same of the numbers alone, among what is none."""
    rank = t.array(a).rank
    array, place = operand(t, a, axis, True)
    if flag(t, keepdims) and array.rank != rank:
        raise t.code.fail("nanmedian with keepdims of all axes; reshape it")
    find = _middle(t, _kind_of(array))
    return _reduced(t, array, place, find, flag(t, keepdims), missing=True)


def _middle(t: Translator, dtype: np.dtype) -> Callable[[Line], Scalar]:
    code = t.code

    def find(line: Line) -> Scalar:
        low, high = _half(t, line.size - 1), _half(t, line.size)
        middle = code.fresh("middle_")
        code.emit(f"{middle} = {bare(arith.convert(code, bring(code, line, high), dtype).text)}")
        apart = (high - low).constant
        if apart == 0:  # docc leaves out what never runs, and what it reads
            return Scalar(middle, dtype)
        with nullcontext() if apart else code.indented(f"if {low.text} < {high.text}:"):
            below = arith.convert(code, next_below(code, line, high), dtype)
            code.emit(f"{middle} = ({below.text} + {middle}) / 2.0")
        return Scalar(middle, dtype)

    return find


def _of_few(t: Translator, array: Array, axis: int, count: int, keepdims: bool) -> Value:
    """Medians of short lines."""
    code, dtype = t.code, _kind_of(array)
    shape = tuple(size for n, size in enumerate(array.shape) if n != axis)
    result = whole(code.temporary(shape, dtype), shape)

    def use(element: Callable[[Int], Scalar], own: list[Int]) -> None:
        numbers = in_order(code, [element(Int.of(k)) for k in range(count)])
        middle = arith.convert(code, numbers[count // 2], dtype)
        if count % 2 == 0:
            below = arith.convert(code, numbers[count // 2 - 1], dtype)
            middle = Scalar(f"(({below.text} + {middle.text}) / 2.0)", dtype)
        target = tuple(i for n, i in enumerate(own) if n != axis)
        for text in nests.stores(result, target, middle):
            code.emit(text)
        if array.dtype.kind == "f":
            with code.indented(f"if {bare(isnan(code, numbers[-1]).text)}:"):
                for text in nests.stores(result, target, numbers[-1]):
                    code.emit(text)

    each_element(t, array, axis, use)
    return keep(t, result, array.rank, (axis,), keepdims)


def _quantile(hundred: float, *, missing: bool = False) -> Callable[..., Value]:
    def lowering(
        t: Translator,
        a: Value,
        q: Value,
        axis: Value | None = None,
        *,
        method: Value | None = None,
        keepdims: Value | None = None,
    ) -> Value:
        code = t.code
        array, place = operand(t, a, axis, True)
        if not missing:
            suppose_some(t, array, (place,), or_leave=True)
        if method is not None and t.python(method) != "linear":
            raise code.fail("a percentile by another method")
        if flag(t, keepdims):
            raise code.fail("a percentile with keepdims; use np.expand_dims")
        if isinstance(q, Listing) or (isinstance(q, Array) and q.rank):
            if missing or array.rank > 1:
                raise code.fail("percentiles that are no numbers; write them as a tuple")
            return _of_many(t, array, t.array(q), hundred)
        wanted = q.items if isinstance(q, Tup) else (q,)
        single = not isinstance(q, Tup) and t.number(q).weak  # a list is an array of 64 bits
        dtype = _kind_of(array) if single else FLOAT
        parts = [_share(t, t.number(one), hundred) for one in wanted]
        found = [
            _reduced(
                t, array, place, lambda line, p=part: _of_line(t, line, p), False, dtype,
                missing=missing,
            )
            for part in parts
        ]  # fmt: skip
        return FUNCTIONS[np.stack](t, Tup(tuple(found))) if isinstance(q, Tup) else found[0]

    return lowering


FEW_PLACES = 8
"""As many places are brought where they belong more quickly than all numbers."""


def _of_many(t: Translator, array: Array, q: Array, hundred: float) -> Value:
    """As many percentiles as an array asks for, of one line."""
    code = t.code
    q, many = t.stored(q), q.shape
    result = whole(code.temporary(many, FLOAT), many)

    def each(find: Callable[[Scalar], Scalar]) -> None:
        with ExitStack() as stack:
            own = tuple(stack.enter_context(code.loop(ZERO, size)) for size in many)
            share = code.let(arith.convert(code, q.element(own), FLOAT), "q")
            code.suppose(f"{share.text} >= 0.0 and {share.text} <= {hundred}", or_leave=True)
            if hundred != 1.0:
                share = code.let(arith.binary(code, "/", share, arith.constant(hundred)))
            for text in nests.stores(result, own, find(share)):
                code.emit(text)

    asked = [code.facts.known(size) for size in many]
    if None not in asked and prod(size or 0 for size in asked) <= FEW_PLACES:
        each_copy(t, array, 0, lambda line, own: each(lambda share: _or_none(t, line, share)))
        return result
    line = t.stored(t.array(FUNCTIONS[np.sort](t, array)))
    last = array.shape[0] - 1
    top = code.let(arith.convert(code, line.element((last,)), FLOAT), "top")

    def at(place: Int) -> Scalar:
        return code.let(arith.convert(code, line.element((place,)), _kind_of(array)), "x")

    def find(share: Scalar) -> Scalar:
        found = _between(t, last, share, at, lambda place: at(_next(t, place, last)))
        return Scalar(code.chosen(isnan(code, top).text, top.text, found.text), FLOAT)

    each(find)
    return result


def _or_none(t: Translator, line: Line, share: Scalar) -> Scalar:
    """What is no number where the line has such."""
    kind = line.numbers.dtype
    found = _of_line(t, line, share, kind if kind.kind == "f" else FLOAT)
    if line.size == line.known:
        return found
    nothing = arith.convert(t.code, held(line.numbers, (line.size - 1,), kind), FLOAT)
    some = f"{line.known.text} < {line.size.text}"
    return Scalar(t.code.chosen(some, nothing.text, found.text), FLOAT)


def _next(t: Translator, place: Int, last: Int) -> Int:
    name = t.code.fresh("next_")
    t.code.emit(f"{name} = min({place.text} + 1, {last.text})")
    t.code.facts.ranges[name] = (ZERO, last)
    return Int.atom(name)


def _share(t: Translator, q: Scalar, hundred: float) -> Scalar:
    if q.dtype.kind not in "iuf" or (q.value is not None and not 0 <= q.value <= hundred):
        raise t.code.fail("a percentile that is none")
    q = arith.convert(t.code, q, FLOAT)
    if hundred == 1.0:
        return t.code.let(q)
    return t.code.let(arith.binary(t.code, "/", q, arith.constant(hundred)))


def _of_line(t: Translator, line: Line, part: Scalar, kind: np.dtype = FLOAT) -> Scalar:
    """The same of a line that is brought in order as far as it takes.

    Args:
        kind: the type that the gap between neighbours has.
    """
    code = t.code

    def taken(find: Callable[..., Scalar]) -> Callable[[Int], Scalar]:
        return lambda place: code.let(arith.convert(code, find(code, line, place), kind), "x")

    return _between(t, line.size - 1, part, taken(bring), taken(next_above))


def _between(
    t: Translator,
    last: Int,
    part: Scalar,
    at_place: Callable[[Int], Scalar],
    behind: Callable[[Int], Scalar],
) -> Scalar:
    """The number at a share of the way through a line, straight between its neighbours."""
    code = t.code
    at, low = code.fresh("at_"), code.fresh("low_")
    rest, found = code.fresh("rest_"), code.fresh("y_")
    code.emit(f"{at} = {part.text} * {last.operand}")
    code.emit(f"{low} = min(int({at}), {last.text})")
    code.emit(f"{rest} = {at} - {low}")
    place = Int.atom(low)
    code.facts.ranges.setdefault(low, (ZERO, last))
    one, other = at_place(place), behind(place)
    gap = code.let(arith.binary(code, "-", other, one), "gap").text
    code.emit(f"{found} = {one.text} + {gap} * {rest}")
    with code.indented(f"if {rest} >= 0.5:"):
        code.emit(f"{found} = {other.text} - {gap} * (1.0 - {rest})")
    return Scalar(found, FLOAT)


lowers(np.percentile)(_quantile(100.0))
lowers(np.quantile)(_quantile(1.0))
lowers(np.nanpercentile)(_quantile(100.0, missing=True))
lowers(np.nanquantile)(_quantile(1.0, missing=True))
