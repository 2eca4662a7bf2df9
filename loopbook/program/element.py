"""What all elements of a program have, whatever they do."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Position:
    """The lines of a source file that something comes from, if `known`."""

    file: str = ""
    function: str = ""
    start: tuple[int, int] = (0, 0)
    end: tuple[int, int] = (0, 0)
    known: bool = False


NOWHERE = Position()
"""The position of what has none."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Element:
    """One of docc's elements.

    Two elements are the same if they are one object: trees share what they have in common, and
    what has been worked out about an element can be kept with it.

    Attributes:
        id: docc's number; None for new elements, which get one as they are written.
        position: where it comes from.
    """

    id: int | None = field(default=None, repr=False)
    position: Position = field(default=NOWHERE, repr=False)
