"""Skewed loops, for dependences that run along diagonals."""

from __future__ import annotations

from random import Random

from loopbook.moves.base import Steps, Surroundings, step
from loopbook.moves.chains import Chain


def skew(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Skew an inner loop by an outer one, so that dependences allow an interchange or tiles."""
    if len(chain.loops) < 2:
        return []
    place = random.randrange(len(chain.loops) - 1)
    outer, inner = chain.names[place], chain.names[place + 1]
    steps = [step("skew", outer, inner, 1)]
    if random.random() < 0.7:
        steps.append(step("interchange", outer, inner))
    return steps
