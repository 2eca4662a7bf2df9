"""Asks, workers and a clock for the tests of the queue of work."""

from __future__ import annotations

from typing import Any

from loopbook.recipes.queue import Queue
from loopbook.recipes.store import Store
from loopbook.recipes.tasks import KINDS, REEMBED, TUNE, Abilities, Ask, Wanted

KEY = "avx2-1t-3f9a02c1"
ABLE = Abilities(KINDS, {"sequential": KEY, "openmp": KEY})
START = 1_800_000_000.0


class Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


def ask(number: int = 0, kind: str = TUNE, *, count: int = 1, **wanted: Any) -> Ask:
    """Asks of different numbers are about different nests."""
    subject = "" if kind == TUNE else "ab" * 16
    place = ("", "") if kind == REEMBED else ("sequential", KEY)
    told: dict[str, Any] = {"document": f'{{"nest": {number}}}'} | wanted
    return Ask(kind, f"nest{number}", *place, subject, count, Wanted(**told))


def open_queue(location: str, clock: Clock | None = None) -> Queue:
    """The queue of a book, on a clock of the test's."""
    queue = Store.open(location, busy_s=300.0).queue
    queue._clock = clock
    return queue
