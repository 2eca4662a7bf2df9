"""Products as calls of a library that others have tuned for years.

Of a triangle, rows are cut into tiles. What a tile's rows have in common is a rectangle, which is
most of the work and one call; what lies on the diagonal is computed in full beside the result, or,
where a triangular operand must not be read beyond the diagonal, left to loops over short rows of
it. (Level-3 BLAS on top of GEMM: Kågström, Ling and Van Loan, ACM TOMS 24(3), 1998.)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random

from loopbook.program import expr
from loopbook.program.nest import Loop, Nest
from loopbook.rules.bands import Band, bands
from loopbook.rules.base import Steps, TuningContext, reorder, step
from loopbook.rules.factor import factor_calls
from loopbook.rules.fission import carried
from loopbook.rules.registers import serial
from loopbook.rules.separation import Product, separated
from loopbook.rules.staircase import Staircase, related, staircase
from loopbook.rules.triangular import dependent, runs_from_the_diagonal, triangle

PART = 10
"""A tile has so many times fewer rows than there are in all: of a result, as many additional
columns are computed on the diagonal, and the fewer tiles, the fewer times the other operand is
packed (1,200 by 1,200 by 1,400: tiles of 48 rows 85 ms, 64: 83, 96: 76, 128: 71, 192: 79, OpenBLAS
0.3.21, AVX2, 2026-11-26)."""

ROWS = range(32, 129, 16)
"""Of a tile."""

GRAM_PART, GRAM_ROWS = 5, range(32, 257, 16)
"""The same where a matrix is multiplied by its own transpose: of what is computed on the diagonal,
which is symmetric, a library spares half. A correlation of 1,200 by 1,400 takes 67 ms in tiles of
112 rows, 62 of 192 and 61 of 256 (OpenBLAS 0.3.21, AVX-512, 2026-11-26)."""

USUAL = 1000
"""Rows, where the number is not known."""


def library_call(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Hand products to BLAS: perfectly nested loops of which some sum products up, whole or by
    tiles of a triangle, and those that a temporary holds together with what is done to the sums.

    Nothing where `context` wants no libraries. Whether a nest is exactly a product, the step
    itself finds out.
    """
    return next(library_calls(nest, context), [])


def library_calls(nest: Nest, context: TuningContext) -> Iterator[Steps]:
    """All ways of `library_call`, the best first: more of them may be illegal the more they take
    apart."""
    if not context.libraries or not _multiplies(nest):
        return
    first, *others = bands(nest)
    if not others and len(first.loops) > 2:
        ways = [_of_band(first, context)]
    else:
        apart = separated(nest, partial(_calls, context=context))
        ways = [factor_calls(nest, context), apart, _of_solve(nest, context)]
    yield from filter(None, ways)


def _multiplies(nest: Nest) -> bool:
    return any(operation.op in ("fp_mul", "fp_fma") for operation in nest.operations)


def _of_band(band: Band, context: TuningContext) -> Steps:
    """Calls for loops of which each but the last holds nothing but the next."""
    still = [loop for loop in band.loops if not band.moves_output(loop)]
    if not still:
        return []
    if (found := staircase(band)) is not None:
        loops = [step("serialize", loop.name) for loop in still if loop.kind == "reduce"]
        return loops + _of_operand(found, context)
    if (pair := triangle(band)) is None:
        return [step("library", band.names[0])]
    names = {name: name for name in band.names}
    size = _rows(context, pair[0].name)
    if len(band.inputs()) == 1:
        size = _rows(context, pair[0].name, part=GRAM_PART, among=GRAM_ROWS)
    return serial(band, still[0].name) + _of_result(pair, names, size)


def _calls(product: Product, context: TuningContext) -> Steps:
    """Calls for a product that has been taken out of a nest."""
    names, roles = product.names, (product.row, product.column, product.reduction)
    if (found := related(product.order, *roles)) is not None:
        return _of_operand(found, context, names)
    if (pair := dependent(roles)) is not None:
        order = {name: names[name] for name in product.order}
        return _of_result(pair, order, _rows(context, pair[0].name))
    return [step("library", names[product.order[0]])]


def _of_solve(nest: Nest, context: TuningContext) -> Steps:
    """What a tile of rows needs of the rows in front of it, before the tile is solved row by row:
    a triangular system with many right-hand sides."""
    top = nest.loops[0]
    scalars = carried(nest)
    for inner in nest.loops:
        outer = nest.loops[inner.parent]
        if inner.parent <= top.index or outer.parent != top.index:
            continue
        for column, reduction in ((outer, inner), (inner, outer)):
            found = related((top.name, outer.name, inner.name), top, column, reduction)
            if found is None or not found.below or found.skewed:
                continue
            steps = [step("serialize", inner.name)] if inner.kind == "reduce" else []
            if (outer, inner) in scalars:
                steps += [step("reg2mem", outer.name), step("distribute", outer.name)]
            order = [outer.name, inner.name]
            steps += reorder(order, [reduction.name, column.name])
            size = _rows(context, top.name, part=2 * PART)
            steps += _cut(top.name, reduction.name, size, found.distance)
            return [*steps, step("library", top.name)]
    return []


def _rows(context: TuningContext, loop: str, *, part: int = PART, among: range = ROWS) -> int:
    """How many of a loop's iterations make a tile."""
    fitting = context.trips.get(loop, USUAL) // part
    return max((size for size in among if size <= fitting), default=among[0])


def _of_operand(
    found: Staircase, context: TuningContext, names: dict[str, str] | None = None
) -> Steps:
    """Of each tile of rows the part of the sum that all of them have, as one call.

    Args:
        names: what its loops are called now.
    """
    size = _rows(context, found.row, part=2 * PART)  # loops are slower than a call
    if names is not None:
        found = found.renamed(names)
    row, column, reduction = found.row, found.column, found.reduction
    rest = [name for name in found.order if name not in (row, column, reduction)]
    far = found.distance if found.below else size - 1 + found.distance
    return [
        *([step("skew", row, reduction, 1)] if found.skewed else []),
        *reorder(found.order, [*rest, row, reduction, column]),
        *_cut(row, reduction, size, far),
        step("library", row if found.below else f"{row}.part1"),
    ]


def _of_result(pair: tuple[Loop, Loop], names: dict[str, str], size: int) -> Steps:
    """Of each tile of rows the columns that all of them have, as one call, and the others.

    Args:
        pair: the loops of which the second one's bounds depend on the first one.
        names: what all loops, outermost first, are called now.
        size: rows of a tile.
    """
    outer, inner = (names[loop.name] for loop in pair)
    order = list(names.values())
    others = [name for name in order if name not in (outer, inner)]
    skewed = runs_from_the_diagonal(*pair)
    above = skewed or any(pair[0].indvar in expr.mentioned(low) for low in pair[1].bounds.lows)
    return [
        *reorder(order, [outer, inner, *others]),
        *([step("skew", outer, inner, 1)] if skewed else []),
        *_cut(outer, inner, size, size - 1 if above else 0),
        step("library", outer),
        step("library", f"{outer}.part1"),
    ]


def _cut(row: str, other: str, size: int, far: int) -> Steps:
    """Tiles of rows, each in two where another loop meets the diagonal."""
    at = f"{row}.tile"
    return [
        step("tile", row, size),
        step("cut", other, at, far) if far else step("cut", other, at),
        step("distribute", row),
    ]
