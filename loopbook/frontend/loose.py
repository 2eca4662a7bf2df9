"""Arrays whose size changes in loops and branches: room for the greatest, and a variable for how
much of it is meant.

Before::

    while len(x) > 1:
        x = (x[0::2] + x[1::2]) / 2

After::

    x_n_0 = n
    while True:
        n_0 = x_n_0
        if not n_0 > 1: break
        n_1 = (n_0 + 1) // 2
        for i0 in range(n_1): x_0[i0] = ...
        x_n_0 = n_1
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from loopbook.frontend import nests
from loopbook.frontend.code import Code
from loopbook.frontend.fitting import cut
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.values import Array, whole

if TYPE_CHECKING:
    from loopbook.frontend.home import Home
    from loopbook.frontend.homes import Homes


def changing(code: Code, old: Array, new: Array) -> frozenset[int] | None:
    """The axes along which two arrays have different sizes; None for arrays of other ranks."""
    if old.rank != new.rank:
        return None
    sizes = enumerate(zip(old.shape, new.shape, strict=True))
    return frozenset(axis for axis, (one, other) in sizes if not code.same(one, other))


def place(t: Homes, name: str, home: Home, value: Array) -> Array:
    """A buffer that an array of these and other sizes can live in, with the array in it."""
    code = t.code
    if value.mask is not None:
        value = t.stored(value)
    dtype = home.kind[0] if home.kind else value.dtype
    buffer = code.temporary(value.shape, dtype, name)
    nests.assign(code, whole(buffer, value.shape), value)
    home.buffer = buffer
    for axis in sorted(home.loose):
        variable = code.fresh(f"{name}_n_")
        code.emit(f"{variable} = {value.shape[axis].text}")
        code.mutable.add(variable)
        home.sizes[axis] = variable
    return whole(buffer, value.shape)


def move_in(t: Homes, home: Home, value: Array) -> Array:
    """Another array, of sizes that fit."""
    code, buffer = t.code, home.buffer
    assert buffer is not None
    if value.mask is not None or buffer in value.buffers:
        value = t.stored(value)
    shape = list(value.shape)
    for axis in sorted(home.loose):
        size, room = shape[axis], buffer.sizes[axis]
        if not code.facts.nonnegative(room - size, firm=False):
            shape[axis] = Int.atom(code.fresh("n_"))
            code.emit(f"{shape[axis].text} = min({size.text}, {room.text})")
            code.suppose(f"{size.text} <= {room.text}", or_leave=True)
            code.facts.ranges[shape[axis].text] = (ZERO, room)
            value = cut(value, axis, shape[axis])
    nests.assign(code, whole(buffer, tuple(shape)), value)
    for axis, variable in home.sizes.items():
        code.emit(f"{variable} = {shape[axis].text}")
    return whole(buffer, tuple(shape))


def refresh(t: Homes, but: Collection[str] = ()) -> None:
    """After control came one way or another: sizes are what their variables say.

    Args:
        but: names of which only the other way has set a size.
    """
    code, frame = t.code, t.frame
    for name, home in frame.homes.items():
        if (
            name in but
            or not home.sizes
            or home.buffer is None
            or not isinstance(home.value, Array)
        ):
            continue
        shape = list(home.value.shape)
        for axis, variable in home.sizes.items():
            size = code.fresh("n_")
            code.emit(f"{size} = {variable}")
            code.facts.ranges[size] = (ZERO, home.buffer.sizes[axis])
            shape[axis] = Int.atom(size)
        frame.env[name] = home.value = whole(home.buffer, tuple(shape))
