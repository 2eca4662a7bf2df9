"""Running sums, products and extremes; differences.

Before::

    y = np.cumsum(x)              m = np.maximum.accumulate(x)

After::

    total_0 = 0.0                 total_1 = x[0]
    for i0 in range(n):           for i1 in range(n):
        total_0 = total_0 + x[i0]     total_1 = max(total_1, x[i1])
        y[i0] = total_0               m[i1] = total_1
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import numpy as np

from loopbook.frontend import arith, choices, nests, types
from loopbook.frontend.code import Code, bare
from loopbook.frontend.constructs.elementwise import cast, into
from loopbook.frontend.constructs.joining import part
from loopbook.frontend.constructs.written import written
from loopbook.frontend.operators import operate
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Pair, Scalar, Thing, Tup, Value, held, whole

Step = Callable[[Code, Scalar, Scalar], Scalar]


def _scan(step: Step, nought: int | None) -> Callable[..., Array]:
    """Running totals along an axis.

    Args:
        step: makes the next total of the total so far and an element.
        nought: the total of nothing; None where there is none, and the first element begins.
    """

    def scanned(t: Translator, array: Array, place: int) -> Array:
        code, dtype = t.code, array.dtype
        buffer = code.temporary(array.shape, dtype)
        result = whole(buffer, array.shape)
        if any(map(code.is_empty, array.shape)):
            return result
        others = [n for n in range(array.rank) if n != place]
        own = [ZERO] * array.rank
        # Along the last axis the value so far stays in a variable; else whole rows are added.
        if place == array.rank - 1:
            names = [code.fresh("total_") for _ in range(2 if dtype.kind == "c" else 1)]
            total = _made_of(names, dtype)
            with ExitStack() as stack:
                for n in others:
                    own[n] = stack.enter_context(code.loop(ZERO, array.shape[n]))
                start = array.element(tuple(own)) if nought is None else _number(nought, dtype)
                _set(code, names, start)
                own[place] = stack.enter_context(code.loop(ZERO, array.shape[place]))
                _set(code, names, step(code, total, array.element(tuple(own))))
                for line in nests.put(buffer, tuple(own), total, dtype):
                    code.emit(line)
            return result
        nests.assign(code, part(result, place, ZERO, ONE), part(array, place, ZERO, ONE))
        with ExitStack() as stack:
            for n in [place, *others]:
                start = ONE if n == place else ZERO
                own[n] = stack.enter_context(code.loop(start, array.shape[n]))
            before = tuple(i - 1 if n == place else i for n, i in enumerate(own))
            found = step(code, held(buffer, before, dtype), array.element(tuple(own)))
            for line in nests.put(buffer, tuple(own), found, dtype):
                code.emit(line)
        return result

    return scanned


def _made_of(texts: Sequence[str], dtype: np.dtype) -> Scalar:
    return Pair(texts, dtype) if dtype.kind == "c" else Scalar(texts[0], dtype)


def _set(code: Code, names: Sequence[str], value: Scalar) -> None:
    """Set variables to the parts of a number, all of which may be made of what they held."""
    value = code.let(value) if len(names) > 1 else value
    for name, text in zip(names, value.texts, strict=True):
        code.emit(f"{name} = {bare(text)}")


def _number(value: int, dtype: np.dtype) -> Scalar:
    return _made_of([f"{value}.0" if dtype.kind in "fc" else str(value), "0.0"], dtype)


_sums = _scan(lambda code, so_far, x: arith.binary(code, "+", so_far, x), 0)
_products = _scan(lambda code, so_far, x: arith.binary(code, "*", so_far, x), 1)


def _cumulative(scan: Callable[..., Array]) -> Callable[..., Value]:
    """``cumsum`` and ``cumprod``: of all elements in a row, where no axis is given."""

    def lowering(
        t: Translator,
        a: Value,
        axis: Value | None = None,
        dtype: Value | None = None,
        out: Value | None = None,
    ) -> Value:
        array = t.array(a)
        kind = None if dtype is None else t.python(dtype)
        if kind is not None:
            array = t.array(cast(t, array, np.dtype(kind)))
        if (axis is None or isinstance(axis, Thing)) and array.rank != 1:
            array, axis = t.array(FUNCTIONS[np.ravel](t, array)), None
        place = 0 if axis is None or isinstance(axis, Thing) else t.python(axis) % array.rank
        result = scan(t, array if kind is not None else _to_sum(t, array), place)
        return into(t, out, result)

    return lowering


def _to_sum(t: Translator, array: Array) -> Array:
    dtype = types.summed(array.dtype)
    return t.array(cast(t, array, dtype)) if dtype != array.dtype else array


def _accumulate(scan: Callable[..., Array], summed: bool) -> Callable[..., Value]:
    """``ufunc.accumulate``: along the first axis, where none is given."""

    def lowering(
        t: Translator,
        array: Value,
        axis: Value | None = None,
        dtype: Value | None = None,
        out: Value | None = None,
    ) -> Value:
        given = t.array(array)
        if not given.rank:
            raise t.code.fail("accumulate of a number")
        kind = None if dtype is None else t.python(dtype)
        if kind is not None:
            given = t.array(cast(t, given, np.dtype(kind)))
        place = 0 if axis is None else t.python(axis) % given.rank
        result = scan(t, _to_sum(t, given) if summed and kind is None else given, place)
        if isinstance(out, Array) and out.dtype != result.dtype:
            raise t.code.fail(f"accumulate of {result.dtype} into an array of {out.dtype}")
        return into(t, out, result)

    return lowering


lowers(np.cumsum, method="cumsum")(_cumulative(_sums))
lowers(np.cumprod, method="cumprod")(_cumulative(_products))
lowers(np.add.accumulate)(_accumulate(_sums, True))
lowers(np.multiply.accumulate)(_accumulate(_products, True))
for _ufunc, _symbol in ((np.maximum, ">"), (np.minimum, "<")):
    lowers(_ufunc.accumulate)(
        _accumulate(
            _scan(lambda code, a, b, s=_symbol: choices.extreme(code, s, a, b), None), False
        )
    )


@lowers(np.diff)
def diff(
    t: Translator,
    a: Value,
    n: Value | None = None,
    axis: Value | None = None,
    prepend: Value | None = None,
    append: Value | None = None,
) -> Value:
    """What each element has more than the one before it."""
    array = t.array(a)
    place = array.rank - 1 if axis is None else t.python(axis) % array.rank
    ends = [None if e is None else _end(t, e, array, place) for e in (prepend, append)]
    if any(end is not None for end in ends):
        parts = [part for part in (ends[0], array, ends[1]) if part is not None]
        joined = FUNCTIONS[np.concatenate](t, Tup(tuple(parts)), arith.constant(place))
        array = t.array(joined)
    for _ in range(1 if n is None else t.python(n)):
        if array.cost > 1:
            array = t.stored(array)
        less = array.shape[place] - 1
        if (some := t.code.facts.nonnegative(less)) is not True:
            less = ZERO if some is False else t.code.raised_to_nought(less)
        sides = part(array, place, ONE, less), part(array, place, ZERO, less)
        ones = FUNCTIONS[np.not_equal] if array.dtype.kind == "b" else None  # NumPy's word for it
        array = t.array(ones(t, *sides) if ones else operate(t, ast.Sub, *sides))
    return array


def _end(t: Translator, value: Value, array: Array, axis: int) -> Value:
    """What is put before or behind the elements along an axis; a number is for each line."""
    given = FUNCTIONS[np.asarray](t, value)
    if t.array(given).rank:
        return given
    shape = [ONE if place == axis else size for place, size in enumerate(array.shape)]
    return FUNCTIONS[np.broadcast_to](t, given, Tup(tuple(map(arith.whole, shape))))


@written(np.trapezoid)
def trapezoid(y, x=None, dx=1.0, axis=-1):
    values = np.asarray(y) if np.ndim(y) == 1 else np.moveaxis(y, axis, -1)
    ends = values[..., 1:] + values[..., :-1]
    if x is None:
        return np.sum(ends * 0.5 * dx, axis=-1)
    places = np.asarray(x) if np.ndim(x) == 1 else np.moveaxis(x, axis, -1)
    return np.sum(ends * 0.5 * (places[..., 1:] - places[..., :-1]), axis=-1)
