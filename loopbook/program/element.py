"""What all elements of a program have, whatever they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

Answer = TypeVar("Answer")
Part = TypeVar("Part", bound="Element | Any")


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

    def __getstate__(self) -> dict[str, Any]:
        """What it says, without what has been worked out about it."""
        known = vars(self)
        return {name: known[name] for name in self.__dataclass_fields__}


def like(element: Part, **fields: object) -> Part:
    """`dataclasses.replace`, which takes several times longer, for what checks nothing."""
    made = object.__new__(type(element))
    known = element.__dict__
    made.__dict__.update({name: known[name] for name in type(element).__dataclass_fields__})
    made.__dict__.update(fields)
    return made


def remembered(question: Callable[[Part], Answer]) -> Callable[[Part], Answer]:
    """A question about a node of the tree that is answered once: the answer is kept in the node,
    which never changes, and goes with it. A changed copy of the node is asked anew."""
    key = f"{question.__module__}.{question.__qualname__}"

    @wraps(question)
    def asked(node: Part) -> Answer:
        known = node.__dict__
        if key not in known:
            known[key] = question(node)
        return known[key]

    return asked
