from __future__ import annotations

from loopbook.errors import IllegalStepError
from loopbook.program.element import like
from loopbook.program.expr import Expr, conjunction
from loopbook.program.tree import SEQUENTIAL, Sequence
from loopbook.steps.arguments import MAX_SIZE, Loop, TileSize
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import known_bounds


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

    def apply(self, editor: Editor) -> None:
        """Always legal where the loop counts up, and ends for good where its condition is false:
        the order stays what it was."""
        loop = editor.loop(self.loop)
        bounds = known_bounds(loop)
        if bounds.step is None or bounds.step < 1 or not bounds.ends:
            raise IllegalStepError(f"{self.loop} does not count up to a bound")
        variable, width = editor.variable(f"{loop.variable}_tile", loop.variable), self.size
        width *= bounds.step
        tiles = like(
            loop,
            id=editor.new_number(f"{self.loop}.tile"),
            variable=variable,
            condition=loop.condition.renamed({loop.variable: variable}),
            update=Expr(f"{width} + {variable}"),
        )
        condition = conjunction(loop.condition.text, f"{loop.variable} < {width} + {variable}")
        # What was said of how to run it holds for the tiles: threads within threads, or vectors of
        # vectors, are nothing that anybody asked for.
        inside = like(loop, init=Expr(variable), condition=condition, schedule=SEQUENTIAL)
        editor.put(self.loop, like(tiles, body=Sequence((inside,))))
