"""Operands copied to small contiguous buffers."""

from __future__ import annotations

from random import Random

from loopbook.moves.base import Steps, Surroundings, step
from loopbook.moves.chains import Chain
from loopbook.moves.tiling import cache_tiles


def pack(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Cache tiles, with one operand copied to a local buffer."""
    steps = cache_tiles(chain, random, around)
    operands = chain.inputs()
    if operands:
        steps.append(step("stage", random.choice(chain.names), random.choice(operands), "in"))
    return steps
