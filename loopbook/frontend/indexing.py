"""Subscripts, read and assigned: numbers, slices, ``newaxis``, masks, arrays of indices.

Before::

    A[1:-1, ::2]            B[i, None]         x[cols[a:b]]

After (elements)::

    A[i0 + 1, 2 * i1]       B[i, i1]           j_0 = cols[i0 + a];  x[j_0]
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from loopbook.errors import LoweringError
from loopbook.frontend import nests, tables
from loopbook.frontend.casts import strong
from loopbook.frontend.loops import MOST_WRITTEN_OUT, Range
from loopbook.frontend.records import Fields
from loopbook.frontend.registry import FUNCTIONS
from loopbook.frontend.slices import bounds, position, suppose_within
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import (
    Array,
    Dim,
    Index,
    Listing,
    Pair,
    Scalar,
    Slice,
    Thing,
    Tup,
    Value,
    boxed,
    looked_at,
    unboxed,
)

FULL = Slice(None, None, None)


def items_of(t: Translator, node: ast.expr) -> list[Value]:
    """The parts of an index; numbers that may change later are kept as they are now."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    items: list[Value] = []
    for part in parts:
        item = t.expr(part)
        if isinstance(item, Thing) and isinstance(item.value, Range):
            item = item.value.array()
        if isinstance(item, Listing):
            from loopbook.frontend import lists

            item = lists.places(t, item)
        if isinstance(item, Tup) and part is node and not item.listed:
            items += item.items  # one that is a part of an index, as a list, says places
        else:
            items.append(item)
    return items


def load_at(t: Translator, base: Value, items: Sequence[Value]) -> Value:
    """``base[items]``."""
    if isinstance(base, Tup):
        return _from_tuple(t, base, items)
    if isinstance(base, Thing):
        from loopbook.frontend.expressions import wrapped

        if isinstance(base.value, Range):
            if _turns_round(items):
                return FUNCTIONS[reversed](t, base)
            raise t.code.fail("a part of a range; use a range with other ends")
        keys = [t.python(item) for item in items]
        return wrapped(base.value[keys[0] if len(keys) == 1 else tuple(keys)])
    array = (
        base if isinstance(base, Array) and not base.sums and base.mask is None else t.array(base)
    )
    if not array.rank and items:
        raise t.code.fail("an index of what is no array")
    dots = any(isinstance(item, Thing) and item.value is Ellipsis for item in items)
    items = _expanded(t, array, items)
    masked = _beside_mask(t, array, items)
    if masked is not None:
        from loopbook.frontend.masks import chosen

        return chosen(t, *masked)
    if any(isinstance(item, Array | Tup) for item in items):
        return _gathered(t, array, items)
    if array.view is None and array.cost > 3:
        array = t.stored(array)
    shape, dims = _sliced(t, array, items)
    found = looked_at(array, shape, dims)
    if shape:
        return found
    element = found.element(())
    if element.weak and array.view is None and not array.weak:  # NumPy's own, as all its elements
        element = strong(element)
    return boxed(element) if dots else unboxed(element)


def _turns_round(items: Sequence[Value]) -> bool:
    """Whether an index is ``[::-1]``."""
    match items:
        case [Slice(start=None, stop=None, step=Scalar(value=-1))]:
            return True
    return False


def store_at(t: Translator, base: Array, items: Sequence[Value], value: Value) -> None:
    """``base[items] = value``."""
    code = t.code
    assert base.view is not None
    if isinstance(value, Tup | Thing):
        value = t.array(value) if isinstance(value, Tup) else t.number(value)
    if isinstance(value, Listing):
        from loopbook.frontend import lists

        value = lists.as_array(t, value)
    assert isinstance(value, Array | Scalar)
    items = _expanded(t, base, items)
    t.writes_to(base.view.buffer)
    masked = _beside_mask(t, base, items)
    if masked is not None:
        from loopbook.frontend.masks import store_masked

        store_masked(t, *masked, value)
    elif any(isinstance(item, Array | Tup) for item in items):
        _scatter(t, base, items, value)
    else:
        if isinstance(value, Array) and value.mask is not None:
            value = t.stored(value)
        shape, dims = _sliced(t, base, items)
        nests.assign(code, looked_at(base, shape, dims), value)


def _from_tuple(t: Translator, base: Tup, items: Sequence[Value]) -> Value:
    (item,) = items
    if isinstance(base, Fields) and base.kind is dict:
        key = t.python(item)
        if key not in base.names:
            raise t.code.fail(f"the key {key!r}, which the dict has not")
        return base.item(key)
    if isinstance(item, Slice):
        ends = (None if p is None else t.python(p) for p in (item.start, item.stop, item.step))
        return Tup(base.items[slice(*ends)], base.listed)
    place = _known_place(t, item)
    if place is None:
        return tables.read(t, base, t.number(item))
    if not isinstance(place, int) or not -len(base.items) <= place < len(base.items):
        raise t.code.fail("an index of a tuple that is not known or too large")
    return base.items[place]


def _known_place(t: Translator, item: Value) -> Any:
    """An index, where it is known; None of a whole number that only the loops know.

    Raises:
        UnrollError: it is known once a short loop is written out.
    """
    try:
        return t.python(item)
    except LoweringError:
        if isinstance(item, Scalar) and item.dtype.kind in "iu" and not _in_short_loop(t, item):
            return None
        raise


def _in_short_loop(t: Translator, item: Scalar) -> bool:
    """Whether one of the loops that a number counts in may be written out."""
    facts = t.code.facts
    atoms = item.whole.atoms if item.whole is not None else frozenset()
    loops = (name for name in atoms & facts.ranges.keys() if name.isidentifier())
    for low, high in map(facts.ranges.__getitem__, loops):
        count = None if low is None or high is None else (high - low).constant
        if count is not None and count < MOST_WRITTEN_OUT:
            return True
    return False


def _expanded(t: Translator, array: Array, items: Sequence[Value]) -> list[Value]:
    """The index with a part for each dimension: an ellipsis and what is left out written out."""

    def takes(item: Value) -> int:
        if isinstance(item, Thing):
            return 0
        if isinstance(item, Array) and item.dtype.kind == "b":
            return item.rank
        return 1

    count = array.rank - sum(map(takes, items))
    if count < 0:
        raise t.code.fail("more indices than dimensions")
    result: list[Value] = []
    seen = False
    for item in items:
        if isinstance(item, Thing) and item.value is ...:
            result += [FULL] * count
            seen = True
        elif isinstance(item, Thing) and item.value is not None:
            raise t.code.fail(f"{item.value!r} as an index")
        else:
            result.append(item)
    return result if seen else result + [FULL] * count


def _beside_mask(
    t: Translator, array: Array, items: Sequence[Value]
) -> tuple[Array, Array, int] | None:
    """For an index with one mask in it: what the other parts leave of the array, the mask, and the
    first of the axes there that it is for. None for other indices."""
    arrays = [n for n, item in enumerate(items) if isinstance(item, Array | Tup)]
    if len(arrays) != 1:
        return None
    (place,) = arrays
    mask = items[place]
    if not isinstance(mask, Array) or mask.dtype.kind != "b" or not mask.rank:
        return None
    others = [*items[:place], *[FULL] * mask.rank, *items[place + 1 :]]
    axis = sum(not isinstance(item, Scalar) for item in items[:place])
    if axis and any(isinstance(item, Scalar) for item in items):
        raise t.code.fail("a mask behind a slice and beside a number; index twice, A[i][:, mask]")
    if all(item == FULL for item in others):
        return array, mask, axis
    if array.view is None and array.cost > 3:
        array = t.stored(array)
    return looked_at(array, *_sliced(t, array, others)), mask, axis


def _sliced(t: Translator, array: Array, items: Sequence[Value]) -> tuple[Index, tuple[Dim, ...]]:
    """Shape of the result, and where its elements are in each dimension of `array`."""
    shape: list[Int] = []
    dims: list[Dim] = []
    for item in items:
        if isinstance(item, Thing):
            shape.append(ONE)
            continue
        size = array.shape[len(dims)]
        if isinstance(item, Slice):
            start, count, step = bounds(t, item, size)
            factors = () if count == ONE else ((len(shape), Int.of(step)),)
            dims.append((start, factors))
            shape.append(count)
        else:
            place = position(t, t.number(item), size)
            suppose_within(t.code, place, size)
            dims.append((place, ()))
    return tuple(shape), tuple(dims)


def advanced(t: Translator, array: Array, items: Sequence[Value]):
    """Shape and places for an index with arrays in it."""
    code = t.code
    items = [one for item in items for one in _of_mask(t, item)]
    places: list[tuple[int, Array]] = []  # dimension of the base, indices
    basic: list[Value] = []
    where: list[int] = []
    dimension = 0
    for number, item in enumerate(items):
        if isinstance(item, Array | Tup | Scalar):
            places.append((dimension, t.array(item)))
            where.append(number)
        else:
            basic.append(item)
        dimension += not isinstance(item, Thing)
    shape = nests.broadcast(code, [indices.shape for _, indices in places])
    indices = [(d, nests.fit(code, i, shape)) for d, i in places]
    others: list[Value] = []
    for item in items:
        others.append(Slice(None, None, None) if isinstance(item, Scalar | Array | Tup) else item)
    own_shape, own_dims = _sliced(t, array, others)
    taken = {d for d, _ in indices}
    kept = [
        axis
        for axis, item in enumerate(others)
        if not isinstance(items[axis], Scalar | Array | Tup)
    ]
    together = where == list(range(where[0], where[-1] + 1))
    front = sum(1 for axis in kept if axis < where[0]) if together else 0
    axes = kept[:front], kept[front:]
    result = (
        *(own_shape[a] for a in axes[0]),
        *shape,
        *(own_shape[a] for a in axes[1]),
    )

    def place(own: Index) -> Index:
        inner = own[front : front + len(shape)]
        rest = [*own[:front], *own[front + len(shape) :]]
        full: list[Int] = [ZERO] * len(own_shape)
        for axis, index in zip([*axes[0], *axes[1]], rest, strict=True):
            full[axis] = index
        found = []
        for d, (offset, factors) in enumerate(own_dims):
            if d in taken:
                found.append(position(t, dict(indices)[d].element(inner), array.shape[d]))
            else:
                for axis, factor in factors:
                    offset = offset + full[axis] * factor
                found.append(offset)
        return tuple(found)

    buffers = array.buffers | {b for _, i in indices for b in i.buffers}
    return result, place, frozenset(buffers)


def _of_mask(t: Translator, item: Value) -> Sequence[Value]:
    """Of a mask beside other indices, the lines of places where it is true."""
    if not isinstance(item, Array) or item.dtype.kind != "b":
        return (item,)
    found = FUNCTIONS[np.nonzero](t, item)
    assert isinstance(found, Tup)
    return found.items


def _gathered(t: Translator, array: Array, items: Sequence[Value]) -> Array:
    if array.view is None and array.cost > 1:
        array = t.stored(array)
    shape, place, buffers = advanced(t, array, items)
    return Array(
        shape,
        array.dtype,
        lambda own: array.element(place(own)),
        buffers=buffers,
        cost=array.cost + 2,
    )


def _scatter(t: Translator, base: Array, items: Sequence[Value], value: Array | Scalar) -> None:
    """Elements in NumPy's order: of indices that are the same, the last one counts."""
    code = t.code
    shape, place, _ = advanced(t, base, items)
    assert base.view is not None
    buffer = base.view.buffer
    if isinstance(value, Array):
        value = nests.force(code, value)
    if isinstance(value, Array):
        value = t.array(value)
        shape = nests.agreed(code, shape, value.shape)
        value = nests.fit(code, value, shape)
        if buffer in value.buffers:
            value = nests.materialise(code, value)
    if any(buffer in i.buffers for i in items if isinstance(i, Array)):
        kept = [t.stored(t.array(i)) if isinstance(i, Array) else i for i in items]
        _shape, place, _buffers = advanced(t, base, kept)
    own: list[Int] = []
    from contextlib import ExitStack

    with ExitStack() as stack:
        for size in shape:
            own.append(stack.enter_context(code.loop(ZERO, size)))
        target = base.view.index(place(tuple(own)))
        element = value.element(tuple(own)) if isinstance(value, Array) else value
        if isinstance(element, Pair):
            element = code.let(element)
        for line in nests.put(buffer, target, element, base.dtype):
            code.emit(line)
