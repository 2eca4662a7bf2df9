"""Operands copied to small contiguous buffers."""

from __future__ import annotations

from random import Random

from loopbook.rules.bands import Band
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_bands
from loopbook.rules.tiling import cache_tiles


@on_bands(0.7)
def pack(band: Band, random: Random, context: TuningContext) -> Steps:
    """Cache tiles, with one operand copied to a local buffer."""
    steps = cache_tiles(band, random, context)
    operands = band.inputs()
    if operands:
        steps.append(step("stage", random.choice(band.names), random.choice(operands), "in"))
    return steps
