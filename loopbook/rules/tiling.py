"""Tiles for caches, strips for vectors, outer loops unrolled into inner ones."""

from __future__ import annotations

from random import Random

from loopbook.rules.bands import Band
from loopbook.rules.base import (
    TILES,
    Steps,
    TuningContext,
    reorder,
    some_order,
    step,
    tile_all,
    with_tiles,
)
from loopbook.rules.sampled import on_bands


@on_bands(3.0)
def cache_tiles(band: Band, random: Random, context: TuningContext) -> Steps:
    """Tile some loops and move the loops over tiles outside."""
    names = list(band.names)
    count = random.randint(1, min(3, len(names)))
    tiled = sorted(random.sample(names, count), key=names.index)
    points = some_order(band, random)
    outer = [f"{name}.tile" for name in random.sample(tiled, count)]
    steps = tile_all({name: random.choice(TILES) for name in tiled})
    return steps + reorder(with_tiles(names, tiled), outer + points)


@on_bands(1.5)
def unroll_and_jam(band: Band, random: Random, context: TuningContext) -> Steps:
    """Tile an outer loop by a few, move it inside the middle loops, unroll it there."""
    if len(band.loops) < 2:
        return []
    order = some_order(band, random)
    jammed = random.choice(order[:-1])
    size = random.choice((2, 4, 8))
    names = list(band.names)
    inner = [name for name in order if name != jammed]
    place = random.choice((len(inner) - 1, len(inner)))
    final = [f"{jammed}.tile", *inner[:place], jammed, *inner[place:]]
    return [
        step("tile", jammed, size),
        *reorder(with_tiles(names, [jammed]), final),
        step("peel", jammed),
        step("unroll", f"{jammed}*"),
    ]


@on_bands(0.8)
def strip_mine(band: Band, random: Random, context: TuningContext) -> Steps:
    """Tile the innermost loop by a few vectors and peel the incomplete tile off."""
    order = some_order(band, random)
    name = order[-1]
    return [
        *reorder(band.names, order),
        step("tile", name, context.lanes * random.choice((2, 4, 8, 16))),
        step("peel", name),
        step("vectorize", f"{name}*"),
    ]
