"""Tiles of the result that stay in registers."""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Loop
from loopbook.rules.bands import Band
from loopbook.rules.base import (
    ROWS,
    TILES,
    Steps,
    TuningContext,
    reorder,
    step,
    tile_all,
    with_tiles,
)
from loopbook.rules.orders import stride_one
from loopbook.rules.sampled import on_bands

MICRO_TILES = ((4, 4), (4, 4), (8, 3), (6, 4), (8, 2), (6, 2), (4, 3))
"""Rows by vectors of a register tile: enough sums in flight to keep two multiply-add units busy,
few enough for 32 vector registers; with 16 of them the last three."""

SMALL_MICRO_TILES = tuple(tile for tile in MICRO_TILES if tile[0] * tile[1] <= 12)
"""For threads. In the body of an OpenMP loop clang keeps a buffer in registers only as long as it
looks through all its uses, of which it counts a hundred; so these are staged by `buffer`, too, the
copies of which have no branches that clang would unroll."""


@on_bands(3.0)
def register_tiles(band: Band, random: Random, context: TuningContext) -> Steps:
    """Keep a small tile of the result in registers while the reduction runs.

    Rows by columns of the result are tiled, the reduction is moved outside the tile, the tile is
    staged in a local buffer, rows are unrolled and columns vectorised (the micro-kernel of BLIS,
    Van Zee and van de Geijn 2015). Incomplete tiles are peeled off before or after. Where several
    loops reduce, such as those over a window and over channels, all of them may.
    """
    chosen = _chosen(band, random)
    if chosen is None:
        return stride_one(band, random, context)
    row, column, reduction = chosen
    still = [loop.name for loop in band.loops if not band.moves_output(loop)]
    reductions = still if len(still) > 1 and random.random() < 0.7 else [reduction]
    rows = random.choice(ROWS)
    columns = context.lanes * random.choice((1, 2, 2, 3, 4, 4, 8))
    names = list(band.names)
    rest = [name for name in names if name not in (row, column, *reductions)]
    sizes = {row: rows, column: columns}
    tiles = [f"{row}.tile", f"{column}.tile"]
    if random.random() < 0.5:
        tiles.reverse()
    if random.random() < 0.4 and len(reductions) == 1:
        sizes[reduction] = random.choice(TILES[3:])
        tiles.insert(random.randint(0, 2), f"{reduction}.tile")
    tiled = sorted(sizes, key=names.index)
    steps = [one for name in reductions for one in serial(band, name)]
    steps += tile_all({name: sizes[name] for name in tiled})
    early = random.random() < 0.6
    middle = rest + tiles + [row, column, *reductions]
    final = rest + tiles + [*reductions, row, column]
    steps += reorder(with_tiles(names, tiled), middle)
    if early:
        steps.append(step("peel", row))
    steps += reorder(middle, final)
    for container in band.staged_outputs(reductions[0]):
        steps.append(step("stage", reductions[0], container, "out"))
    if not early:
        steps.append(step("peel", row))
    steps.append(step("vectorize", f"{column}*"))
    steps.append(step("unroll", f"{row}*"))
    return steps


@on_bands(2.5)
def packed_tiles(band: Band, random: Random, context: TuningContext) -> Steps:
    """`register_tiles` as in a BLAS: the operand that all rows use is packed first.

    A panel of that operand, one register tile wide and as deep as half of the second-level cache
    allows, is copied to a contiguous buffer, which all rows then run along. Register tiles go over
    the array's last column too: there they are computed in full, on the buffers. (Goto and van de
    Geijn, Anatomy of High-Performance Matrix Multiplication, ACM TOMS 34(3), 2008.)
    """
    chosen = _chosen(band, random)
    if chosen is None:
        return stride_one(band, random, context)
    row, column, reduction = chosen
    by_name = {loop.name: loop for loop in band.loops}
    panels = band.inputs_along(by_name[column], by_name[row])
    if not panels:
        return register_tiles(band, random, context)
    threads = context.parallel
    rows, vectors = random.choice(SMALL_MICRO_TILES if threads else MICRO_TILES)
    columns = vectors * context.lanes
    names = list(band.names)
    rest = [name for name in names if name not in chosen]
    sizes = {row: rows, column: columns, reduction: depth(context, columns, random)}
    tiled = sorted(sizes, key=names.index)
    outer = [f"{column}.tile", f"{reduction}.tile"]
    if random.random() < 0.3:
        outer.reverse()
    final = [*rest, *outer, f"{row}.tile", reduction, row, column]
    steps = serial(band, reduction) + tile_all({name: sizes[name] for name in tiled})
    steps += reorder(with_tiles(names, tiled), final)
    if threads:
        steps += [step("buffer", f"{row}.tile", reduction, column)]
        steps += [step("buffer", reduction, row, column)]
    else:
        steps += [step("stage", f"{row}.tile", panel, "in") for panel in panels]
        for container in band.staged_outputs(reduction):
            steps.append(step("stage", reduction, container, "out"))
    return [
        *steps,
        step("pad", column),
        step("peel", row),
        step("vectorize", f"{column}*"),
        step("unroll", f"{row}*"),
    ]


def multiplies(band: Band, row: Loop, column: Loop) -> bool:
    """Whether each row's operand is used by all columns, and each column's by all rows."""
    return bool(band.inputs_along(row, column) and band.inputs_along(column, row))


def serial(band: Band, name: str) -> Steps:
    """What it takes for docc to stage the sums of loop `name`."""
    is_reduction = any(loop.name == name and loop.kind == "reduce" for loop in band.loops)
    return [step("serialize", name)] if is_reduction else []


def depth(context: TuningContext, columns: int, random: Random) -> int:
    """Rows of a packed panel: a power of two, or half or a quarter of the one that fits best."""
    fitting = max(64, context.l2_bytes // 2 // (8 * columns))
    return max(32, 2 ** (fitting.bit_length() - 1) // random.choice((1, 2, 2, 4)))


def roles(band: Band) -> tuple[list[Loop], Loop, list[Loop]] | None:
    """The loops that may be the rows, the one that is the columns, and those that may be the
    reduction of something like a matrix product; None where some of them are missing."""
    moving = [loop for loop in band.loops if band.moves_output(loop)]
    still = [loop for loop in band.loops if not band.moves_output(loop)]
    if len(moving) < 2 or not still:
        return None
    column = min(moving, key=band.innermost_cost)
    return [loop for loop in moving if loop is not column], column, still


def _chosen(band: Band, random: Random) -> tuple[str, str, str] | None:
    """Row, column and reduction loop of something like a matrix product."""
    if (found := roles(band)) is None:
        return None
    rows, column, reductions = found
    row = random.choice(sorted(rows, key=lambda loop: not multiplies(band, loop, column)))
    return row.name, column.name, random.choice(reductions).name
