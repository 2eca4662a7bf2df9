"""Tiles longer than their loops run, left out.

Before, for a loop ``L2`` that runs 5 times::

    tile L0 4
    tile L2 512
    interchange L0 L2.tile
    peel L0

and after::

    tile L0 4
    peel L0

A recipe for large products has tiles for their caches. With one tile that is never whole, nothing
of what the recipe sets apart for whole tiles would ever run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from loopbook.recipes.recipe import Recipe
from loopbook.steps import Step

WORTH_PACKING = 32
"""Iterations from which on a panel is worth a copy, though it is no whole one. Sums of minima over
40 and 100 run 1.3 and 1.5 times as fast with copies, over 5 at 0.7 (AVX-512, 2026-11-27)."""


def clipped(recipe: Recipe, trips: Mapping[str, int]) -> Recipe:
    """The recipe without tiles that would never be whole; itself if it has none, does more with the
    loops around them than order them, or copies what a tile is made of.

    Args:
        trips: how often loops run, as far as that is known.
    """
    tiled = Counter(step.loops[0] for step in recipe if step.op == "tile")
    gone: set[str] = set()
    deepest = 0
    kept: list[Step] = []
    for step in recipe:
        if step.op == "tile":
            loop, size = step.args
            if trips.get(str(loop), int(size)) < int(size) and tiled[str(loop)] == 1:
                gone.add(f"{loop}.tile")
                deepest = max(deepest, trips[str(loop)])
                continue
        named = {name.rstrip("*") for name in step.loops}
        if step.op == "buffer" and named & {name.removesuffix(".tile") for name in gone}:
            return recipe
        if step.op == "stage" and step.args[-1] == "in" and deepest >= WORTH_PACKING:
            return recipe
        if named & gone:
            if step.op != "interchange":
                return recipe
            continue
        kept.append(step)
    return Recipe(tuple(kept)) if gone else recipe
