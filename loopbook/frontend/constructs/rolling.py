"""Elements moved round along axes.

Before::

    n = np.roll(u, 1, 0) + np.roll(u, -1, 0)

After, where the distances are small numbers: one copy of u with a halo, and places in it::

    for i in range(m): for j ...: halo[i + 1, j] = u[i, j]
    for j ...: halo[0, j] = u[m - 1, j]
    for j ...: halo[m + 1, j] = u[0, j]
    for i in range(m): for j ...: n[i, j] = halo[i, j] + halo[i + 2, j]

Elsewhere each of them is a copy, in two parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from loopbook.frontend import arith, nests
from loopbook.frontend.code import Code, Halo
from loopbook.frontend.constructs.joining import part
from loopbook.frontend.registry import FUNCTIONS, lowers
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.translate import Translator
from loopbook.frontend.unpacking import unpacked
from loopbook.frontend.values import Array, Tup, Value, whole

WIDEST = 2
"""Greatest distance that a halo is made for."""


@lowers(np.roll)
def roll(t: Translator, a: Value, shift: Value, axis: Value | None = None) -> Value:
    """Elements moved round along axes."""
    code, array = t.code, t.array(a)
    if axis is None and array.rank > 1:
        flat = FUNCTIONS[np.ravel](t, array)
        sizes = Tup(tuple(arith.whole(s) for s in array.shape))
        return FUNCTIONS[np.reshape](t, t.array(roll(t, flat, shift)), sizes)
    axes = t.python(axis) if axis is not None else 0
    axes = axes if isinstance(axes, tuple) else (axes,)
    moves: Sequence[Value] = [shift] * len(axes)
    if isinstance(shift, Tup) or (isinstance(shift, Array) and shift.rank):
        moves = unpacked(t, shift if isinstance(shift, Tup) else t.array(shift), len(axes))
    for move, along in zip(moves, axes, strict=True):
        along %= array.rank
        if code.is_empty(array.shape[along]):
            continue
        distance = t.integer(move)
        array = _through_halo(t, array, along, distance) or _copied(t, array, along, distance)
    return array


def _copied(t: Translator, array: Array, along: int, distance: Int) -> Array:
    """What moves within the array, and what comes in from its other end."""
    code, size = t.code, array.shape[along]
    if array.view is None:
        array = t.stored(array)
    known = code.facts.known(distance), code.facts.known(size)
    if (
        None not in known
        and code.facts.nonnegative(distance)
        and code.facts.nonnegative(size - distance - 1)
    ):
        start = distance
    elif (
        None not in known
        and code.facts.nonnegative(distance) is False
        and code.facts.nonnegative(size + distance)
    ):
        start = size + distance
    else:
        rest = arith.binary(code, "%", arith.whole(distance), arith.whole(size))
        start = t.integer(code.let(rest))
        for atom in start.atoms:
            code.facts.ranges.setdefault(atom, (ZERO, size - 1))
    result = whole(code.temporary(array.shape, array.dtype), array.shape)
    nests.assign(
        code, part(result, along, start, size - start), part(array, along, ZERO, size - start)
    )
    nests.assign(code, part(result, along, ZERO, start), part(array, along, size - start, start))
    return result


def _through_halo(t: Translator, array: Array, along: int, distance: Int) -> Array | None:
    """The array as places in a copy with a halo; None where that is of no use."""
    code, move = t.code, distance.constant
    if move is None or abs(move) > WIDEST:
        return None
    width = max(1, abs(int(move)))
    known = code.rolled.get(array)
    begin = known[1][along] if known else None
    if known and begin is not None:
        halo, starts = known
        start = begin - distance
        end = halo.shape[along] - array.shape[along]
        if not code.facts.nonnegative(start) or not code.facts.nonnegative(end - start):
            return None
        return _placed(t, array, halo, (*starts[:along], start, *starts[along + 1 :]))
    size = array.shape[along]
    if code.facts.known(size) is None or not code.facts.nonnegative(size - width):
        return None
    source, starts = known or (array, (None,) * array.rank)
    if source.view is None:
        source = t.stored(source)
    halo = _halo(t, source, along, width)
    return _placed(
        t, array, halo, (*starts[:along], Int.of(width) - distance, *starts[along + 1 :])
    )


def _placed(t: Translator, array: Array, halo: Array, starts: tuple[Int | None, ...]) -> Array:
    """The part of a halo that begins at some places, as an array that is not computed yet: it is
    nobody's to store into."""
    found = halo
    for axis, start in enumerate(starts):
        found = part(found, axis, start or ZERO, array.shape[axis])
    found = replace(found, view=None)
    t.code.rolled[found] = (halo, starts)
    return found


def _halo(t: Translator, array: Array, along: int, width: int) -> Array:
    """A copy of an array with its other end before its first elements, and behind its last."""
    code, size, wide = t.code, array.shape[along], Int.of(width)
    assert array.view is not None
    key = (array.view, array.shape, along, width)
    for made in code.halos:
        if made.key == key and _is_so_still(code, made):
            return made.copy
    shape = tuple(s + 2 * width if n == along else s for n, s in enumerate(array.shape))
    copy = whole(code.temporary(shape, array.dtype, "halo"), shape)
    nests.assign(code, part(copy, along, wide, size), array)
    nests.assign(code, part(copy, along, ZERO, wide), part(array, along, size - width, wide))
    nests.assign(code, part(copy, along, size + width, wide), part(array, along, ZERO, wide))
    code.halos.append(Halo(key, copy, code.lines, len(code.lines), code.depth))
    return copy


def _is_so_still(code: Code, made: Halo) -> bool:
    """Whether a halo was made in the block at hand, and nothing that it is of has changed."""
    assert made.copy.view is not None
    if made.lines is not code.lines or code.depth < made.depth:
        return False
    if made.copy.view.buffer not in code.temporaries:  # it was a trial
        return False
    since = code.lines[made.place :]
    source = made.key[0].buffer.name
    return len(code.lines) >= made.place and not any(
        line.depth < made.depth or line.text.startswith(f"{source}[") for line in since
    )
