from __future__ import annotations

from loopbook.steps.arguments import MAX_SIZE, Loop, TileSize
from loopbook.steps.base import Step
from loopbook.steps.hosts import Bench, Drawing, Made


class Tile(Step):
    """A loop in tiles of so many iterations, in the same order.

    Before ``tile L0 4``::

        for i in 0 … n: S(i)

    and after it, ``L0.tile`` around ``L0``::

        for ii in 0 … n by 4:
            for i in ii … min(ii + 4, n): S(i)
    """

    name = "tile"
    textbook = "strip mining; with an interchange, tiling"
    source = "Wolf and Lam, A data locality optimizing algorithm, PLDI 1991"
    example = "tile L0 4"
    makes = ("{loop}.tile",)
    only_orders = True
    traits = {"tiles": 1.0}

    loop = Loop()
    size = TileSize(2, MAX_SIZE, of="loop")

    def transformations(self, bench: Bench) -> Made:
        yield bench.docc.LoopTiling(bench.loop(self.loop), self.size), f"{self.loop}.tile"

    def draw(self, drawing: Drawing) -> bool:
        return drawing.tile(self.loop, self.size)
