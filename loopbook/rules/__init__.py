"""Composite rules: what an expert does to a loop nest as one thing.

One file for each family of rules, which says how often the tuner samples each (`sampled`).
Importing the package imports all its files, so a new rule is a new file and nothing else. `propose`
and `seed_population` put whole recipes together from them.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from loopbook.rules.base import ROWS, TILES, BandRule, Steps, TuningContext, reorder, with_tiles
from loopbook.rules.sampled import BAND_RULES, NEST_RULES
from loopbook.rules.space import combine, propose, random_step, seed_population

__all__ = [
    "BAND_RULES",
    "NEST_RULES",
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

for _file in sorted(iter_modules(__path__), key=lambda file: file.name):
    import_module(f"{__name__}.{_file.name}")
