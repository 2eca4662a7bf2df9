"""Rules that only change the order of loops."""

from __future__ import annotations

from random import Random

from loopbook.rules.bands import Band
from loopbook.rules.base import Steps, TuningContext, reorder, some_order
from loopbook.rules.sampled import on_bands


@on_bands(1.0)
def leave(band: Band, random: Random, context: TuningContext) -> Steps:
    """Nothing: docc's own schedule."""
    return []


@on_bands(2.0)
def stride_one(band: Band, random: Random, context: TuningContext) -> Steps:
    """Interchange until the loop with the best strides is innermost."""
    names = list(band.names)
    best = band.by_locality()[-1]
    return reorder(names, [n for n in names if n != best] + [best])


@on_bands(2.0)
def permute(band: Band, random: Random, context: TuningContext) -> Steps:
    """Any order, more often than not with good strides innermost."""
    return reorder(band.names, some_order(band, random))
