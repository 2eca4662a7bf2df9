"""What a step asks of those who draw it. They stand above this room."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from loopbook.steps.base import Step


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
