"""Composite rules: what an expert does to a loop nest as one thing.

One file for each family of rules. `BAND_RULES` lists them all with how often each is sampled;
`propose` and `seed_population` put whole recipes together from them.
"""

from __future__ import annotations

from loopbook.rules.base import ROWS, TILES, BandRule, Steps, TuningContext, reorder, with_tiles
from loopbook.rules.space import BAND_RULES, combine, propose, random_step, seed_population

__all__ = [
    "BAND_RULES",
    "ROWS",
    "TILES",
    "BandRule",
    "Steps",
    "TuningContext",
    "combine",
    "propose",
    "random_step",
    "reorder",
    "seed_population",
    "with_tiles",
]
