"""Tiles for caches, strips for vectors, outer loops unrolled into inner ones."""

from __future__ import annotations

from random import Random

from loopbook.moves.base import (
    TILES,
    Steps,
    Surroundings,
    reorder,
    some_order,
    step,
    tile_all,
    with_tiles,
)
from loopbook.moves.chains import Chain


def cache_tiles(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Tile some loops and move the loops over tiles outside."""
    names = list(chain.names)
    count = random.randint(1, min(3, len(names)))
    tiled = sorted(random.sample(names, count), key=names.index)
    points = some_order(chain, random)
    outer = [f"{name}.tile" for name in random.sample(tiled, count)]
    steps = tile_all({name: random.choice(TILES) for name in tiled})
    return steps + reorder(with_tiles(names, tiled), outer + points)


def unroll_and_jam(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Tile an outer loop by a few, move it inside the middle loops, unroll it there."""
    if len(chain.loops) < 2:
        return []
    order = some_order(chain, random)
    jammed = random.choice(order[:-1])
    size = random.choice((2, 4, 8))
    names = list(chain.names)
    inner = [name for name in order if name != jammed]
    place = random.choice((len(inner) - 1, len(inner)))
    final = [f"{jammed}.tile", *inner[:place], jammed, *inner[place:]]
    return [
        step("tile", jammed, size),
        *reorder(with_tiles(names, [jammed]), final),
        step("peel", jammed),
        step("unroll", f"{jammed}*"),
    ]


def strip_mine(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Tile the innermost loop by a few vectors and peel the incomplete tile off."""
    order = some_order(chain, random)
    name = order[-1]
    return [
        *reorder(chain.names, order),
        step("tile", name, around.lanes * random.choice((2, 4, 8, 16))),
        step("peel", name),
        step("vectorize", f"{name}*"),
    ]
