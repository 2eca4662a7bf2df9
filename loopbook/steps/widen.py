from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step


class Widen(Step):
    """A loop over tiles as far as the longest row goes, not as far as the loop around it says.

    A loop over the tiles of a row that ends at the diagonal ends somewhere else for each row, so
    rows cannot be moved inside of it. The tiles beyond a shorter row's end are empty. Before
    ``widen L1.tile``::

        for i in ii … ii + 4:
            for jj in 0 … i by 32: for j in jj … min(jj + 32, i): S(i, j)

    and after it::

        for i in ii … ii + 4:
            for jj in 0 … ii + 3 by 32: for j in jj … min(jj + 32, i): S(i, j)
    """

    name = "widen"
    textbook = "bounding box of a tile range"
    source = "Renganarayanan et al., Parameterized tiled loops for free, PLDI 2007"
    example = "widen L1.tile"
    plain = True
    traits = {"widen": 0.5}

    tile_loop = Loop()
