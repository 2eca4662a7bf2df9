"""What a neighbour's record says about a nest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from loopbook.client.layered import LayeredBook
from loopbook.client.ports import Evidence
from loopbook.client.sizes import Trips, near_speedup
from loopbook.client.sketch import strided
from loopbook.client.thresholds import STRIDED, WORTH_PORTING
from loopbook.program.nest import Nest
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.record import Record
from loopbook.recipes.similarity import keeps_order
from loopbook.targets import TARGETS


def evidence_of(
    layered: LayeredBook, neighbours: Sequence[Neighbour], nest: Nest, trips: Trips
) -> list[Evidence]:
    """What each of the neighbours' records says about a nest.

    Args:
        trips: of the nest at the size at hand.

    Raises:
        BookError: if a record's nest cannot be read.
    """
    strides = strided(nest)
    found = []
    sketches = layered.sketches([near.record for near in neighbours])
    for near, source in zip(neighbours, sketches, strict=True):
        speedup = near_speedup(near.record, source, nest, trips)
        gains = pays(near.record, speedup, WORTH_PORTING) and not _only_by_chance(near.record)
        gain = math.log(speedup) if gains else 0.0
        found.append(Evidence(near, source, gain, strides >= STRIDED * source.strided))
    return found


def _only_by_chance(record: Record) -> bool:
    """Whether what a record gained says nothing of another nest: tiles that change no order."""
    parallel = TARGETS[record.target].parallel
    return len(record.recipe) > 0 and keeps_order(record.recipe, parallel=parallel)


def pays(record: Record, speedup: float, least: float) -> bool:
    """Whether `speedup` is worth using a record. A recipe without steps means that preparing the
    program is what gains; that has to be worth it, it changes all of the program."""
    return speedup > (least if len(record.recipe) else max(least, WORTH_PORTING))
