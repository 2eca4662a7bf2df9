"""Skewed loops, for dependences that run along diagonals."""

from __future__ import annotations

from random import Random

from loopbook.rules.bands import Band
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_bands


@on_bands(0.7)
def skew(band: Band, random: Random, context: TuningContext) -> Steps:
    """Skew an inner loop by an outer one, so that dependences allow an interchange or tiles."""
    if len(band.loops) < 2:
        return []
    place = random.randrange(len(band.loops) - 1)
    outer, inner = band.names[place], band.names[place + 1]
    steps = [step("skew", outer, inner, 1)]
    if random.random() < 0.7:
        steps.append(step("interchange", outer, inner))
    return steps
