"""Products of which only a triangle is wanted, at the speed of whole ones."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from loopbook.program import expr
from loopbook.program.nest import Loop
from loopbook.rules.bands import Band
from loopbook.rules.base import Steps, TuningContext, reorder, step
from loopbook.rules.registers import MICRO_TILES, depth, serial
from loopbook.rules.sampled import on_bands
from loopbook.rules.staircase import staircase_tiles


@on_bands(1.5)
def triangular_tiles(band: Band, random: Random, context: TuningContext) -> Steps:
    """`packed_tiles` for a triangle of the result, such as of a symmetric product.

    Where an operand is the triangle, not the result, `staircase_tiles`.

    Tiles are rectangles in fixed columns, and only those that meet the triangle are visited. Those
    on the diagonal are computed in full, on buffers, of which the triangle alone is copied back:
    one micro-kernel serves all tiles. (As SYRK on top of a product's micro-kernel: Goto and van de
    Geijn, High-Performance Implementation of the Level-3 BLAS, ACM TOMS 35(1), 2008.)
    """
    pair = triangle(band)
    if pair is None:
        return staircase_tiles(band, random, context)
    row, column = (loop.name for loop in pair)
    reduction = random.choice(_reductions(band)).name
    rows, vectors = random.choice(MICRO_TILES)
    columns = vectors * context.lanes
    rest = [name for name in band.names if name not in (row, column, reduction)]
    steps = serial(band, reduction)
    steps += reorder(band.names, [*rest, row, column, reduction])
    if runs_from_the_diagonal(*pair):
        steps.append(step("skew", row, column, 1))
    steps += [
        step("tile", reduction, depth(context, columns, random)),
        step("block", row, column, rows, columns),
    ]
    made = [f"{column}.tile", f"{row}.tile", row, column, f"{reduction}.tile", reduction]
    final = [f"{column}.tile", f"{reduction}.tile", f"{row}.tile", reduction, row, column]
    return [
        *steps,
        *reorder(made, final),
        step("buffer", f"{row}.tile", reduction, column),
        step("buffer", reduction, row, column),
        step("pad", column),
        step("peel", row),
        step("vectorize", f"{column}*"),
        step("unroll", f"{row}*"),
    ]


def triangle(band: Band) -> tuple[Loop, Loop] | None:
    """Row and column loop of a product, the rows of which end, or begin, where the first says."""
    if not _reductions(band):
        return None
    return dependent([loop for loop in band.loops if band.moves_output(loop)])


def dependent(loops: Sequence[Loop]) -> tuple[Loop, Loop] | None:
    """A loop, and one inside of it that runs as far, or from where, the first says; of several."""
    for inner in loops:
        bounds = expr.symbols(f"{inner.init} {inner.condition}")
        for outer in loops:
            if outer.depth < inner.depth and outer.indvar in bounds:
                return outer, inner
    return None


def _reductions(band: Band) -> list[Loop]:
    return [loop for loop in band.loops if not band.moves_output(loop)]


def runs_from_the_diagonal(outer: Loop, inner: Loop) -> bool:
    """Whether the inner loop is shorter for later iterations of the outer one."""
    return any(end.get((outer.indvar,), 0) < 0 for end in inner.bounds.highs)
