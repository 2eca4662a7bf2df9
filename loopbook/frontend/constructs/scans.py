"""Running sums and differences.

Before::

    y = np.cumsum(x)

After::

    y[0] = x[0]
    for i0 in range(1, n):
        y[i0] = y[i0 - 1] + x[i0]
"""

from __future__ import annotations

import ast
from contextlib import ExitStack

import numpy as np

from loopbook.frontend import arith, types
from loopbook.frontend.code import bare
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.constructs.joining import part
from loopbook.frontend.operators import operate
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Scalar, Thing, Value, subscript, whole


def _scan(symbol: str):
    def lowering(t: Translator, a: Value, axis: Value | None = None) -> Value:
        code, array = t.code, t.array(a)
        if (axis is None or isinstance(axis, Thing)) and array.rank != 1:
            array, axis = t.array(FUNCTIONS[np.ravel](t, array)), None
        place = 0 if axis is None or isinstance(axis, Thing) else t.python(axis) % array.rank
        dtype = types.summed(array.dtype)
        array = t.array(cast(t, array, dtype)) if dtype != array.dtype else array
        buffer = code.temporary(array.shape, dtype)
        others = [n for n in range(array.rank) if n != place]
        last = place == array.rank - 1
        # Along the last axis the value so far stays in a variable; else whole rows are added.
        order = [*others, place] if last else [place, *others]
        total = code.fresh("total_")
        nought = (
            ("0.0" if dtype.kind == "f" else "0")
            if symbol == "+"
            else ("1.0" if dtype.kind == "f" else "1")
        )
        own = [ZERO] * array.rank
        if last:
            with ExitStack() as stack:
                for n in others:
                    own[n] = stack.enter_context(code.loop(ZERO, array.shape[n]))
                code.emit(f"{total} = {nought}")
                own[place] = stack.enter_context(code.loop(ZERO, array.shape[place]))
                element = array.element(tuple(own))
                code.emit(f"{total} = {total} {symbol} {element.text}")
                code.emit(f"{subscript(buffer, tuple(own))} = {total}")
            return whole(buffer, array.shape)
        result = whole(buffer, array.shape)
        from loopbook.frontend import nests

        if not code.is_empty(array.shape[place]):
            nests.assign(code, part(result, place, ZERO, ONE), part(array, place, ZERO, ONE))
        with ExitStack() as stack:
            for n in order:
                start = ONE if n == place else ZERO
                own[n] = stack.enter_context(code.loop(start, array.shape[n]))
            before = tuple(i - 1 if n == place else i for n, i in enumerate(own))
            element = array.element(tuple(own))
            so_far = Scalar(subscript(buffer, before), dtype)
            text = bare(arith.binary(code, symbol, so_far, element).text)
            code.emit(f"{subscript(buffer, tuple(own))} = {text}")
        return result

    return lowering


_sums, _products = _scan("+"), _scan("*")
lowers(np.cumsum, method="cumsum")(_sums)
lowers(np.cumprod, method="cumprod")(_products)


@lowers(np.diff)
def diff(t: Translator, a: Value, n: Value | None = None, axis: Value | None = None) -> Value:
    """What each element has more than the one before it."""
    array = t.array(a)
    place = array.rank - 1 if axis is None else t.python(axis) % array.rank
    for _ in range(1 if n is None else t.python(n)):
        if array.cost > 1:
            array = t.stored(array)
        less = array.shape[place] - 1
        if t.code.facts.nonnegative(less) is False:
            less = ZERO
        array = t.array(
            operate(t, ast.Sub, part(array, place, ONE, less), part(array, place, ZERO, less))
        )
    return array


@lowers(np.trapezoid)
def trapezoid(t: Translator, y: Value, x: Value | None = None, dx: Value | None = None) -> Value:
    """The integral by trapezoids, of a function of one variable."""
    array = t.array(y)
    if array.rank != 1:
        raise t.code.fail("trapezoid of more than one axis")
    less = array.shape[0] - 1
    ends = operate(t, ast.Add, part(array, 0, ONE, less), part(array, 0, ZERO, less))
    width: Value = arith.constant(1.0) if dx is None else dx
    if x is not None and not isinstance(x, Thing):
        width = diff(t, x)
    halves = operate(t, ast.Mult, operate(t, ast.Mult, ends, arith.constant(0.5)), width)
    return FUNCTIONS[np.sum](t, halves)
