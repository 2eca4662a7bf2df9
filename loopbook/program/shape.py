"""What of a nest can be told without its statements: how its loops stand inside each other, and
which arrays there are. A `Nest` has it, and so has what is kept of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar


class LoopShape(Protocol):
    """A loop, as `loopbook.program.nest.Loop`."""

    @property
    def index(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def parent(self) -> int: ...


class ArrayShape(Protocol):
    """An array, as `loopbook.program.nest.Container`."""

    @property
    def name(self) -> str: ...
    @property
    def written(self) -> bool: ...


class Shape(Protocol):
    """A nest's loops and arrays; the attributes are those of `loopbook.program.nest.Nest`. Pyright
    takes no `cached_property` for what it gives: hence `Any`.

    Attributes:
        fingerprint: a string.
        arrays: a sequence of `ArrayShape`.
        notes: a dictionary by name.
    """

    @property
    def fingerprint(self) -> Any: ...
    @property
    def loops(self) -> Sequence[LoopShape]: ...
    @property
    def arrays(self) -> Any: ...
    @property
    def notes(self) -> Any: ...

    def ancestry(self, loop: int) -> Sequence[LoopShape]:
        """The loops around and including loop number `loop`, outermost first."""
        ...


L = TypeVar("L", bound=LoopShape)


def ancestries(loops: Sequence[L]) -> tuple[tuple[L, ...], ...]:
    """For each loop, in preorder, the loops around and including it, outermost first."""
    found: list[tuple[L, ...]] = []
    for loop in loops:
        found.append((*(found[loop.parent] if loop.parent >= 0 else ()), loop))
    return tuple(found)
