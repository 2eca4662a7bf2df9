"""The pieces that statements fall into: for which values of the loops' variables each runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from weakref import ref

from loopbook.dependence.engine import Column
from loopbook.dependence.model import (
    Access,
    Linear,
    Loop,
    Monomial,
    mentions,
    minus,
    plus,
    quotients,
    replaced,
    shifted,
)
from loopbook.dependence.subscripts import Parts

FIRST, SECOND = "'1", "'2"
"""Marks of the variables of two instances."""

MAX_PIECES = 8
"""Pieces of one statement; where it would fall into more, loops count as if they went by ones."""

Place = list[Linear]


class Use:
    """An access of a piece.

    Attributes:
        parts: strides to the index along each, in terms of either of two marked instances.
    """

    def __init__(self, piece: Piece, access: Access) -> None:
        self._piece = ref(piece)  # which holds its uses
        self.access = access
        self.parts: dict[tuple[int, frozenset[Monomial], str], Parts | None] = {}

    @property
    def piece(self) -> Piece:
        """The piece that it is a use of."""
        found = self._piece()
        assert found is not None
        return found


@dataclass(eq=False)
class Piece:
    """A statement, for some of the values of its loops' variables.

    There is more than one only where a loop that takes other steps than one begins at the greatest
    of several bounds.

    Attributes:
        number: of the statement, in program order.
        counted: what an instance is a point of: variables of loops, or how often a loop has run.
        free: what has some other value for each instance: scalars that are written somewhere.
        outer: what holds for the loops around the whole (0 or more).
        rows: what holds for the loops inside.
        values: of variables that are no dimension themselves.
        place: in time.
        exact: whether it runs for all of the values that the rows allow, and for no others.
        uses: of memory, by container.
    """

    number: int
    counted: tuple[str, ...]
    free: tuple[str, ...]
    outer: Sequence[Linear]
    rows: Sequence[Linear]
    values: Mapping[str, Linear]
    place: Place
    exact: bool = False
    uses: dict[str, list[Use]] = field(default_factory=dict)
    _marked: dict[str, Place] = field(default_factory=dict)

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """All that differs between two instances."""
        return (*self.counted, *self.free)

    def at(self, mark: str) -> Place:
        """The place in time, with a mark."""
        if mark not in self._marked:
            self._marked[mark] = [marked(form, self.dims, mark) for form in self.place]
        return self._marked[mark]

    def knows(self, variable: str) -> bool:
        """Whether a variable is one of the loops around the statement."""
        return variable in self.counted or variable in self.values

    def value(self, variable: str) -> Linear:
        """A loop's variable in terms of the dimensions."""
        return self.values.get(variable, {variable: 1})

    def use(self, access: Access) -> Use:
        """One of its accesses, as it is used here."""
        return next(use for use in self.uses[access.container] if use.access == access)

    def columns(self, mark: str, kind: object) -> dict[str, Column]:
        """Where the dimensions stand in a space."""
        return {f"{name}{mark}": (kind, place) for place, name in enumerate(self.dims)}


def marked(form: Linear, dims: Collection[str], mark: str) -> dict[str, int]:
    """The form with a mark on these variables."""
    return {f"{name}{mark}" if name in dims else name: factor for name, factor in form.items()}


Shape = tuple[tuple[str, ...], list[Linear], dict[str, Linear]]


def says_all(path: Sequence[Loop], changing: Collection[str], values: Mapping[str, Linear]) -> bool:
    """Whether rows that `shapes` makes for some loops leave nothing out of what these say.

    Args:
        values: of a shape.
    """
    return all(
        loop.lows
        and (loop.highs or loop.rooms)
        and (loop.step == 1 or loop.variable in values)
        and not any(mentions(b, changing) for b in (*loop.lows, *loop.highs, *loop.rooms))
        for loop in path
    )


def shapes(path: Sequence[Loop], changing: set[str], *, roughly: bool) -> list[Shape]:
    """Dimensions, rows and values of the pieces that a statement inside some loops falls into."""
    if roughly:
        return [(tuple(loop.variable for loop in path), [], {})]
    pieces: list[Shape] = [((), [], {})]
    for loop in path:
        lows = [low for low in loop.lows if not mentions(low, changing)]
        highs = [high for high in loop.highs if not mentions(high, changing)]
        rooms = [room for room in (*loop.rooms, *quotients(loop)) if not mentions(room, changing)]
        strided = loop.step > 1 and 0 < len(lows) == len(loop.lows)
        if len(pieces) * len(lows) > MAX_PIECES:
            strided = False
        pieces = [
            inside
            for piece in pieces
            for inside in (
                _counted(piece, loop, lows, highs, rooms)
                if strided
                else _whole(piece, loop, lows, highs, rooms)
            )
        ]
    return pieces


def _whole(
    piece: Shape,
    loop: Loop,
    lows: Sequence[Linear],
    highs: Sequence[Linear],
    rooms: Sequence[Linear],
) -> Iterator[Shape]:
    dims, rows, values = piece
    value = {loop.variable: 1}
    here = [minus(value, replaced(low, values)) for low in lows]
    here += [shifted(minus(replaced(high, values), value), -1) for high in highs]
    here += [replaced(room, values) for room in rooms]
    yield (*dims, loop.variable), [*rows, *here], values


def _counted(
    piece: Shape,
    loop: Loop,
    lows: Sequence[Linear],
    highs: Sequence[Linear],
    rooms: Sequence[Linear],
) -> Iterator[Shape]:
    """A piece for each bound that the loop may begin at."""
    dims, rows, values = piece
    count = f"{loop.variable}#"
    starts = [replaced(low, values) for low in lows]
    for start in starts:
        value = plus(start, {count: 1}, loop.step)
        here: list[Linear] = [{count: 1}]
        here += [gap for other in starts if (gap := minus(start, other))]
        here += [shifted(minus(replaced(high, values), value), -1) for high in highs]
        known = values | {loop.variable: value}
        here += [replaced(room, known) for room in rooms]
        yield (*dims, count), [*rows, *here], known
