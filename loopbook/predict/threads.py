"""What threads cost and give: features of bodies that OpenMP runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from loopbook.predict.loops import Node
from loopbook.rules import TuningContext

THREAD_START = 8192
"""Iterations of a plain loop in the time that waking threads and waiting for them takes: some
microseconds against half a nanosecond."""


def describe(
    values: dict[str, float], path: list[Node], shared: set[Node], around: TuningContext
) -> None:
    """Say who runs a body: sets the features named ``thread…``, and ``parallel``.

    Args:
        path: the loops around the body, outermost first.
        shared: the loops that threads share.
    """
    if not around.parallel:
        return
    values["parallel"] = float(any("parallel" in node.marks for node in path))
    place = place_of(path, shared)
    if place is None:
        return
    starts = math.prod(node.trip for node in path[:place])
    inside = math.prod(node.trip for node in path[place:])
    values["threaded"] = 1.0
    values["thread place"] = place
    values["thread trip"] = math.log2(path[place].trip / around.threads)
    values["thread grain"] = math.log2(inside / path[place].trip)
    values["thread starts"] = math.log2(starts)


def place_of(path: Sequence[Node], shared: set[Node]) -> int | None:
    """Which loop of a path threads share; None if there is none."""
    return next((place for place, node in enumerate(path) if node in shared), None)


def time_share(path: list[Node], shared: set[Node], threads: int) -> float:
    """Time of the body's iterations, of what one thread takes that need not be woken. A nest's is
    the mean of its bodies', whichever of them runs most often."""
    place = place_of(path, shared)
    if place is None:
        return 1.0
    inside = math.prod(node.trip for node in path[place:])
    return 1 / min(path[place].trip, threads) + THREAD_START / inside
