"""Parts of lists, lists turned round or put in order, and lists of what a loop goes through.

Before::

    path = path[::-1]

After::

    n_1 = 0
    for i0 in range(n_0):
        part_0[n_1] = path_0[n_0 - 1 - i0]
        n_1 = n_1 + 1

An item that another one is put in place of is one of those that there are now, or Python raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loopbook.frontend import nests
from loopbook.frontend.indexing import store_at
from loopbook.frontend.lists import agree, append, as_array, begun, ensure, extent, rows, stored
from loopbook.frontend.registry import FUNCTIONS
from loopbook.frontend.slices import bounds
from loopbook.frontend.symbols import ONE, ZERO, Int
from loopbook.frontend.values import Dim, Listing, Scalar, Slice, Value, view_of

if TYPE_CHECKING:
    from loopbook.frontend.loops import Rows
    from loopbook.frontend.translate import Translator


def of_rows(t: Translator, name: str, items: Rows, of: Listing | None = None) -> Listing:
    """A new list of all that a loop goes through.

    Args:
        of: a list that they are from, of which the new one has the type where they are none.
    """
    made = begun(t, name, [])
    with t.code.loop(ZERO, items.count) as i:
        append(t, made, items.item(i), 1, True)
    if of is not None:
        made.mixed = of.mixed
    return made


def part(t: Translator, owner: Listing, places: Slice) -> Listing:
    """``items[start:stop:step]``, which is a new list."""
    from loopbook.frontend.loops import Rows

    given = rows(t, owner)
    start, count, step = bounds(t, places, given.count)
    return of_rows(t, "part", Rows(count, lambda i: given.item(start + i * step)), owner)


def put(t: Translator, owner: Listing, places: Sequence[Value], value: Value) -> None:
    """``items[place] = value``, of numbers."""
    code = t.code
    ensure(t, owner)
    place = places[0] if len(places) == 1 else None
    if not isinstance(place, Scalar) or owner.columns or owner.shape:
        raise code.fail(f"storing into {owner.name}, but for one number in place of another")
    number = stored(t, value)
    agree(t, owner, number)
    base, at = as_array(t, owner), code.let(place)
    assert owner.buffer is not None
    t.writes_to(owner.buffer)
    total = base.shape[0].text
    inside = f"{at.text} < {total} and {at.text} >= -({total})"
    code.suppose(inside)
    with code.indented(f"if {inside}:"):
        store_at(t, base, [at], number)


def reverse(t: Translator, owner: Listing) -> None:
    """``items.reverse()``."""
    first, total = extent(t, owner)
    for buffer in filter(None, (owner.buffer, *owner.others)):
        rest: tuple[Dim, ...] = tuple((ZERO, ((n, ONE),)) for n in range(1, len(buffer.shape)))
        shape = (total, *buffer.shape[1:])
        turned: Dim = (first + total - 1, ((0, Int.of(-1)),))
        value = t.stored(replace(view_of(buffer, shape, (turned, *rest), buffer.dtype), view=None))
        nests.assign(
            t.code, view_of(buffer, shape, ((first, ((0, ONE),)), *rest), buffer.dtype), value
        )


def sort(t: Translator, owner: Listing, reverse: Value | None) -> None:
    """``items.sort()``, of numbers."""
    code = t.code
    ordered = t.array(FUNCTIONS[sorted](t, owner, reverse=reverse))
    first, total = extent(t, owner)
    assert owner.buffer is not None
    with code.loop(ZERO, total) as i:
        for line in nests.put(owner.buffer, (first + i,), ordered.element((i,)), ordered.dtype):
            code.emit(line)
