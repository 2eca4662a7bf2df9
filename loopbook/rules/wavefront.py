"""Wavefronts: time steps in a row, each two rows behind the one before.

In a Gauss-Seidel sweep every point needs its neighbours of the same step, so a row is one long
recurrence. Skewed by two rows a step, the rows that meet in one outer iteration do not touch each
other, and the step loop inside runs several recurrences at a time (Wolfe, "Loop skewing: the
wavefront method revisited", IJPP 1986).
"""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Nest
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_nests, seeds
from loopbook.rules.threads import waves

HEIGHTS = (4, 8, 8, 16, 32)


@on_nests(1.0)
def wavefront(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Several steps at a time, for three perfectly nested loops."""
    return _wavefront(nest, random.choice(HEIGHTS), context)


@seeds(4)
def fitted_wavefronts(nest: Nest, context: TuningContext) -> list[Steps]:
    """For the seed population."""
    found = [_wavefront(nest, height, context) for height in (8, 16)]
    return [steps for steps in found if steps]


def _wavefront(nest: Nest, height: int, context: TuningContext) -> Steps:
    if len(nest.loops) != 3 or nest.loops[2].depth != 2:
        return []
    alone = step("wavefront", "L0", height)
    return waves(alone, context.threads) if context.parallel else [alone]
