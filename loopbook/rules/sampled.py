"""What the tuner samples. Each file of the package says it of its own rules; there is no list.

::

    @on_bands(1.0)
    def jam(band, random, context): ...      # steps for one band, or none where it does not fit

    @on_nests(0.5)
    def pivot_cuts(nest, random, context): ...   # steps for a whole nest, or none

    @seeds(6)
    def fitted_pivot_cuts(nest, context): ...    # whole recipes to begin with, or none
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeVar

from loopbook.program.nest import Nest
from loopbook.rules.base import BandRule, Steps, TuningContext

NestRule = Callable[[Nest, Random, TuningContext], Steps]
Seeds = Callable[[Nest, TuningContext], list[Steps]]

BAND_RULES: dict[BandRule, float] = {}
"""The rules on one band and how often each is sampled."""

NEST_RULES: dict[NestRule, float] = {}
"""The rules on a whole nest and how often each is sampled; those that do not fit give no steps."""

_SEEDS: dict[Seeds, int] = {}

B = TypeVar("B", bound=BandRule)
N = TypeVar("N", bound=NestRule)
S = TypeVar("S", bound=Seeds)


def on_bands(share: float) -> Callable[[B], B]:
    """Have a rule on one band sampled so often, compared with the others; 1 is usual."""

    def added(rule: B) -> B:
        BAND_RULES[rule] = share
        return rule

    return added


def on_nests(share: float) -> Callable[[N], N]:
    """Have a rule on a whole nest sampled so often, compared with the others; 1 is usual."""

    def added(rule: N) -> N:
        NEST_RULES[rule] = share
        return rule

    return added


def seeds(place: int) -> Callable[[S], S]:
    """Have searches begin with these recipes: the lower the place, the more they promise where
    they fit, and the sooner they are tried."""

    def added(made: S) -> S:
        _SEEDS[made] = place
        return made

    return added


def all_seeds(nest: Nest, context: TuningContext) -> list[Steps]:
    """Recipes by all that are marked so, the most promising first."""
    return [
        steps for made in sorted(_SEEDS, key=_SEEDS.__getitem__) for steps in made(nest, context)
    ]
