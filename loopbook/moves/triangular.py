"""Products of which only a triangle is wanted, at the speed of whole ones."""

from __future__ import annotations

from random import Random

from loopbook.moves.base import Steps, Surroundings, reorder, step
from loopbook.moves.chains import Chain
from loopbook.moves.registers import MICRO_TILES, depth, serial
from loopbook.moves.staircase import staircase_tiles
from loopbook.program import expr
from loopbook.program.nest import Loop


def triangular_tiles(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """`packed_tiles` for a triangle of the result, such as of a symmetric product.

    Where an operand is the triangle, not the result, `staircase_tiles`.

    Tiles are rectangles in fixed columns, and only those that meet the triangle are visited. Those
    on the diagonal are computed in full, on buffers, of which the triangle alone is copied back:
    one micro-kernel serves all tiles. (As SYRK on top of a product's micro-kernel: Goto and van de
    Geijn, High-Performance Implementation of the Level-3 BLAS, ACM TOMS 35(1), 2008.)
    """
    pair = triangle(chain)
    if pair is None:
        return staircase_tiles(chain, random, around)
    row, column = (loop.name for loop in pair)
    reduction = random.choice(_reductions(chain)).name
    rows, vectors = random.choice(MICRO_TILES)
    columns = vectors * around.lanes
    rest = [name for name in chain.names if name not in (row, column, reduction)]
    steps = serial(chain, reduction)
    steps += reorder(chain.names, [*rest, row, column, reduction])
    if _runs_from_the_diagonal(*pair):
        steps.append(step("skew", row, column, 1))
    steps += [
        step("tile", reduction, depth(around, columns, random)),
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


def triangle(chain: Chain) -> tuple[Loop, Loop] | None:
    """Row and column loop of a product, the rows of which end, or begin, where the first says."""
    if not _reductions(chain):
        return None
    moving = [loop for loop in chain.loops if chain.moves_output(loop)]
    for inner in moving:
        bounds = expr.symbols(f"{inner.init} {inner.condition}")
        for outer in moving:
            if outer.depth < inner.depth and outer.indvar in bounds:
                return outer, inner
    return None


def _reductions(chain: Chain) -> list[Loop]:
    return [loop for loop in chain.loops if not chain.moves_output(loop)]


def _runs_from_the_diagonal(outer: Loop, inner: Loop) -> bool:
    """Whether the inner loop is shorter for later iterations of the outer one."""
    return any(end.get((outer.indvar,), 0) < 0 for end in inner.bounds.highs)
