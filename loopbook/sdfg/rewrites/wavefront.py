"""How `wavefront` is done.

docc can skew and interchange too, but rounds the bounds of t the wrong way for factors above one
(seen with 0.8.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from loopbook.errors import IllegalStepError
from loopbook.program.nest import Loop, Nest
from loopbook.sdfg.names import rename
from loopbook.sdfg.rewrites import scalars
from loopbook.sdfg.rewrites.distances import Conflicts, Meeting, check_plain
from loopbook.sdfg.rewrites.document import Draft, render, replace, rewriting, smallest
from loopbook.sdfg.rewrites.timetiling import MAX_FACTOR, chain, plain_end
from loopbook.sdfg.rewrites.waves import Tiles, in_waves
from loopbook.steps.wavefront import Wavefront

ROWS = 8
"""Rows that a tile does at a time where a recipe does not say."""


@rewriting(Wavefront)
def wavefront(draft: Draft, loops: Sequence[int], sizes: Sequence[int]) -> None:
    """Turn a time loop over a perfect nest of two more loops into a wavefront.

    Args:
        loops: the time loop.
        sizes: how many time steps run at the same time; for tiles of so many steps to run in
            parallel threads, also how many of them, and rows that each of them does at a time.

    Raises:
        IllegalStepError: the loops are not perfectly nested, or dependences are not known exactly.
    """
    nest, time = draft.nest_with(loops[0])
    steps, *threads = sizes
    check_plain(nest, time)
    nested = chain(nest, time)
    if len(nested) != 3 or len(nested) != sum(time in nest.ancestry(x.index) for x in nest.loops):
        raise IllegalStepError(f"{time.name} is not the first of three perfectly nested loops")
    _, row, column = nested
    ends = [render(plain_end(nest, loop)) for loop in nested]
    _check_scalars(draft, nest, nested)
    factor = _factor(nest, time, row)

    body, name = draft.element(time.element_id), draft.names.get(time.element_id, time.name)
    inner = draft.element(column.element_id)
    tile = draft.fresh_variable(f"{time.indvar}_time", time.indvar)
    space = draft.fresh_variable(f"{time.indvar}_space", time.indvar)
    for child in inner["root"]["children"]:
        rename(child, {row.indvar: f"({space} - {factor}*({time.indvar} - {tile}))"})
    # Rows before the first and from the end on are left out: i = X - factor*(t - tt).
    late = f"{tile} + idiv(max({space} - {ends[1]} + {factor}, 0), {factor})"
    early = f"1 + {tile} + idiv({space} - ({row.init}), {factor})"
    start = body["init"]
    body["init"] = late
    last = smallest([ends[0], f"{steps} + {tile}", early])
    body["condition"] = f"({time.indvar} < {last})"
    body["type"] = body["sub_type"] = "map"
    top = f"{ends[1]} + {factor * (steps - 1)}"
    if threads:
        count, rows = (*threads, ROWS)[:2]
        tiles = Tiles(name, tile, space, start, ends[0], row.init, top, steps, 1, factor)
        outer = in_waves(draft, tiles, count, rows, time.indvar, [inner])
    else:
        placed = draft.loop(f"{name}.space", space, (row.init, top), [inner])
        outer = draft.loop(f"{name}.tile", tile, (start, ends[0]), [placed], by=steps)
    replace(draft.document["root"], body, [outer])
    body["root"]["children"] = inner["root"]["children"]
    inner["root"]["children"] = [body]


def _check_scalars(draft: Draft, nest: Nest, nested: list[Loop]) -> None:
    """Refuse scalars that an iteration of the innermost loop does not have for itself."""
    written = scalars.written_scalars(nest, nested[0])
    for name, accesses in written.items():
        if scalars.home(nest, accesses) is not nested[-1]:
            raise IllegalStepError(f"the scalar {name} carries values between iterations")
    body = draft.element(nested[0].element_id)
    names = set(written) | {loop.indvar for loop in nested}
    scalars.check_unused_outside(draft.document, body, names)


def _factor(nest: Nest, time: Loop, row: Loop) -> int:
    """How many rows each step must stay behind, so that rows at a time touch no common element that
    one of them writes: more than any dependence reaches back from one step to the next."""
    factor = 1
    conflicts = Conflicts(nest, time)
    for first, a in conflicts.accesses:
        for second, b in conflicts.accesses:
            if first.container != second.container or not (first.write or second.write):
                continue
            gap = conflicts.distance(a, b, row.indvar, row.indvar)
            if gap is Meeting.ANY:
                raise IllegalStepError("a dependence has no constant distance")
            if isinstance(gap, int):
                factor = max(factor, 1 - gap)
    if factor > MAX_FACTOR:
        raise IllegalStepError(f"a dependence reaches more than {MAX_FACTOR} rows back")
    return factor
