"""Factorisations in place at the speed of a product: blocks of pivots, register tiles of the rest.

A factorisation by rows that pushes its results on (see `fission`) takes each pivot's row off all
later columns. With rows in tiles and pivots in blocks, what a block of pivots gives to the columns
behind it is a plain product: its operands are final, and lie in other columns and rows of the same
array than what it adds to. (The blocked algorithms of Golub and Van Loan, Matrix Computations,
sections 3.2.11 and 4.2.6, row tile by row tile; the micro-kernel is that of `registers`.)
"""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Nest
from loopbook.rules.base import Steps, TuningContext, reorder, step
from loopbook.rules.fission import pushed_on
from loopbook.rules.registers import MICRO_TILES
from loopbook.rules.sampled import on_nests, seeds

BLOCKS = ((64, 32), (64, 32), (128, 32), (128, 64), (64, 64))
"""Rows of a tile and pivots of a block. Rows spread the cost of packing a block's operand, and what
is left of a row tile at the diagonal grows with their square."""

CALLED, MANY, CALLED_OF_MANY = (32, 16), 1500, (64, 32)
"""The same where a library multiplies, which packs for itself, and for so many rows and more: lu of
1,000 rows takes 30 and 32 ms, of 2,000 rows 270 and 251, cholesky 18 and 20, 177 and 138 (OpenBLAS
0.3.21, AVX2, 2026-11-26)."""


@on_nests(1.0)
def factor_tiles(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Push results on, and let blocks of them be products; none where nothing is gathered."""
    steps, found = pushed_on(nest)
    for loops, joined in found:
        sizes = (*random.choice(BLOCKS), *_micro(random, context))
        steps += blocked(*loops, *sizes, joined=joined, threads=_threads(context))
    return steps + _alone(context) if found else []


@seeds(5)
def fitted_factors(nest: Nest, context: TuningContext) -> list[Steps]:
    """For the seed population: the forms that usually pay."""
    steps, found = pushed_on(nest)
    if not found:
        return []
    forms: list[Steps] = []
    for (rows, pivots), (tile, vectors) in zip(BLOCKS[1:3], ((4, 4), (8, 3)), strict=True):
        form = list(steps)
        for loops, joined in found:
            sizes = (rows, pivots, tile, vectors * context.lanes)
            form += blocked(*loops, *sizes, joined=joined, threads=_threads(context))
        forms.append(form + _alone(context))
    return forms


def factor_calls(nest: Nest, context: TuningContext) -> Steps:
    """Push results on, and hand what a block of pivots gives to BLAS; none where nothing is
    gathered."""
    steps, found = pushed_on(nest, in_rows=True)
    for loops, joined in found:
        row, pivot, _ = loops
        sizes = CALLED_OF_MANY if context.trips.get(row, 0) >= MANY else CALLED
        steps += _cut(*loops, *sizes, joined=joined)
        steps += [step("library", f"{pivot}.part{n}") for n in ((1,) if joined else (1, 2))]
    return steps if found else []


def _threads(context: TuningContext) -> bool:
    return context.parallel


def _alone(context: TuningContext) -> Steps:
    """Blocks of pivots, which are short, are left to one thread."""
    return [step("single")] if _threads(context) else []


def _micro(random: Random, context: TuningContext) -> tuple[int, int]:
    rows, vectors = random.choice(MICRO_TILES)
    return rows, vectors * context.lanes


def blocked(
    row: str,
    pivot: str,
    column: str,
    rows: int,
    pivots: int,
    tile: int,
    columns: int,
    *,
    joined: bool,
    threads: bool = False,
) -> Steps:
    """Tiles of rows, blocks of pivots, and the product behind a block in register tiles.

    Args:
        tile, columns: of a register tile.
        joined: columns run to the end of the row; else to its diagonal, and what of them lies in
            the row tile's own triangle is a product of its own.
        threads: share the columns of the first product among threads, once for each row tile and
            block of pivots: larger ones mean fewer times.
    """
    behind = f"{column}.rest2"
    steps = _cut(row, pivot, column, rows, pivots, joined=joined)
    steps += _product(f"{row}.part2", behind, f"{pivot}.part1", tile, columns, threads)
    tiled = [f"{row}.part2"]
    if not joined:
        steps += _triangle(f"{row}.part3", f"{behind}.rest", f"{pivot}.part2", tile, columns)
        tiled.append(f"{row}.part3")
    return [
        *steps,
        *(step("peel", name) for name in tiled),
        step("vectorize", f"{behind}*"),
        *(step("unroll", f"{name}*") for name in tiled),
        *([step("parallel", f"{behind}.tile")] if threads else []),
    ]


def _cut(row: str, pivot: str, column: str, rows: int, pivots: int, *, joined: bool) -> Steps:
    """Tiles of rows and blocks of pivots, each block with the products behind it."""
    behind = f"{column}.rest2"
    steps = [
        step("tile", row, rows),
        step("cut", pivot, f"{row}.tile"),
        step("distribute", row),
        step("interchange", row, pivot),
        step("tile", pivot, pivots),
        step("cut", column, f"{pivot}.tile", pivots),
    ]
    if not joined:
        steps.append(step("cut", behind, f"{row}.tile"))
    steps += [step("distribute", row), step("distribute", pivot)]
    return steps


def _product(row: str, column: str, pivot: str, rows: int, columns: int, threads: bool) -> Steps:
    """Register tiles of a product in the order pivot, row, column."""
    tiles = [f"{row}.tile", f"{column}.tile"]
    made = [pivot, tiles[0], row, tiles[1], column]
    return [
        step("tile", row, rows),
        step("tile", column, columns),
        *reorder(made, [tiles[1], tiles[0], row, column, pivot]),
        *([step("mark_parallel", tiles[1])] if threads else []),
        step("mark_parallel", row),
        step("mark_parallel", column),
        *_in_registers(row, column, pivot),
    ]


def _triangle(row: str, column: str, pivot: str, rows: int, columns: int) -> Steps:
    """The same for columns that end at the diagonal."""
    return [
        *reorder([pivot, row, column], [row, column, pivot]),
        step("mark_parallel", row),
        step("mark_parallel", column),
        step("block", row, column, rows, columns),
        *_in_registers(row, column, pivot),
    ]


def _in_registers(row: str, column: str, pivot: str) -> Steps:
    """The operand that all rows use packed, the sums in registers over a block of pivots."""
    return [
        *reorder([row, column, pivot], [pivot, row, column]),
        step("buffer", f"{row}.tile", pivot, column),
        step("buffer", pivot, row, column),
        step("pad", column),
    ]
