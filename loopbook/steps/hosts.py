"""What a step asks of those who apply it. They stand above this room: a step knows what is to be
done with a nest, and they know how the nest is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from loopbook.steps.base import Step

S = TypeVar("S", bound="Step")

Made = Iterator[tuple[Any, str]]
"""docc's transformations that may stand for a step, best first, each with the name that a loop made
by it gets."""


class Bench(Protocol):
    """A nest of an SDFG (`loopbook.sdfg.apply.Workbench`).

    Attributes:
        docc: the module with docc's transformations.
    """

    docc: Any

    def loop(self, name: str) -> Any:
        """docc's loop object."""
        ...

    def each(self, step: S) -> list[S]:
        """The step once for each loop that a starred name stands for."""
        ...

    def stagings(self, loop: str, container: str, direction: str) -> Made:
        """docc's ways to keep a part of an array in a local buffer."""
        ...

    def refusal(self, message: str) -> Exception:
        """The error that says why a step is not legal here."""
        ...

    def keep_order(self, step: Step) -> None:
        """Refuse to reorder iterations that docc wrongly takes for independent."""
        ...

    def keep_tile_order(self, step: Step) -> None:
        """Refuse to move a loop over tiles against a dependence."""
        ...

    def keep_values(self, loop: str) -> None:
        """Refuse threads that would not get values from before the loop."""
        ...

    def keep_staged(self, loop: str, container: str) -> None:
        """Refuse a copy of an array that the loop also uses in another way."""
        ...

    def keep_ends(self, loop: str) -> None:
        """Refuse to test ends of loops before what they depend on is known."""
        ...

    def keep_inputs(self, first: str, second: str) -> None:
        """Refuse to let tiles of one loop overwrite what the other's still need."""
        ...


class Drawing(Protocol):
    """A rough drawing of a nest's loops (`loopbook.predict.outline.Outline`). All methods say
    whether what they are asked for can be drawn."""

    single: bool

    def tile(self, loop: str, size: int) -> bool:
        """A loop over tiles around a loop."""
        ...

    def interchange(self, outer: str, inner: str) -> bool:
        """Two loops in the other order."""
        ...

    def distribute(self, loop: str) -> bool:
        """A loop for each part of a loop's body."""
        ...

    def fuse(self, first: str, second: str) -> bool:
        """One loop for two neighbours."""
        ...

    def stage(self, loop: str, container: str, direction: str) -> bool:
        """A local copy of an array around a loop."""
        ...

    def mark(self, step: Step) -> bool:
        """Nothing but a mark on the first loop that the step names."""
        ...
