"""Composite moves: what an expert does to a loop nest as one thing.

One file for each family of moves. `MOVES` lists them all with how often each is drawn; `propose`
and `openings` put whole recipes together from them.
"""

from __future__ import annotations

from loopbook.moves.base import ROWS, TILES, Move, Steps, Surroundings, reorder, with_tiles
from loopbook.moves.whole import MOVES, combine, openings, propose, random_step

__all__ = [
    "MOVES",
    "ROWS",
    "TILES",
    "Move",
    "Steps",
    "Surroundings",
    "combine",
    "openings",
    "propose",
    "random_step",
    "reorder",
    "with_tiles",
]
