"""Moves that only change the order of loops."""

from __future__ import annotations

from random import Random

from loopbook.moves.base import Steps, Surroundings, reorder, some_order
from loopbook.moves.chains import Chain


def leave(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Nothing: docc's own schedule."""
    return []


def stride_one(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Interchange until the loop with the best strides is innermost."""
    names = list(chain.names)
    best = chain.by_locality()[-1]
    return reorder(names, [n for n in names if n != best] + [best])


def permute(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Any order, more often than not with good strides innermost."""
    return reorder(chain.names, some_order(chain, random))
