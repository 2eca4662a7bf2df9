"""Arrays that are made to be indices: triu_indices, tril_indices, unravel_index, ix_.

Before::

    i, j = np.triu_indices(n, 1)

After::

    n_0 = 0
    for i0 in range(n):
        for j0 in range(i0 + 1, n):
            i[n_0] = i0
            j[n_0] = j0
            n_0 = n_0 + 1
"""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith
from loopbook.frontend.constructs.creation import shape_of
from loopbook.frontend.operators import lift, operate
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import INT
from loopbook.frontend.values import (
    Array,
    Scalar,
    Thing,
    Tup,
    Value,
    looked_at,
    subscript,
    whole,
)


def _in_triangle(rows: int, columns: int, shift: int, lower: bool) -> int:
    """How many places are on, and below or above, a diagonal."""
    if lower:
        return sum(min(max(i + shift + 1, 0), columns) for i in range(rows))
    return sum(columns - min(max(i + shift, 0), columns) for i in range(rows))


def _triangle(t: Translator, rows: Int, columns: Int, k: Value | None, lower: bool) -> Tup:
    code = t.code
    shift = 0 if k is None else t.python(k)
    if not isinstance(shift, int) or None in (code.facts.known(rows), code.facts.known(columns)):
        raise code.fail("indices of a triangle whose size is not known before the loops run")
    n, m = rows.operand, columns.operand
    places = f"min(max(i_ + {shift + lower}, 0), {m})"
    text = f"sum({places if lower else f'{m} - {places}'} for i_ in range({n}))"
    count = code.facts.derive(text, [rows, columns], lambda n, m: _in_triangle(n, m, shift, lower))
    found = [code.temporary((count,), INT) for _ in range(2)]
    number = code.fresh("n_")
    code.emit(f"{number} = 0")
    with code.loop(ZERO, rows) as i:
        edge = i + shift + (1 if lower else 0)
        with code.loop(*_part(t, edge, columns, lower), hint="j") as j:
            for buffer, index in zip(found, (i, j), strict=True):
                code.emit(f"{subscript(buffer, (Int.atom(number),))} = {index.text}")
            code.emit(f"{number} = {number} + 1")
    return Tup(tuple(whole(buffer, (count,)) for buffer in found))


def _part(t: Translator, edge: Int, columns: Int, lower: bool) -> tuple[Int, Int]:
    """The columns of a row: those before an edge, or those from it on."""
    code = t.code
    inside = edge
    if code.facts.nonnegative(edge) is not True:
        least = code.fresh("e_")
        code.emit(f"{least} = max({edge.text}, 0)")
        inside = Int.atom(least)
    if not lower:
        return inside, columns
    if code.facts.nonnegative(columns - inside) is True:
        return ZERO, inside
    name = code.fresh("e_")
    code.emit(f"{name} = min({inside.text}, {columns.text})")
    return ZERO, Int.atom(name)


def _indices(lower: bool):
    def lowering(t: Translator, n: Value, k: Value | None = None, m: Value | None = None) -> Value:
        rows = t.integer(n)
        columns = rows if m is None or isinstance(m, Thing) else t.integer(m)
        return _triangle(t, rows, columns, k, lower)

    def from_array(t: Translator, arr: Value, k: Value | None = None) -> Value:
        array = t.array(arr)
        if array.rank != 2:
            raise t.code.fail("indices of a triangle of what is no matrix")
        rows, columns = array.shape
        return _triangle(t, rows, columns, k, lower)

    return lowering, from_array


for _lower, _names in (
    (True, (np.tril_indices, np.tril_indices_from)),
    (False, (np.triu_indices, np.triu_indices_from)),
):
    for _name, _lowering in zip(_names, _indices(_lower), strict=True):
        lowers(_name)(_lowering)


@lowers(np.unravel_index)
def unravel_index(t: Translator, indices: Value, shape: Value, order: Value | None = None) -> Value:
    """A place in each dimension for places in an array as one line."""
    sizes = shape_of(t, shape)
    if order is not None and t.python(order) == "F":
        turned = Tup(tuple(arith.whole(size) for size in reversed(sizes)))
        found = unravel_index(t, indices, turned)
        assert isinstance(found, Tup)
        return Tup(found.items[::-1])
    rest = indices if not isinstance(indices, Tup) else t.array(indices)
    if isinstance(rest, Scalar):  # what NumPy gives are its own numbers
        rest = replace(rest, weak=False)
    found: list[Value] = []
    for size in reversed(sizes[1:]):
        divisor = arith.whole(size)
        found.append(t.fixed(operate(t, ast.Mod, rest, divisor)))
        rest = t.fixed(operate(t, ast.FloorDiv, rest, divisor))
    return Tup((rest, *reversed(found)))


@lowers(np.ravel_multi_index)
def ravel_multi_index(
    t: Translator, multi_index: Value, dims: Value, mode: Value | None = None
) -> Value:
    """Places in an array as one line, for a place in each dimension; NumPy raises for those that
    are outside."""
    sizes = shape_of(t, dims)
    if not isinstance(multi_index, Tup) or len(multi_index.items) != len(sizes):
        raise t.code.fail("ravel_multi_index of what is no tuple of places in each dimension")
    if mode is not None and t.python(mode) != "raise":
        raise t.code.fail("ravel_multi_index with a mode; clip or take the remainder first")

    def form(*places: Scalar) -> Scalar:
        found = arith.constant(0)
        for place, size in zip(places, sizes, strict=True):
            here = t.code.let(place)
            if here.dtype.kind not in "iu":
                raise t.code.fail("ravel_multi_index of what are no whole numbers")
            t.code.suppose(f"{here.text} >= 0")
            t.code.suppose(f"{here.text} < {size.text}")
            found = arith.binary(t.code, "*", found, arith.whole(size))
            found = arith.binary(t.code, "+", found, replace(here, dtype=INT))
        return replace(found, weak=False)

    # What a mask leaves out may be outside.
    given = [
        t.stored(x) if isinstance(x, Array) and x.mask is not None else x for x in multi_index.items
    ]
    return t.fixed(lift(t, form, *given))


@lowers(np.ix_)
def ix_(t: Translator, *args: Value) -> Value:
    """Lines of indices, each along an axis of its own."""
    lines = [t.array(a) for a in args]
    lines = [t.array(FUNCTIONS[np.flatnonzero](t, x)) if x.dtype.kind == "b" else x for x in lines]
    made: list[Array] = []
    for axis, line in enumerate(lines):
        if line.rank != 1 or line.dtype.kind not in "iu":
            raise t.code.fail("ix_ of what are no lines of whole numbers, or of truth values")
        shape = tuple(line.shape[0] if n == axis else ONE for n in range(len(lines)))
        made.append(looked_at(line, shape, ((ZERO, ((axis, ONE),)),)))
    return Tup(tuple(made))
