"""Search strategies: one short file each, all with the same signature.

A strategy is asked for the next recipe to measure and told how it went. ``STRATEGIES`` names them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from loopbook.sdfg.nest import Nest
from loopbook.tuner.moves import Surroundings
from loopbook.tuner.strategies.base import Strategy
from loopbook.tuner.strategies.evolution import Evolution
from loopbook.tuner.strategies.random import RandomSearch

STRATEGIES: dict[str, Callable[[Nest, Random, Surroundings], Strategy]] = {
    "random": RandomSearch,
    "evolution": Evolution,
}

__all__ = ["STRATEGIES", "Evolution", "RandomSearch", "Strategy"]
