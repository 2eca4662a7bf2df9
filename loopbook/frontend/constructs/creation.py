"""New arrays: zeros, ones, empty, full, eye, grids, copies.

Before::

    x = np.eye(n)

After::

    for i0 in range(n):
        for i1 in range(n):
            x[i0, i1] = 1.0 if i0 == i1 else 0.0
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from loopbook.frontend import arith, choices, lists, nests, types
from loopbook.frontend.constructs.elementwise import cast
from loopbook.frontend.constructs.evenly import arange, dtype_of, filled, linspace, stepped
from loopbook.frontend.expressions import GRIDS, Grid
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.types import FLOAT, INT
from loopbook.frontend.values import (
    Array,
    Index,
    Listing,
    Scalar,
    Slice,
    Thing,
    Tup,
    Value,
    boxed,
    whole,
)


def shape_of(t: Translator, shape: Value) -> Index:
    """The sizes that a ``shape`` argument gives."""
    sizes = tuple(t.integer(s) for s in (shape.items if isinstance(shape, Tup) else (shape,)))
    told = [size for size in sizes if t.code.facts.known(size) is not None]
    unknown = len(sizes) - len(told)
    beside = prod(told, start=ONE)
    sizes = tuple(t.code.bounded(size, unknown, beside) for size in sizes)
    return tuple(Int.of(1) if t.code.is_one(s) else s for s in sizes)


def _constant(number: int | None) -> tuple[Callable[..., Value], Callable[..., Value]]:
    """``zeros`` and ``zeros_like`` for a number; for None, memory as it comes."""

    def make(t: Translator, shape: Index, kind: np.dtype) -> Array:
        if kind not in types.SUPPORTED:
            raise t.code.fail(f"the type {kind}")
        if number is None:
            return whole(t.code.temporary(shape, kind), shape)
        return filled(shape, kind, arith.constant(kind.type(number)))

    def new(t: Translator, shape: Value, dtype: Value | None = None, order: Value | None = None):
        return make(t, shape_of(t, shape), dtype_of(t, dtype, FLOAT))

    def like(
        t: Translator, a: Value, dtype: Value | None = None, shape: Value | None = None,
        order: Value | None = None,
    ):  # fmt: skip
        array = t.array(a)
        sizes = array.shape if shape is None else shape_of(t, shape)
        return make(t, sizes, dtype_of(t, dtype, array.dtype))

    return new, like


for _number, _new, _like in ((0, np.zeros, np.zeros_like), (1, np.ones, np.ones_like)):
    _made = _constant(_number)
    FUNCTIONS[_new], FUNCTIONS[_like] = _made
FUNCTIONS[np.empty], FUNCTIONS[np.empty_like] = _constant(None)
FUNCTIONS[np.ndarray] = FUNCTIONS[np.empty]


@lowers(np.full)
def full(
    t: Translator,
    shape: Value,
    fill_value: Value,
    dtype: Value | None = None,
    order: Value | None = None,
) -> Value:
    value = t.code.let(t.number(fill_value))
    kind = dtype_of(t, dtype, value.dtype)
    number = t.number(cast(t, value, kind))
    return filled(shape_of(t, shape), kind, number)


@lowers(np.full_like)
def full_like(
    t: Translator,
    a: Value,
    fill_value: Value,
    dtype: Value | None = None,
    order: Value | None = None,
) -> Value:
    array = t.array(a)
    kind = dtype_of(t, dtype, array.dtype)
    return filled(array.shape, kind, t.code.let(t.number(cast(t, fill_value, kind))))


@lowers(np.identity)
def identity(t: Translator, n: Value, dtype: Value | None = None) -> Value:
    return eye(t, n, dtype=dtype)


@lowers(np.eye)
def eye(
    t: Translator,
    N: Value,
    M: Value | None = None,
    k: Value | None = None,
    dtype: Value | None = None,
    order: Value | None = None,
) -> Value:
    kind = dtype_of(t, dtype, FLOAT)
    rows = t.integer(N)
    columns = rows if M is None or isinstance(M, Thing) else t.integer(M)
    shift = ZERO if k is None else t.integer(k)
    one, nought = (arith.constant(kind.type(x)) for x in (1, 0))

    def at(own: Index) -> Scalar:
        same = Scalar(f"({(own[0] + shift).text} == {own[1].text})", types.BOOL)
        return choices.select(t.code, same, one, nought)

    return Array((rows, columns), kind, at)


@lowers(method="copy")
def copied(t: Translator, a: Value, order: Value | None = None) -> Value:
    array = t.array(a)
    made = nests.materialise(t.code, array) if array.view is not None else array
    return _boxed(t, made)


@lowers(np.copy)
def copy(t: Translator, a: Value, order: Value | None = None) -> Value:
    return _boxed(t, t.array(copied(t, a)))


@lowers(np.asarray, np.asanyarray)
def asarray(
    t: Translator, a: Value, dtype: Value | None = None, order: Value | None = None
) -> Value:
    array = _given(t, a, dtype)
    if array.view is not None and order is not None and t.python(order) in ("C", "F"):
        t.code.laid_out.add(array.view.buffer.name)
    return _boxed(t, cast(t, array, dtype_of(t, dtype, array.dtype)))


@lowers(np.ascontiguousarray, np.asfortranarray)
def in_order(t: Translator, a: Value, dtype: Value | None = None) -> Value:
    made = asarray(t, a, dtype, Thing("C"))
    return FUNCTIONS[np.atleast_1d](t, made) if isinstance(made, Scalar) else made


def _boxed(t: Translator, value: Array | Scalar) -> Value:
    """What is made of a number is an array without axes."""
    return (
        boxed(nests.force(t.code, value)) if isinstance(value, Scalar) or not value.rank else value
    )


def _given(t: Translator, a: Value, dtype: Value | None) -> Array:
    if isinstance(a, Listing):
        return lists.as_numpy(t, a, typed=dtype is not None)
    return t.array(_own_types(a))


def _own_types(value: Value) -> Value:
    """A list as NumPy makes an array of it: beside a float32, Python's numbers do not adapt."""
    if type(value) is Tup:
        return value.of(tuple(map(_own_types, value.items)))
    is_weak = isinstance(value, Scalar) and value.weak and type(value) is Scalar
    return replace(value, weak=False) if is_weak and isinstance(value, Scalar) else value


@lowers(np.array)
def array_(
    t: Translator,
    a: Value,
    dtype: Value | None = None,
    copy: Value | None = None,
    order: Value | None = None,
    ndmin: Value | None = None,
) -> Value:
    made = _given(t, a, dtype)
    result = cast(t, made, dtype_of(t, dtype, made.dtype))
    if copy is not None and not t.python(copy):  # only where it has to be one
        return asarray(t, a, dtype, order)
    if isinstance(result, Array) and result.view:
        result = nests.materialise(t.code, result, listed=False)
    for _ in range(0 if ndmin is None else t.python(ndmin) - made.rank):
        result = t.array(FUNCTIONS[np.expand_dims](t, result, arith.constant(0)))
    return _boxed(t, result)


class _Places(Grid):
    """``np.s_[1:-1, ::2]``: the index itself."""

    def at(self, t: Translator, items: list[Value]) -> Value:
        return items[0] if len(items) == 1 else Tup(tuple(items))


GRIDS[id(np.s_)] = GRIDS[id(np.index_exp)] = _Places()


class _Mgrid(Grid):
    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def at(self, t: Translator, items: list[Value]) -> Value:
        ranges = []
        for item in items:
            if not isinstance(item, Slice) or item.stop is None:
                raise t.code.fail("mgrid of what is no range")
            ends = [item.start or arith.constant(0), item.stop]
            if item.count is not None:
                ranges.append(linspace(t, *ends, arith.whole(item.count)))
                continue
            ranges.append(arange(t, *ends, *([item.step] if item.step else [])))
        if any(line.dtype.kind == "f" for line in ranges):
            ranges = [t.array(cast(t, line, FLOAT)) for line in ranges]
        made = grids(t, ranges, self.sparse)
        if self.sparse:
            return made
        return _one_array(t, made) if len(items) > 1 else ranges[0]


def grids(t: Translator, lines: list[Any], sparse: bool) -> Tup:
    """A line of numbers along each axis, everywhere on the grid."""
    shape = tuple(line.shape[0] for line in lines)
    made = []
    for axis, line in enumerate(lines):
        own_shape = tuple(s if a == axis or not sparse else ONE for a, s in enumerate(shape))

        def at(own: Index, line: Array = line, axis: int = axis) -> Scalar:
            return line.element((own[axis],))

        made.append(Array(own_shape, line.dtype, at, buffers=line.buffers, cost=line.cost))
    return Tup(tuple(made))


@lowers(np.meshgrid)
def meshgrid(
    t: Translator, *lines: Value, indexing: Value | None = None, sparse: Value | None = None
):
    given = [t.array(line) for line in lines]
    matrix = indexing is not None and t.python(indexing) == "ij"
    thin = sparse is not None and bool(t.python(sparse))
    if not matrix and len(given) > 1:
        first, second, *rest = grids(t, [given[1], given[0], *given[2:]], thin).items
        return Tup((second, first, *rest))
    return grids(t, given, thin)


@lowers(np.indices)
def indices(t: Translator, shape: Value) -> Value:
    lines = [stepped(t, arith.constant(0), arith.constant(1), s, INT) for s in shape_of(t, shape)]
    return _one_array(t, grids(t, lines, False))


def _one_array(t: Translator, given: Tup) -> Array:
    """The lines of a whole grid, of the same type, behind each other in one array."""
    grid = [t.array(line) for line in given.items]

    def at(own: Index) -> Scalar:
        if (axis := own[0].constant) is not None:
            return grid[axis].element(own[1:])
        value = grid[0].element(own[1:])
        for axis in range(1, len(grid)):
            here = Scalar(f"({own[0].text} == {axis})", types.BOOL)
            value = choices.select(t.code, here, grid[axis].element(own[1:]), value)
        return value

    return Array((Int.of(len(grid)), *grid[0].shape), grid[0].dtype, at, cost=1)


@lowers(np.fromfunction)
def fromfunction(t: Translator, function: Value, shape: Value, dtype: Value | None = None) -> Value:
    from loopbook.frontend.calls import call

    kind = dtype_of(t, dtype, FLOAT)
    lines = [stepped(t, arith.constant(0), arith.constant(1), s, kind) for s in shape_of(t, shape)]
    return call(t, function, list(grids(t, lines, False).items), {}, "fromfunction")


@lowers(np.tri)
def tri(
    t: Translator,
    N: Value,
    M: Value | None = None,
    k: Value | None = None,
    dtype: Value | None = None,
):
    kind = dtype_of(t, dtype, FLOAT)
    ones = filled(
        (t.integer(N), t.integer(N if M is None else M)),
        kind,
        Scalar("1", kind, value=kind.type(1)),
    )
    return triangle(t, ones, k, True)


def triangle(t: Translator, m: Value, k: Value | None, lower: bool) -> Value:
    """The part of a matrix below or above a diagonal, the rest nought."""
    array = t.array(m)
    shift = ZERO if k is None else t.integer(k)
    nought = Scalar(types.zero(array.dtype), array.dtype, value=array.dtype.type(0))

    def at(own: Index) -> Scalar:
        gap = own[-2] + shift
        test = f"({own[-1].text} {'<=' if lower else '>='} {gap.text})"
        return choices.select(t.code, Scalar(test, types.BOOL), array.element(own), nought)

    return Array(array.shape, array.dtype, at, buffers=array.buffers, cost=array.cost + 1)


@lowers(np.tril)
def tril(t: Translator, m: Value, k: Value | None = None) -> Value:
    return triangle(t, m, k, True)


@lowers(np.triu)
def triu(t: Translator, m: Value, k: Value | None = None) -> Value:
    return triangle(t, m, k, False)


GRIDS.update({id(np.mgrid): _Mgrid(False), id(np.ogrid): _Mgrid(True)})
