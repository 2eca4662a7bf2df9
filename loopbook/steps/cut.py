from __future__ import annotations

from loopbook.dependence.body import Statement, read_header
from loopbook.dependence.model import shifted
from loopbook.errors import IllegalStepError
from loopbook.steps.arguments import MAX_SIZE, Loop, TileEnd
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.region import duplicate, read_in_place


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
    distance = TileEnd(1, MAX_SIZE, of="tile_loop", optional=True)

    def apply(self, editor: Editor) -> None:
        """The order of the iterations stays what it was, so it is legal wherever bounds are affine
        and the second loop is around the first one."""
        region, head = read_in_place(editor, self.loop)
        at = editor.id_of(self.tile_loop)
        point = next((outer for outer in region.around if outer.id == at), None)
        if point is None:
            raise IllegalStepError("the second loop is not around the first one")
        if head.step != 1:
            raise IllegalStepError("a loop with a step cannot be cut")
        where = shifted({point.variable: 1}, self.distance or 0)
        twin = duplicate(editor, head.loop)
        variables = [outer.variable for outer in region.around]
        rest = read_header(twin, variables)
        rest.children = [Statement(twin.body.children)]
        head.highs = [where, *head.highs]
        rest.lows = [where, *rest.lows]
        region.tighten(head)
        region.tighten(rest)
        region.put(head, head, rest)
