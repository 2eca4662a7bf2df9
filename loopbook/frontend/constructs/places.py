"""Places of extreme elements: argmin and argmax.

Before::

    i = np.argmax(x)

After::

    best_0 = x[0]
    for k0 in range(n):
        if not x[k0] <= best_0:              # greater, or no number
            if math.fabs(best_0) >= 0.0:     # a number
                best_0 = x[k0]; place_0 = k0
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from loopbook.frontend.code import bare
from loopbook.frontend.constructs.folding import in_rows, rows
from loopbook.frontend.registry import lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import INT
from loopbook.frontend.values import Array, Index, Scalar, Thing, Value, subscript, whole


def _is_better(dtype: np.dtype, symbol: str, element: str, best: str) -> list[str]:
    """What has to be true, one after the other: the first element that is no number stays."""
    if dtype.kind == "b":
        return [f"int({element}) {symbol} int({best})"]
    if dtype.kind != "f":
        return [f"{element} {symbol} {best}"]
    return [f"not {element} {'<=' if symbol == '>' else '>='} {best}", f"math.fabs({best}) >= 0.0"]


def _place_in_rows(t: Translator, array: Array, axis: int, symbol: str, target: Array) -> None:
    """The places along an axis that is not along memory, a row at a time.

    Before: ``np.argmax(x, axis=0)``. After::

        for i0 ...: best[i0] = x[0, i0]; place[i0] = 0
        for k0 ...:
            for i0 ...:
                b = best[i0]; p = place[i0]
                if not x[k0, i0] <= b: ...; b = x[k0, i0]; p = k0
                best[i0] = b; place[i0] = p

    No store depends on what is found, so that these are vectors.
    """
    code = t.code
    assert target.view is not None
    stores = code.temporary(target.shape, array.dtype), target.view.buffer

    def begin(own: Index, first: Index) -> None:
        code.emit(f"{subscript(stores[0], own)} = {bare(array.element(first).text)}")
        code.emit(f"{subscript(stores[1], own)} = 0")

    with rows(code, array, axis, begin) as (own, full):
        element = code.let(array.element(full), "x")
        names = code.fresh("best_"), code.fresh("place_")
        for name, store in zip(names, stores, strict=True):
            code.emit(f"{name} = {subscript(store, own)}")
        with ExitStack() as inner:
            for test in _is_better(array.dtype, symbol, element.text, names[0]):
                inner.enter_context(code.indented(f"if {test}:"))
            code.emit(f"{names[0]} = {element.text}")
            code.emit(f"{names[1]} = {full[axis].text}")
        for name, store in zip(names, stores, strict=True):
            code.emit(f"{subscript(store, own)} = {name}")


def _place(symbol: str) -> Callable[..., Value]:
    """``argmin`` and ``argmax``: the first of the extreme elements."""

    def lowering(t: Translator, a: Value, axis: Value | None = None) -> Value:
        code, array = t.code, t.array(a)
        chosen = None if axis is None or isinstance(axis, Thing) else t.python(axis) % array.rank
        if array.cost > 1:
            array = t.stored(array)
        own_axes = [x for x in range(array.rank) if chosen is not None and x != chosen]
        axes = [x for x in range(array.rank) if x not in own_axes]
        shape = tuple(array.shape[x] for x in own_axes)
        target = code.temporary(shape, INT) if shape else None
        if target is not None and in_rows(array, axes[0]):
            _place_in_rows(t, array, axes[0], symbol, whole(target, shape))
            return whole(target, shape)
        best, place = code.fresh("best_"), code.fresh("place_")
        with ExitStack() as stack:
            full: list[Int] = [ZERO] * array.rank
            own = [stack.enter_context(code.loop(ZERO, size)) for size in shape]
            for x, index in zip(own_axes, own, strict=True):
                full[x] = index
            code.emit(f"{best} = {bare(array.element(tuple(full)).text)}")
            code.emit(f"{place} = 0")
            with ExitStack() as inner:
                number = ZERO
                for x in axes:
                    full[x] = inner.enter_context(code.loop(ZERO, array.shape[x], hint="k"))
                    number = number * array.shape[x] + full[x]
                element = code.let(array.element(tuple(full)), "x")
                for test in _is_better(array.dtype, symbol, element.text, best):
                    inner.enter_context(code.indented(f"if {test}:"))
                code.emit(f"{best} = {element.text}")
                code.emit(f"{place} = {number.text}")
            if target is not None:
                code.emit(f"{subscript(target, tuple(own))} = {place}")
        if target is not None:
            return whole(target, shape)
        return Scalar(place, INT, whole=Int.atom(place))

    return lowering


lowers(np.argmax, method="argmax")(_place(">"))
lowers(np.argmin, method="argmin")(_place("<"))
