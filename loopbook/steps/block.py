from __future__ import annotations

from loopbook.steps.arguments import MAX_SIZE, Loop, TileSize
from loopbook.steps.base import Step


class Block(Step):
    """Rectangular tiles of two loops whose bounds depend on each other.

    Tiled one after the other, the tiles of a triangle's rows begin and end elsewhere for each row.
    Here a tile is a rectangle that stands on a line for all columns; tiles are visited column by
    column, and of each column only those that meet the triangle. Before ``block L0 L1 4 24``::

        for i in 0 … n:
            for j in 0 … i: S(i, j)

    and after it, ``L1.tile`` around ``L0.tile`` around both loops::

        for jj in 0 … n by 24:
            for ii in jj … n by 4:
                for i in ii … min(ii + 4, n):
                    for j in jj … min(jj + 24, i): S(i, j)
    """

    name = "block"
    textbook = "tiling of trapezoids"
    source = "Wolf and Lam, A loop transformation theory, IEEE TPDS 1991"
    example = "block L0 L1 8 24"
    makes = ("{inner_loop}.tile", "{outer_loop}.tile")
    reorders = True
    frees = True
    plain = True
    traits = {"tiles": 1.5, "block": 0.5}

    outer_loop = Loop()
    inner_loop = Loop()
    rows_size = TileSize(1, MAX_SIZE, of="outer_loop", label="rows")
    columns_size = TileSize(1, MAX_SIZE, of="inner_loop", label="columns")
