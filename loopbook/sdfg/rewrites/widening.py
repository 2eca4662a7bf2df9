"""How `widen` is done: additional tiles must be empty, so all that is in the loop has to be inside
of loops through single tiles.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.nest import Loop, Nest
from loopbook.sdfg.rewrites.document import Draft, render, rewriting, upper_bounds
from loopbook.steps.widen import Widen


@rewriting(Widen)
def widen(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Make the end of a loop over tiles independent of the loop right around it.

    Legal where everything in it is inside of the loops through single tiles, and these still end
    where they did: the additional tiles are empty.

    Raises:
        IllegalStepError: this does not hold, or the ends do not depend on each other like that.
    """
    nest, tiles = draft.nest_with(loops[0])
    ends = upper_bounds(tiles)
    if tiles.parent < 0 or len(ends) != 1:
        raise IllegalStepError("the loop has no single end that a loop around it could set")
    rows, end = nest.loops[tiles.parent], ends[0]
    factor = end.get((rows.indvar,), 0)
    if not factor or any(rows.indvar in m for m in end if m != (rows.indvar,)):
        raise IllegalStepError("the loop's end does not depend on the loop around it")
    if rows.indvar in expr.symbols(tiles.init):
        raise IllegalStepError("the loop's beginning depends on the loop around it")
    for block in nest.blocks:
        around = nest.ancestry(block.parent)
        if tiles in around and not any(_stops(loop, tiles, end) for loop in around):
            raise IllegalStepError("something in it is outside of its tiles")
    widest = expr.polynomial(
        expr.substitute(render(end), {rows.indvar: _extreme(nest, rows, largest=factor > 0)})
    )
    draft.element(loops[0])["condition"] = f"({tiles.indvar} < {render(widest)})"


def _stops(loop: Loop, tiles: Loop, end: expr.Polynomial) -> bool:
    """Whether `loop` runs through one of the tiles, and no further than `end`."""
    begins = expr.polynomial(loop.init) == expr.polynomial(tiles.indvar)
    return begins and end in upper_bounds(loop)


def _extreme(nest: Nest, rows: Loop, *, largest: bool) -> str:
    """A value that the variable of `rows` never goes beyond, in terms of the loops around."""
    if not largest:
        return f"({rows.init})"
    ends = upper_bounds(rows)
    if rows.step is None or rows.step < 1 or not ends:
        raise IllegalStepError("it is not known where the loop around it ends")
    outer = {loop.indvar for loop in nest.ancestry(rows.parent)}
    nearest = max(ends, key=lambda e: sum(symbol in outer for term in e for symbol in term))
    return f"({render(nearest)} - 1)"
