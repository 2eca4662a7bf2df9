"""Comparisons of what is no number: tuples, and things of Python that are known.

Before::

    (a, b) < (c, 2)

After::

    a < c or a == c and b < 2
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.records import Fields
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Array, Listing, Scalar, Thing, Tup, Value


def compared(t: Translator, symbol: str, left: Value, right: Value) -> Scalar | None:
    """Whether a comparison holds of two values; None if it is one of numbers or arrays.

    Raises:
        LoweringError: Python does not compare them, or nobody knows what they are.
    """
    if type(left) is Tup and type(right) is Tup:
        return _of_tuples(t, symbol, left, right)
    if _pythons_beside(left, right) or _pythons_beside(right, left):
        return _of_tuple_and_number(t, symbol)
    if _of_things(left) or _of_things(right):
        return _of_known(t, symbol, left, right)
    return None


def _of_things(value: Value) -> bool:
    """Whether it is something of Python that is no number."""
    if isinstance(value, Thing):
        return not isinstance(value.value, bool | int | float | np.generic | np.ndarray)
    return isinstance(value, Fields)


def _pythons_beside(one: Value, other: Value) -> bool:
    """Whether there is a tuple beside one of Python's numbers; NumPy's make an array of it."""
    return type(one) is Tup and (isinstance(other, Thing) or getattr(other, "weak", False) is True)


def _of_tuple_and_number(t: Translator, symbol: str) -> Scalar:
    if symbol not in ("==", "!="):
        raise t.code.fail(f"{symbol} of a tuple and a number")
    return arith.constant(symbol == "!=")


def _of_known(t: Translator, symbol: str, left: Value, right: Value) -> Scalar:
    """Things that are known, as text is, are compared now."""
    try:
        return arith.constant(bool(arith.PYTHON[symbol](t.python(left), t.python(right))))
    except TypeError as error:
        raise t.code.fail(str(error)) from None


def _of_tuples(t: Translator, symbol: str, left: Tup, right: Tup) -> Scalar:
    """The first items that differ decide; tuples of different lengths differ at the end."""
    pairs = list(zip(left.items, right.items, strict=False))
    sizes = len(left.items), len(right.items)
    if left.listed != right.listed:
        if symbol not in ("==", "!="):
            raise t.code.fail(f"{symbol} of a list and a tuple")
        return arith.constant(symbol == "!=")
    if symbol in ("==", "!="):
        found = arith.constant(sizes[0] == sizes[1])
        for one, other in pairs if found.value else ():
            found = arith.logical("&", found, _of_items(t, "==", one, other))
        found = found if symbol == "==" else arith.unary(t.code, "not", found)
        return replace(found, weak=True)
    rest = sizes[0] - sizes[1]
    last = {"<": rest < 0, "<=": rest <= 0, ">": rest > 0, ">=": rest >= 0}[symbol]
    found = arith.constant(last)
    for one, other in reversed(pairs):
        same = _of_items(t, "==", one, other)
        decided = _of_items(t, symbol[0], one, other)
        found = arith.logical("|", decided, arith.logical("&", same, found))
    return replace(found, weak=True)


def _of_items(t: Translator, symbol: str, one: Value, other: Value) -> Scalar:
    if type(one) is Tup and type(other) is Tup:
        return _of_tuples(t, symbol, one, other)
    if _of_things(one) or _of_things(other):
        return _of_known(t, symbol, one, other)
    if isinstance(one, Array | Listing) or isinstance(other, Array | Listing):
        raise t.code.fail("comparing tuples that arrays are in")
    return arith.compare(t.code, symbol, t.code.let(t.number(one)), t.code.let(t.number(other)))
