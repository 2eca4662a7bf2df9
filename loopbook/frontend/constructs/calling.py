"""Functions of functions: what calls another one, or makes one of it.

Before::

    f = functools.partial(kernel, width=h)      y = np.vectorize(lambda v: v if v > 0 else 0.0)(x)

After: as ``kernel(…, width=h)``, and::

    for i0 in range(x.shape[0]):
        ...
        made_0[i0] = s_0
"""

from __future__ import annotations

import functools
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from loopbook.frontend import nests
from loopbook.frontend.calls import call
from loopbook.frontend.constructs.builtin import _items
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Scalar, Thing, Value, whole

WORDS = frozenset(map(np.dtype, (float, int, bool, complex)))
"""Types of which NumPy's and Python's numbers give results of the same types."""


@dataclass(frozen=True)
class Partial:
    """A function with some of its arguments."""

    function: Value
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)

    def lowered(self, t: Translator, *args: Value, **kwargs: Value) -> Value:
        return call(t, self.function, [*self.args, *args], self.kwargs | kwargs, "partial")


@dataclass(frozen=True)
class Vectorized:
    """A function of numbers that is called for each element."""

    function: Value

    def lowered(self, t: Translator, *args: Value) -> Value:
        return _each(t, self.function, args)


@lowers(functools.partial)
def partial(t: Translator, function: Value, *args: Value, **kwargs: Value) -> Value:
    fixed = {name: t.fixed(value) for name, value in kwargs.items()}
    return Thing(Partial(function, tuple(map(t.fixed, args)), fixed))


@lowers(np.vectorize)
def vectorize(t: Translator, pyfunc: Value) -> Value:
    return Thing(Vectorized(pyfunc))


def _each(t: Translator, function: Value, args: tuple[Value, ...]) -> Value:
    """What a function gives for each element; it is called with Python's numbers."""
    code = t.code
    arrays = [t.array(value) for value in args]
    shape = nests.broadcast(code, [array.shape for array in arrays])
    if not shape:
        return call(t, function, [t.number(value) for value in args], {}, "np.vectorize")
    t.settle_all()
    if any(array.dtype not in WORDS for array in arrays):
        raise code.fail("np.vectorize over narrow numbers; use float64 or int64")
    lines = [a if a.view is not None or not a.rank else t.stored(a) for a in arrays]
    sides = [nests.fit(code, line, shape) for line in lines]
    own: list[Int] = []
    with ExitStack() as stack:
        for size in shape:
            own.append(stack.enter_context(code.loop(ZERO, size)))
        given: list[Value] = [_pythons(t, side, tuple(own)) for side in sides]
        value = t.number(call(t, function, given, {}, "the function of np.vectorize"))
        dtype = value.dtype
        made = code.temporary(shape, dtype, "made")
        for line in nests.put(made, tuple(own), value, dtype):
            code.emit(line)
    return whole(made, shape)


def _pythons(t: Translator, array: Array, own: tuple[Int, ...]) -> Scalar:
    element = t.code.let(array.element(own))
    return replace(element, weak=True) if type(element) is Scalar else element


@lowers(functools.reduce)
def reduce(t: Translator, function: Value, iterable: Value, *first: Value) -> Value:
    """The items of a tuple taken together, one after another."""
    items = [*first, *_items(t, iterable)]
    if not items:
        raise t.code.fail("reduce of nothing")
    return functools.reduce(lambda a, b: call(t, function, [a, b], {}, "reduce"), items)


@lowers(np.fromiter)
def fromiter(t: Translator, iter: Value, dtype: Value, count: Value | None = None) -> Value:
    if count is not None and t.python(count) != -1:
        length = FUNCTIONS[len](t, iter)
        if not t.code.same(t.integer(length), t.integer(count)):
            raise t.code.fail("fromiter of another number of items than there are")
    return FUNCTIONS[np.array](t, iter, dtype)


def called_object(target: Any) -> Any:
    """What lowers calls of an object that stands for a function; None for others."""
    from loopbook.frontend.expressions import wrapped

    if isinstance(target, Partial | Vectorized):
        return target.lowered
    if isinstance(target, functools.partial):
        made = Partial(
            Thing(target.func),
            tuple(map(wrapped, target.args)),
            {name: wrapped(value) for name, value in target.keywords.items()},
        )
        return made.lowered
    if isinstance(target, np.vectorize) and target.otypes is None and target.signature is None:
        return Vectorized(Thing(target.pyfunc)).lowered
    return None


__all__ = ["called_object", "fromiter", "partial", "reduce", "vectorize"]
