from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loopbook.errors import IllegalStepError
from loopbook.program import expr, tree
from loopbook.program.dataflow import Block
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.walk import with_loops
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor


class BoundingBox(Step):
    """A loop over tiles as far as the longest row goes, not as far as the loop around it says.

    A loop over the tiles of a row that ends at the diagonal ends somewhere else for each row, so
    rows cannot be moved inside of it. The tiles beyond a shorter row's end are empty. Before
    ``bounding_box L1.tile``::

        for i in ii … ii + 4:
            for jj in 0 … i by 32: for j in jj … min(jj + 32, i): S(i, j)

    and after it::

        for i in ii … ii + 4:
            for jj in 0 … ii + 3 by 32: for j in jj … min(jj + 32, i): S(i, j)
    """

    name = "bounding_box"
    recorded_as = "widen"
    textbook = "bounding box of a tile range"
    source = "Renganarayanan et al., Parameterized tiled loops for free, PLDI 2007"
    example = "bounding_box L1.tile"
    traits = {"bounding_box": 0.5}

    tile_loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal where everything in the loop is inside of loops through single tiles, and these
        still end where they did: the additional tiles are empty."""
        tiles = editor.loop(self.tile_loop)
        around = editor.around(self.tile_loop)
        ends = tiles.bounds.highs
        rows = around[-1] if around else None
        if not isinstance(rows, tree.Loop) or len(ends) != 1:
            raise IllegalStepError("the loop has no single end that a loop around it could set")
        (end,) = ends
        factor = end.get((rows.variable,), 0)
        if not factor or any(rows.variable in m for m in end if m != (rows.variable,)):
            raise IllegalStepError("the loop's end does not depend on the loop around it")
        if rows.variable in tiles.init.symbols:
            raise IllegalStepError("the loop's beginning depends on the loop around it")
        for node, inside in with_loops(tiles):
            if isinstance(node, Block | tree.Assignments | tree.Jump | tree.Opaque) and not any(
                _stops(loop, tiles, end) for loop in inside
            ):
                raise IllegalStepError("something in it is outside of its tiles")
        value = _extreme(rows, around[:-1], largest=factor > 0)
        widest = expr.polynomial(expr.substitute(expr.text(end), {rows.variable: value}))
        condition = Expr(f"({tiles.variable} < {expr.text(widest)})")
        editor.put(self.tile_loop, replace(tiles, condition=condition))


def _stops(loop: tree.Loop | tree.While, tiles: tree.Loop, end: Polynomial) -> bool:
    """Whether `loop` runs through one of the tiles, and no further than `end`."""
    if not isinstance(loop, tree.Loop):
        return False
    return loop.init.polynomial == {(tiles.variable,): 1} and end in loop.bounds.highs


def _extreme(rows: tree.Loop, around: Sequence[tree.Loop | tree.While], *, largest: bool) -> str:
    """A value that the variable of `rows` never goes beyond, in terms of the loops around."""
    if not largest:
        return f"({rows.init})"
    ends = rows.bounds.highs
    if rows.step is None or rows.step < 1 or not ends:
        raise IllegalStepError("it is not known where the loop around it ends")
    outer = {loop.variable for loop in around if isinstance(loop, tree.Loop)}
    nearest = max(ends, key=lambda e: sum(symbol in outer for term in e for symbol in term))
    return f"({expr.text(nearest)} - 1)"
