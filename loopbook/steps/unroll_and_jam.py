from __future__ import annotations

from loopbook.steps.arguments import Loop, TileSize
from loopbook.steps.base import Step
from loopbook.steps.interchange import Interchange
from loopbook.steps.peel import Peel
from loopbook.steps.tile import Tile
from loopbook.steps.unroll import Unroll

MAX_ROWS = 64


class UnrollAndJam(Step):
    """Some iterations of a loop written out inside the loops that it holds.

    What the inner loop reads is then read once for all of them: several rows of a matrix in one
    pass over a vector. Before ``unroll_and_jam L0 4 L1``::

        for i: for j: y[i] += A[i, j] * x[j]

    and after it, ``L0.tile`` around ``L1`` around ``L0``, which is written out::

        for ii by 4:
            for j:
                y[ii] += A[ii, j] * x[j]; …; y[ii + 3] += A[ii + 3, j] * x[j]

    With a second inner loop, which the first one holds, inside of both.
    """

    name = "unroll_and_jam"
    textbook = "unroll-and-jam, register tiling"
    source = "Callahan, Cocke and Kennedy, JPDC 5, 1988; Carr and Kennedy, ACM TOPLAS 16(6), 1994"
    example = "unroll_and_jam L0 4 L1"
    makes = ("{loop}.tile", "{loop}.rest", "*.rest")
    only_orders = True
    rows = True
    traits = {**Tile.traits, **Interchange.traits, **Peel.traits, **Unroll.traits}

    loop = Loop()
    size = TileSize(2, MAX_ROWS, of="loop")
    inner_loop = Loop()
    second_inner_loop = Loop(optional=True)

    def expansion(self) -> tuple[Step, ...]:
        inside = self.loops[1:]
        return (
            Step("tile", (self.loop, self.size)),
            *(Step("interchange", (self.loop, name)) for name in inside),
            Step("peel", (self.loop,)),
            Step("unroll", (f"{self.loop}*",)),
        )
