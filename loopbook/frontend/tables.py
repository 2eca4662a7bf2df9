"""Tuples and lists of numbers, read at a place that only the loops know.

Before::

    dx = [0, 1, 0, -1]                       (or [0, x, 0, -x])
    for k in range(4):
        s += a[i + dx[k]]

After, with an array from outside the function; of numbers that are not known, one after another::

    for k in range(4):                           item_0 = 0
        item_0 = constant_0[k]                   if k == 1:
        s = s + a[i + item_0]                        item_0 = x
                                                 ...
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from loopbook.frontend import arith, types
from loopbook.frontend.symbols import Int
from loopbook.frontend.values import Scalar, Tup, Value

if TYPE_CHECKING:
    from loopbook.frontend.translate import Translator

MOST = 16
"""Most numbers that are asked for one after another."""


def read(t: Translator, base: Tup, place: Scalar) -> Value:
    """What stands at a place; of tuples of one length, the tuple of what stands there.

    Raises:
        LoweringError: of anything but numbers.
    """
    items = base.items
    if items and all(type(item) is Tup for item in items):
        if len({(len(item.items), item.listed) for item in items}) != 1:
            raise t.code.fail("tuples of different lengths at a place that is not known")
        place = t.code.let(place)
        columns = zip(*(item.items for item in items), strict=True)
        return items[0].of(read(t, base.of(column), place) for column in columns)
    if not items or not all(type(item) is Scalar for item in items):
        raise t.code.fail("an index that is not known, of other things than numbers")
    dtype, weak = reduce(types.promote, (item.kind for item in items))
    if all(item.value is not None for item in items):
        found = _stored(t, items, dtype, place)
    else:
        found = _chosen(t, items, dtype, place)
    return replace(found, weak=weak)


def _stored(t: Translator, items: tuple[Scalar, ...], dtype: np.dtype, place: Scalar) -> Scalar:
    """An element of an array that holds them."""
    from loopbook.frontend.expressions import from_outside
    from loopbook.frontend.indexing import load_at

    numbers = np.array([item.value for item in items], dtype)
    found = load_at(t, from_outside(t, t.code.table(numbers)), [place])
    return t.code.let(t.number(found))


def _chosen(t: Translator, items: tuple[Scalar, ...], dtype: np.dtype, place: Scalar) -> Scalar:
    """A variable that is set to the one that is asked for."""
    code = t.code
    if len(items) > MOST:
        raise code.fail(f"an index that is not known, of more than {MOST} numbers")
    place = code.let(place)
    name = code.fresh("item_")
    code.emit(f"{name} = {arith.convert(code, items[0], dtype).text}")
    for number, item in enumerate(items[1:], start=1):
        places = f"{place.text} == {number} or {place.text} == {number - len(items)}"
        with code.indented(f"if {places}:"):
            code.emit(f"{name} = {arith.convert(code, item, dtype).text}")
    code.mutable.add(name)
    return Scalar(name, dtype, whole=Int.atom(name) if dtype.kind in "iu" else None)


__all__ = ["read"]
