"""Products of which each row takes part in the sum from, or up to, the row's own place.

A triangular matrix times a full one is such a product, and a symmetric one of which one triangle is
stored is two of them. Rows and summands are cut into blocks: all but those on the diagonal are
whole, and go through the micro-kernel of a product, the small triangles that are left need no care.
What is summed up is packed before rows of the same array change, so it works in place, too. (TRMM
and SYMM on top of GEMM: Kågström, Ling and Van Loan, ACM TOMS 24(3), 1998; Goto and van de Geijn,
High-Performance Implementation of the Level-3 BLAS, ACM TOMS 35(1), 2008.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from loopbook.program.nest import Loop
from loopbook.rules.bands import Band
from loopbook.rules.base import Steps, TuningContext, reorder, step, with_tiles
from loopbook.rules.registers import MICRO_TILES, depth, packed_tiles, roles


@dataclass(frozen=True)
class Staircase:
    """The loops of such a product, by what steps call them.

    Attributes:
        order: all loops, outermost first.
        below: whether the sum runs up to the row's place, or from there on.
        distance: how many iterations beyond the row's own place the diagonal lies.
        skewed: the sum is counted from the row's place on.
    """

    order: tuple[str, ...]
    row: str
    column: str
    reduction: str
    below: bool
    distance: int
    skewed: bool = False

    def renamed(self, names: dict[str, str]) -> Staircase:
        """The same product, of which other steps have renamed loops."""
        row, column, reduction = (names[n] for n in (self.row, self.column, self.reduction))
        order = tuple(names[name] for name in self.order)
        return replace(self, order=order, row=row, column=column, reduction=reduction)


def staircase_tiles(band: Band, random: Random, context: TuningContext) -> Steps:
    """`packed_tiles` for a product with a triangular operand."""
    found = staircase(band)
    if found is None:
        return packed_tiles(band, random, context)
    rows, vectors = random.choice(MICRO_TILES)
    columns = vectors * context.lanes
    serial = [step("serialize", loop.name) for loop in band.loops if loop.kind == "reduce"]
    # The triangular operand, walked across its rows, wants room in the cache, too.
    summands = min(depth(context, columns, random), random.choice((128, 256, 256, 512)))
    threads = context.parallel
    return serial + tiles(found, rows, columns, summands, threads=threads)


def staircase(band: Band) -> Staircase | None:
    """The band as such a product; None if it is none."""
    if (found := roles(band)) is None:
        return None
    rows, column, reductions = found
    tried = (related(band.names, row, column, one) for row in rows for one in reductions)
    return next((made for made in tried if made is not None), None)


def related(order: tuple[str, ...], row: Loop, column: Loop, reduction: Loop) -> Staircase | None:
    """What the bounds of the row's loop and the sum's say of each other; None if nothing."""
    turned = reduction.depth < row.depth
    outer, inner = (reduction, row) if turned else (row, reduction)
    own, constant = (outer.indvar,), ()
    names = row.name, column.name, reduction.name
    for end in inner.bounds.highs:
        plain = set(end) <= {own, constant} and end.get(own) == 1
        distance = 1 - end.get(constant, 0) if turned else end.get(constant, 0)
        if plain and distance >= 0:
            return Staircase(order, *names, not turned, distance)
        if end.get(own) == -1 and not turned:
            return Staircase(order, *names, below=False, distance=0, skewed=True)
    for start in inner.bounds.lows:
        plain = set(start) <= {own, constant} and start.get(own) == 1
        distance = 1 - start.get(constant, 0) if turned else start.get(constant, 0)
        if plain and distance >= 0:
            return Staircase(order, *names, turned, distance)
    return None


def tiles(
    found: Staircase, rows: int, columns: int, summands: int, *, threads: bool = False
) -> Steps:
    """Register tiles of `rows` by `columns`, packed panels of `summands` by `columns`.

    Args:
        threads: the loop over panels is to be run by several.
    """
    row, column, reduction = found.row, found.column, found.reduction
    rest = [name for name in found.order if name not in (row, column, reduction)]
    steps = [step("skew", row, reduction, 1)] if found.skewed else []
    final = [*rest, f"{column}.tile", row, reduction, column]
    steps += [
        step("tile", column, columns),
        *reorder(with_tiles(found.order, [column]), final),
        *([step("mark_parallel", f"{column}.tile")] if threads else []),
        step("block", row, reduction, rows, summands),
    ]
    at = f"{row}.tile"
    far = found.distance if found.below else rows - 1 + found.distance
    steps += [step("cut", reduction, at, far) if far else step("cut", reduction, at)]
    steps += [step("distribute", row)]
    if found.below:
        diagonal, whole = f"{column}.rest", (row, reduction, column)
    else:
        diagonal, whole = column, (f"{row}.part1", f"{reduction}.rest", f"{column}.rest")
    r, s, c = whole
    return [
        *steps,
        step("mark_parallel", diagonal),
        step("interchange", r, s),
        step("buffer", at, s, c),
        step("mark_parallel", r),
        step("mark_parallel", c),
        step("buffer", s, r, c),
        step("pad", c),
        *([step("peel", r)] if found.below else []),
        step("vectorize", f"{column}*"),
        step("unroll", f"{r}*"),
    ]
