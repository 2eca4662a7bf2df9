"""Where the loops of a program stand, remembered: while steps are applied, most of its nests stay
as they are, and each step asks several times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

from loopbook.program.tree import Loop, Program, While
from loopbook.program.walk import Inner, Path, places


class Standing(NamedTuple):
    """A loop that stands somewhere. It is not held itself: that would keep it for ever.

    Attributes:
        path: from the program.
        id: docc's number for it.
        variable: what it counts with; empty where it counts nothing.
        shared: whether threads share its iterations.
    """

    path: Path
    id: int | None
    variable: str
    shared: bool


_KNOWN: WeakKeyDictionary[Inner, tuple[int, tuple[Standing, ...]]] = WeakKeyDictionary()
"""Of what stands in programs' bodies: at which place, and the loops below."""


def loops(program: Program) -> Iterator[Standing]:
    """The loops of a program, in preorder."""
    for number, node in enumerate(program.body.children):
        known = _KNOWN.get(node)
        if known is None or known[0] != number:
            known = _KNOWN[node] = number, tuple(_below(node, number))
        yield from known[1]


def _below(node: Inner, number: int) -> Iterator[Standing]:
    for path, inner in places(node, (number,)):
        if isinstance(inner, Loop):
            yield Standing(path, inner.id, inner.variable, inner.schedule.is_shared)
        elif isinstance(inner, While):
            yield Standing(path, inner.id, "", False)
