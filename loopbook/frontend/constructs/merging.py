"""Lines of numbers put in order by merging runs, in memory for them.

Before::

    y = np.sort(x)

After, of the numbers among them: each eight are put in order by inserting one after the other; runs
of those are merged, from both ends, into a second line, and so on::

    width_0 = 8
    for k0 in range(size_0):                    # as often as it takes
        for p0 in range(n_0 // (2 * width_0)):
            ...                                 # where the two runs begin and end
            for i0 in range(width_0):
                take_0 = 1 if a[right_0] < a[left_0] else 0
                b[start_0 + i0] = a[right_0] if take_0 else a[left_0]
                right_0 = right_0 + take_0; left_0 = left_0 + 1 - take_0
                ...                             # and the greatest that is left
        ...                                     # the last two runs, which may be shorter
        for i0 in range(n_0): a[i0] = b[i0]
        width_0 = width_0 * 2
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from loopbook.frontend.code import Code
from loopbook.frontend.symbols import ZERO, Int
from loopbook.frontend.types import INT
from loopbook.frontend.values import Buffer

INSERTED, MOST_INSERTED = 8, 16
"""Numbers that are put in order by inserting them, and the most if there are no others: merging is
faster for more. Measured."""


@dataclass(frozen=True)
class Room:
    """Memory to sort a line in: two lines of numbers, and two of places; the second ones are the
    first ones where nothing is merged."""

    numbers: tuple[Buffer, Buffer]
    places: tuple[Buffer, Buffer] | None

    @property
    def lines(self) -> list[tuple[Buffer, Buffer]]:
        """Each line that is put in order, and the one it is merged into."""
        return [self.numbers, *([self.places] if self.places else [])]

    @classmethod
    def of(cls, code: Code, size: Int, dtype: np.dtype, places: bool) -> Room:
        def two(kind: np.dtype) -> tuple[Buffer, Buffer]:
            first = code.temporary((size,), kind)
            return first, code.temporary((size,), kind) if _is_merged(size) else first

        return cls(two(dtype), two(INT) if places else None)


def merge(code: Code, room: Room, size: Int, known: Int) -> None:
    if size.constant == 1:  # in order, and docc refuses loops of which it sees that none runs
        return
    if not _is_merged(size):
        _insert(code, room, ZERO, known)
        return
    _insert_blocks(code, room, known)
    names = ("width_", "start_", "left_", "middle_", "right_", "full_")
    width, start, left, middle, right, full = map(code.fresh, names)
    block = INSERTED
    with ExitStack() as stack:
        code.emit(f"{width} = {block}")
        if code.facts.known(size) is not None:
            text = f"max(({size.text} + {block - 1}) // {block} - 1, 0).bit_length()"
            levels = code.facts.derive(
                text, [size], lambda n: max((n + block - 1) // block - 1, 0).bit_length()
            )
            stack.enter_context(code.loop(ZERO, levels, hint="k"))
        else:
            stack.enter_context(code.indented(f"while {width} < {known.text}:"))
        code.emit(f"{full} = {known.operand} // (2 * {width})")
        with code.loop(ZERO, Int.atom(full), hint="p") as p:
            code.emit(f"{start} = {p.text} * 2 * {width}")
            _merge_both_ways(code, room, start, width)
        code.emit(f"{left} = {full} * 2 * {width}")
        code.emit(f"{middle} = min({left} + {width}, {known.text})")
        code.emit(f"{right} = {middle}")
        code.emit(f"{start} = {left}")
        _merge_rest(code, room, Int.atom(start), (left, middle, right), known)
        for one, other in room.lines:
            with code.loop(ZERO, known) as i:
                code.emit(f"{one.name}[{i.text}] = {other.name}[{i.text}]")
        code.emit(f"{width} = {width} * 2")


def _is_merged(size: Int) -> bool:
    return size.constant is None or size.constant > MOST_INSERTED


def _insert_blocks(code: Code, room: Room, known: Int) -> None:
    """Put each `INSERTED` numbers in order."""
    block = INSERTED
    blocks, start, end = map(code.fresh, ("blocks_", "start_", "end_"))
    code.emit(f"{blocks} = ({known.text} + {block - 1}) // {block}")
    with code.loop(ZERO, Int.atom(blocks), hint="p") as p:
        code.emit(f"{start} = {p.text} * {block}")
        code.emit(f"{end} = min({start} + {block}, {known.text})")
        _insert(code, room, Int.atom(start), Int.atom(end))


def _insert(code: Code, room: Room, start: Int, end: Int) -> None:
    """Put numbers in order: one after the other in front of those that are greater."""
    j, kept = code.fresh("j"), [code.fresh("kept_") for _ in room.lines]
    first = room.numbers[0].name
    with code.loop(start + 1, end) as i:
        for name, (line, _) in zip(kept, room.lines, strict=True):
            code.emit(f"{name} = {line.name}[{i.text}]")
        code.emit(f"{j} = {i.text}")
        with code.indented("while True:"):
            for test in (f"{j} <= {start.text}", f"{first}[{j} - 1] <= {kept[0]}"):
                with code.indented(f"if {test}:"):
                    code.emit("break")
            for line, _ in room.lines:
                code.emit(f"{line.name}[{j}] = {line.name}[{j} - 1]")
            code.emit(f"{j} = {j} - 1")
        for name, (line, _) in zip(kept, room.lines, strict=True):
            code.emit(f"{line.name}[{j}] = {name}")


def _merge_both_ways(code: Code, room: Room, start: str, width: str) -> None:
    """Merge two runs of `width` numbers: the lesser half from the front, the greater half from the
    back, so neither run comes to its end before, and no branch depends on the numbers."""
    left, right, top, last = map(code.fresh, ("left_", "right_", "left_", "right_"))
    code.emit(f"{left} = {start}")
    code.emit(f"{right} = {start} + {width}")
    code.emit(f"{top} = {start} + {width} - 1")
    code.emit(f"{last} = {start} + 2 * {width} - 1")
    with code.loop(ZERO, Int.atom(width)) as i:
        place = f"{start} + {i.text}"
        take = _merge_one(code, room, place, left, right, is_first=True)
        code.emit(f"{right} = {right} + {take}")
        code.emit(f"{left} = {left} + 1 - {take}")
        place = f"{start} + 2 * {width} - 1 - {i.text}"
        take = _merge_one(code, room, place, top, last, is_first=False)
        code.emit(f"{top} = {top} - {take}")
        code.emit(f"{last} = {last} - 1 + {take}")


def _merge_one(code: Code, room: Room, place: str, left: str, right: str, *, is_first: bool) -> str:
    """Put the one of two numbers into its place that is first, or last; gives the name of what is 1
    if the right one is less, which is then the first, and the left one the last."""
    take = code.fresh("take_")
    pairs = []
    for line, into in room.lines:
        one, other, found = map(code.fresh, ("x_", "y_", "z_"))
        code.emit(f"{one} = {line.name}[{left}]")
        code.emit(f"{other} = {line.name}[{right}]")
        pairs.append((one, other, found, into.name))
    less = f"if {pairs[0][1]} < {pairs[0][0]}:"
    code.emit(f"{take} = 0")
    with code.indented(less):
        code.emit(f"{take} = 1")
    for one, other, found, into in pairs:
        code.emit(f"{found} = {one if is_first else other}")
        with code.indented(less):
            code.emit(f"{found} = {other if is_first else one}")
        code.emit(f"{into}[{place}] = {found}")
    return take


def _merge_rest(
    code: Code, room: Room, start: Int, places: tuple[str, str, str], known: Int
) -> None:
    """Merge what is left behind all whole pairs of runs: a run and a shorter one, or less."""
    left, middle, right = places
    take, first = code.fresh("take_"), room.numbers[0].name
    with code.loop(start, known) as i:
        code.emit(f"{take} = 0")
        with code.indented(f"if {left} < {middle}:"):
            code.emit(f"{take} = 1")
            less = f"{first}[{right}] < {first}[{left}]"
            with code.indented(f"if {right} < {known.text}:"), code.indented(f"if {less}:"):
                code.emit(f"{take} = 0")
        for test, source in ((f"if {take} == 1:", left), ("else:", right)):
            with code.indented(test):
                for one, other in room.lines:
                    code.emit(f"{other.name}[{i.text}] = {one.name}[{source}]")
                code.emit(f"{source} = {source} + 1")
