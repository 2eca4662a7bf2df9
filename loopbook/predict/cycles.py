"""About how many cycles the bodies of a nest take, by arithmetic alone: what a processor's vectors,
caches and threads allow at most (roofline: S. Williams et al., CACM 52(4), 2009). Bodies of a nest
differ, and no mean of their features tells which of them its time goes into; this does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from loopbook.predict.loops import Node, Reference
from loopbook.predict.threads import THREAD_START, place_of
from loopbook.program.nest import Stride
from loopbook.rules import TuningContext

LATENCY = 4.0
"""Cycles from one result to the next that needs it."""

RUN = 6.0
"""Cycles to begin a loop and to leave it."""

BYTES_PER_CYCLE = {"l1": 32.0, "l2": 16.0, "l3": 5.0}
"""What comes into a cache from behind it; of the last one, from memory. As the other numbers here,
about what today's server processors do, and not measured."""

START = THREAD_START / 2
"""Cycles of waking threads and waiting for them: see `THREAD_START`."""


def cycles(
    values: Mapping[str, float],
    path: Sequence[Node],
    references: Sequence[Reference],
    shared: set[Node],
    around: TuningContext,
) -> float:
    """Of all iterations of one body.

    Args:
        values: the body's features (`loopbook.predict.features.SITE`), for its caches.
        path: the loops around it, outermost first; `shared` those that threads share.
    """
    one = _computing(path, references, around.lanes)
    coming = max(2 ** values[f"{name} traffic"] / rate for name, rate in BYTES_PER_CYCLE.items())
    runs = sum(
        RUN / math.prod(inner.trip for inner in path[place:])
        for place, node in enumerate(path)
        if "unroll" not in node.marks
    )
    every = math.prod(node.trip for node in path) * (max(one, coming) + runs)
    place = place_of(path, shared)
    if place is None:
        return every
    starts = math.prod(node.trip for node in path[:place])
    return every / min(path[place].trip, around.threads) + starts * START


def _computing(path: Sequence[Node], references: Sequence[Reference], lanes: int) -> float:
    """Cycles of one iteration whose data are at hand."""
    marked = [node for node in path if "vectorize" in node.marks]
    vector = marked[-1] if marked else path[-1]
    strides = [reference.stride(vector) for reference in references]
    apart = sum(stride > Stride.UNIT for stride in strides)
    loads = max(1, sum(stride is not Stride.ZERO for stride in strides))
    carried = not marked and vector.kind not in ("map", "reduce")
    if carried:
        return max(LATENCY, loads / 2)
    # What is left over of whole vectors runs one by one.
    whole = vector.size > 0 and vector.size % lanes == 0
    left = 0.0 if whole else min(lanes - 1, vector.trip) / 2
    wide = min(1.0, (vector.trip / lanes + left) / vector.trip)
    return (loads - apart) / 2 * wide + apart
