"""What has been decided about graphs, and why."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum

from loopbook.client.decision import Plan
from loopbook.display import brief

MOST = 200
"""Decisions that are remembered."""


class Runs(StrEnum):
    """How a graph runs from its second call on."""

    COMPILED = "compiled"
    IN_PARTS = "in parts"
    EAGER = "eager"


@dataclass(frozen=True)
class Decision:
    """How one graph runs, and why.

    Attributes:
        operations: how many the graph has.
        reason: why nothing of it is compiled, or it is not compiled as a whole; may be empty.
        eager_s: seconds of an eager call, the median of some; None if none was timed.
        compiled_s: the same for what was compiled.
        plan: what was found and done when it was compiled as a whole.
        parts: decisions about its parts, where it runs in parts.
    """

    runs: Runs
    operations: int
    reason: str = ""
    eager_s: float | None = None
    compiled_s: float | None = None
    plan: Plan | None = None
    parts: tuple[Decision, ...] = ()

    def __repr__(self) -> str:
        words = f"{self.operations} operations: {self.runs}"
        if self.eager_s is not None and self.compiled_s is not None:
            words += f", {self.eager_s / self.compiled_s:.2f}× eager's speed"
        return brief(self, f"{words}; {self.reason}" if self.reason else words)


_made: deque[Decision] = deque(maxlen=MOST)


def note(decision: Decision) -> None:
    """Remember what was decided about a whole graph."""
    _made.append(decision)


def decisions() -> tuple[Decision, ...]:
    """What was decided in this process about graphs, the last one last; at most `MOST`."""
    return tuple(_made)
