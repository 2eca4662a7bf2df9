from __future__ import annotations

from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Made


class FuseTiles(Step):
    """One loop over the tiles of two neighbours; what a tile needs of the other is done twice.

    Before ``fuse_tiles L0.tile L1.tile``::

        for ii by 8: for i in ii … ii + 8: S(i)
        for jj by 8: for j in jj … jj + 8: T(j)

    and after it, ``L0.tile.fused``::

        for ii by 8:
            for i in ii - r … ii + 8 + r: S(i)
            for j in ii … ii + 8: T(j)
    """

    name = "fuse_tiles"
    textbook = "overlapped tiling"
    source = "Krishnamoorthy et al., PLDI 2007"
    example = "fuse_tiles L1.tile L2.tile"
    makes = ("{first_tile_loop}.fused",)
    reorders = True
    traits = {"tiles": 0.5, "fuse": 1.0}

    first_tile_loop = Loop()
    second_tile_loop = Loop()

    def check(self, bench: Bench) -> None:
        bench.keep_inputs(self.first_tile_loop, self.second_tile_loop)

    def transformations(self, bench: Bench) -> Made:
        first, second = bench.loop(self.first_tile_loop), bench.loop(self.second_tile_loop)
        yield bench.docc.TileFusion(first, second), f"{self.first_tile_loop}.fused"
