"""Search strategies: one short file each, all with the same signature.

A strategy is asked for the next recipe to measure and told how it went. ``STRATEGIES`` names them.
"""

from __future__ import annotations

from collections.abc import Callable

from loopbook.tuner.strategies.base import Problem, Strategy
from loopbook.tuner.strategies.genetic import Genetic
from loopbook.tuner.strategies.model import ModelGuided
from loopbook.tuner.strategies.random import RandomSearch
from loopbook.tuner.strategies.transfer import Transfer

STRATEGIES: dict[str, Callable[[Problem], Strategy]] = {
    "random": RandomSearch,
    "genetic": Genetic,
    "model": ModelGuided,
    "transfer": Transfer,
}

DEFAULT = "transfer"
"""Begins with the recipes of near neighbours, and without any is `genetic`, which ends ahead in
`benchmarks/strategies.py` of all that start from nothing. With the neighbours of a filled book it
is ahead after 10 and 30 trials, and about as good after 60 (`benchmarks/results`)."""

__all__ = [
    "DEFAULT",
    "STRATEGIES",
    "Genetic",
    "ModelGuided",
    "Problem",
    "RandomSearch",
    "Strategy",
    "Transfer",
]
