from __future__ import annotations

from loopbook.steps.arguments import MAX_SIZE, Integer, Loop
from loopbook.steps.base import Step


class Cut(Step):
    """A loop in two where a tile around it begins, or so many iterations further on.

    In a triangular nest a tile of the outer loop meets an inner loop twice: below the tile's first
    index every row of the tile takes part, above it only some. The first part is a rectangle, which
    can be unrolled and blocked without guards. Before ``cut L1 L0.tile``::

        for ii by 8: … for j in 0 … i: S(i, j)

    and after it::

        for ii by 8: … for j in 0 … min(ii, i): S(i, j)         # L1
                     … for j in ii … i: S(i, j)                 # L1.rest
    """

    name = "cut"
    textbook = "index-set splitting"
    source = "Wolfe, High Performance Compilers for Parallel Computing, 1996"
    example = "cut L1 L0.tile"
    makes = ("{loop}.rest", "*.rest")
    traits = {"cut": 0.4}

    loop = Loop()
    tile_loop = Loop()
    distance = Integer(1, MAX_SIZE, optional=True)
