"""What all elements have in common, as docc's JSON, there and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from loopbook.errors import SdfgError
from loopbook.program import element, members
from loopbook.program.element import Element, Position
from loopbook.program.members import Json

COMMON = frozenset({"type", "element_id", "debug_info"})
"""Members of every element."""

NOWHERE = {
    "end_column": 0,
    "end_line": 0,
    "filename": "",
    "function": "",
    "has": False,
    "start_column": 0,
    "start_line": 0,
}
"""The source position of what has none."""

_POSITION = frozenset(NOWHERE)


class ElementReader:
    """Reads what elements have in common, and sees to it that each has a number of its own.

    Attributes:
        greatest: of these numbers.
    """

    def __init__(self) -> None:
        self._ids: set[int] = set()
        self.greatest = 0

    def read(self, raw: Json, known: frozenset[str]) -> Json:
        """The fields of `Element`.

        Args:
            known: all members that an element of its kind may have.

        Raises:
            UnknownMemberError: it has another one.
            SdfgError: it is damaged.
        """
        members.only(raw, known)
        number = members.number(raw, "element_id")
        if number < 0 or number in self._ids:
            raise SdfgError(f"the SDFG is damaged: {number} is not the id of one element alone")
        self._ids.add(number)
        self.greatest = max(self.greatest, number)
        return {"id": number, "position": _read_position(raw.get("debug_info"))}


def _read_position(raw: Any) -> Position:
    if raw == NOWHERE:
        return element.NOWHERE
    raw = members.mapping(raw, "a position")
    members.only(raw, _POSITION)
    return _position(
        members.text(raw, "filename"),
        members.text(raw, "function"),
        (members.number(raw, "start_line"), members.number(raw, "start_column")),
        (members.number(raw, "end_line"), members.number(raw, "end_column")),
        members.truth(raw, "has"),
    )


_position = lru_cache(maxsize=4096)(Position)


class ElementWriter:
    """Writes what elements have in common.

    Elements without a number get the next one, and so do those that the tree holds twice.
    """

    def __init__(self, counter: int) -> None:
        self.counter = counter
        self._given: set[int] = set()

    def write(self, element: Element, kind: str) -> Json:
        """The members that all elements have."""
        number = element.id
        if number is None or number in self._given:
            self.counter += 1
            number = self.counter
        self._given.add(number)
        return {"type": kind, "element_id": number, "debug_info": _write_position(element.position)}


def _write_position(position: Position) -> Json:
    if position is NOWHERE:
        return dict(NOWHERE)
    return {
        "filename": position.file,
        "function": position.function,
        "start_line": position.start[0],
        "start_column": position.start[1],
        "end_line": position.end[0],
        "end_column": position.end[1],
        "has": position.known,
    }
