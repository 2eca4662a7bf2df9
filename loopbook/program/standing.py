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


_BELOW: WeakKeyDictionary[Inner, tuple[Standing, ...]] = WeakKeyDictionary()
"""Of what stands in programs' bodies, with paths from there."""


def loops(program: Program) -> Iterator[Standing]:
    """The loops of a program, in preorder."""
    for number, node in enumerate(program.body.children):
        if (below := _BELOW.get(node)) is None:
            below = _BELOW[node] = tuple(_below(node))
        for path, *rest in below:
            yield Standing((number, *path), *rest)


def _below(node: Inner) -> Iterator[Standing]:
    for path, inner in places(node):
        if isinstance(inner, Loop):
            yield Standing(path, inner.id, inner.variable, inner.schedule.is_shared)
        elif isinstance(inner, While):
            yield Standing(path, inner.id, "", False)
