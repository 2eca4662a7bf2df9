"""Lists whose items are tuples of numbers: a column of an array, or an array, for each place.

Before::

    stack.append((i, 0.5 * d))           v, d = stack.pop()

After::

    stack_0[n_0] = i                     n_0 = n_0 - 1
    stack_1[n_0] = 0.5 * d               v_0 = stack_0[n_0]
    n_0 = n_0 + 1                        d_0 = stack_1[n_0]

Numbers of one type are side by side in one array. An item that is taken off, asked for or gone
through is a tuple again: ``+`` of two is one behind the other, and a whole number beside a float
stays one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from loopbook.frontend import nests
from loopbook.frontend.indexing import load_at
from loopbook.frontend.sorts import is_one_of_several
from loopbook.frontend.symbols import ONE, Int
from loopbook.frontend.values import (
    Array,
    Buffer,
    Dim,
    Index,
    Listing,
    Pair,
    Scalar,
    Slice,
    Tup,
    Value,
    view_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loopbook.frontend.translate import Translator


MOST_NUMBERS = 32
"""A list's tuples have at most so many numbers, each of which is stored by itself."""


def numbers_of(t: Translator, item: Value) -> tuple[Scalar, ...] | None:
    """The numbers of a tuple that consists of real ones; None for all else."""
    if not isinstance(item, Tup) or not item.items or not _is_tuple(item):
        return None
    held = [
        t.number(i) if isinstance(i, Array) and not i.rank and not i.sums else i for i in item.items
    ]
    real = [n for n in held if isinstance(n, Scalar) and not isinstance(n, Pair)]
    return tuple(real) if len(real) == len(held) else None


def _is_tuple(item: Tup) -> bool:
    """Whether it is a tuple or a list, or a tuple with names."""
    return not item.labels or issubclass(item.labels[0], tuple)


def start(t: Translator, owner: Listing, item: Tup, numbers: Sequence[Scalar]) -> None:
    """Give a list memory for tuples like its first one.

    Raises:
        LoweringError: they have more than `MOST_NUMBERS`.
    """
    if len(numbers) > MOST_NUMBERS:
        raise t.code.fail("appending a tuple or list of many numbers; append an array")
    kinds = tuple(number.kind for number in numbers)
    owner.sites, owner.rooms, owner.kind = {}, {}, kinds[0]
    owner.columns, owner.like = kinds, item.of(numbers)
    alike = len({dtype for dtype, _ in kinds}) == 1
    owner.shape = (Int.of(len(kinds)),) if alike else ()
    own = kinds[:1] if alike else kinds
    buffers = [t.code.temporary((ONE, *owner.shape), dtype, owner.name) for dtype, _ in own]
    owner.buffer, *owner.others = buffers


def agree(t: Translator, owner: Listing, item: Value, numbers: Sequence[Scalar] | None) -> None:
    """See to it that an item is like those that are there.

    Raises:
        LoweringError: it is not.
    """
    kinds = [number.kind for number in numbers or ()]
    same = len(kinds) == len(owner.columns) and all(
        one[0] == other[0] for one, other in zip(kinds, owner.columns, strict=True)
    )
    like = owner.like
    alike = isinstance(item, Tup) and (item.listed, item.labels) == (like.listed, like.labels)
    if not same or not alike:
        raise t.code.fail(f"{owner.name} has items of different types or ranks")
    owner.mixed = owner.mixed or any(map(is_one_of_several, numbers or ()))
    if tuple(kinds) != owner.columns:
        pairs = zip(kinds, owner.columns, strict=True)
        owner.mixed = True
        owner.columns = tuple((dtype, weak and other) for (dtype, weak), (_, other) in pairs)


def put(t: Translator, owner: Listing, numbers: Sequence[Scalar]) -> None:
    """Store an item behind the last one."""
    places = [_place(owner, place) for place in range(len(numbers))]
    # All are computed before one is stored: they may be read from the place that is stored into.
    held = [t.code.let(number) if "[" in number.text else number for number in numbers]
    for (buffer, rest), number in zip(places, held, strict=True):
        dims: tuple[Dim, ...] = ((Int.atom(owner.count), ()), *((index, ()) for index in rest))
        nests.assign(t.code, view_of(buffer, (), dims, buffer.dtype), number)


def taken(t: Translator, owner: Listing, index: Int) -> Tup:
    """The item at a place in memory."""
    held = []
    for place, (_, weak) in enumerate(owner.columns):
        buffer, rest = _place(owner, place)
        dims: tuple[Dim, ...] = ((index, ()), *((number, ()) for number in rest))
        value = t.code.let(view_of(buffer, (), dims, buffer.dtype).element(()))
        held.append(replace(value, weak=weak))
    return owner.like.of(held)


def columns(owner: Listing, total: Int, first: Int) -> list[Array]:
    """The numbers at each place of the tuples, as arrays."""
    found = []
    for place in range(len(owner.columns)):
        buffer, rest = _place(owner, place)
        dims: tuple[Dim, ...] = ((first, ((0, ONE),)), *((number, ()) for number in rest))
        found.append(view_of(buffer, (total,), dims, buffer.dtype))
    return found


def item_at(t: Translator, owner: Listing, parts: Sequence[Array], place: Value) -> Tup:
    """The item at an index."""
    if isinstance(place, Slice | Array | Tup):
        raise t.code.fail("a part of a list of tuples; use a loop")
    if isinstance(place, Scalar):
        place = t.code.let(place)
    held = [t.code.let(t.number(load_at(t, part, [place]))) for part in parts]
    kinds = zip(held, owner.columns, strict=True)
    return owner.like.of(replace(value, weak=weak) for value, (_, weak) in kinds)


def _place(owner: Listing, place: int) -> tuple[Buffer, Index]:
    """Where the number at a place of all tuples is: an array, and the index behind the item's."""
    assert owner.buffer is not None
    if owner.shape:
        return owner.buffer, (Int.of(place),)
    return (owner.buffer, *owner.others)[place], ()


__all__ = ["agree", "columns", "item_at", "numbers_of", "put", "start", "taken"]
