"""What a neighbour's record says about a nest."""

from __future__ import annotations

import math

from loopbook.client.layered import LayeredBook
from loopbook.client.ports import Evidence
from loopbook.client.sizes import Trips, near_speedup
from loopbook.program.nest import Nest, Stride
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.record import Record

WORTH_PORTING = 1.1
"""A neighbour that gained less than this is not worth the risk that its recipe does not suit."""

STRIDED = 0.5
"""Recipes that only reorder loops gain by making strided accesses contiguous. A neighbour speaks
for them only if the nest strides through memory at least this much as often as its own does."""


def evidence_of(layered: LayeredBook, near: Neighbour, nest: Nest, trips: Trips) -> Evidence:
    """What a neighbour's record says about a nest.

    Args:
        trips: of the nest at the size at hand.

    Raises:
        BookError: if the record's nest cannot be read.
    """
    source = layered.source(near.record)
    speedup = near_speedup(near.record, source, nest, trips)
    gain = math.log(speedup) if pays(near.record, speedup, WORTH_PORTING) else 0.0
    return Evidence(
        near,
        source,
        gain,
        layered.rules(near.record),
        strided(nest) >= STRIDED * strided(source),
    )


def pays(record: Record, speedup: float, least: float) -> bool:
    """Whether `speedup` is worth using a record. A recipe without steps means that preparing the
    program is what gains; that has to be worth it, it changes all of the program."""
    return speedup > (least if len(record.recipe) else max(least, WORTH_PORTING))


def strided(nest: Nest) -> float:
    """Share of the accesses in innermost loops that jump through memory from one iteration to the
    next."""
    if "strided" not in nest.notes:
        nest.notes["strided"] = _strided(nest)
    return nest.notes["strided"]


def _strided(nest: Nest) -> float:
    outer = {loop.parent for loop in nest.loops}
    inner = {block.index for block in nest.blocks if block.parent not in outer}
    last = [a.strides[-1] for a in nest.accesses if a.block in inner and a.strides]
    return sum(stride >= Stride.CONSTANT for stride in last) / max(len(last), 1)
