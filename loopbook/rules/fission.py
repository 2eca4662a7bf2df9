"""Factorisations and solves: imperfect triangular nests taken apart and put together for reuse."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from loopbook.program import expr
from loopbook.program.nest import Loop, Nest, Stride
from loopbook.rules.bands import bands
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_nests, seeds

BLOCKS = ((8, 4), (16, 4), (16, 8), (32, 4), (32, 8), (64, 8))
"""Rows of a block and pivots taken at a time."""

TILED = ((16, 16), (32, 16), (64, 16), (32, 32), (64, 32))
"""Rows and pivots of a tile."""


def gathers(nest: Nest) -> list[tuple[Loop, Loop]]:
    """Pairs of loops of which the inner one runs up to the outer one's variable; the innermost."""
    found: list[tuple[Loop, Loop]] = []
    for inner in nest.loops:
        if inner.parent < 0:
            continue
        outer = nest.loops[inner.parent]
        if not inner.indvar or not outer.indvar:  # a while loop
            continue
        bound = expr.normal_form(inner.condition)
        wanted = expr.normal_form(f"{inner.indvar} < {outer.indvar}")
        if bound == wanted and inner.init == outer.init:
            found.append((outer, inner))
    deepest = max((outer.depth for outer, _ in found), default=0)
    return [(outer, inner) for outer, inner in found if outer.depth == deepest]


def carried(nest: Nest) -> list[tuple[Loop, Loop]]:
    """Pairs of loops of which the inner one adds to a scalar that the outer one sets."""
    written = {
        (access.container, nest.blocks[access.block].parent)
        for access in nest.accesses
        if access.write and not nest.containers[access.container].is_array
    }
    return [
        (nest.loops[inner.parent], inner)
        for inner in nest.loops
        if inner.parent >= 0
        and any((scalar, inner.parent) in written for scalar, at in written if at == inner.index)
    ]


def ends_in_copy(nest: Nest, loop: Loop) -> bool:
    """Whether the last block of a loop's body does nothing but copy."""
    last = max(block.index for block in nest.blocks if block.parent == loop.index)
    return [one.op for one in nest.operations if one.block == last] == ["assign"]


def lie_in_rows(nest: Nest, loops: Iterable[Loop]) -> bool:
    """Whether all that some loops add up lies along memory: such sums are done in vectors as they
    are."""
    inside = {loop.index for loop in loops}
    strides = (a.strides for a in nest.accesses if nest.blocks[a.block].parent in inside)
    return all(own[-1] in (Stride.ZERO, Stride.UNIT) for own in strides if own)


@on_nests(1.0)
def right_looking(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Push results on as soon as they are final; then block rows and take several pivots at once.

    For an LU factorisation by rows this makes of each row's two halves one loop over pivots with
    one contiguous loop inside, and of most of the work a product of blocks (Golub and Van Loan,
    Matrix Computations, sections 3.2.9 and 3.2.11).
    """
    steps, pushed = pushed_on(nest)
    for loops, joined in pushed:
        if random.random() < 0.2:
            continue
        if random.random() < (0.5 if joined else 0.2):
            steps += _blocked(*loops, *random.choice(BLOCKS))
        else:
            steps += _tiled(*loops, *random.choice(TILED))
    return steps


@seeds(7)
def fitted_factorisations(nest: Nest, context: TuningContext) -> list[Steps]:
    """Each form that `right_looking` can give, to begin with; none where nothing is gathered."""
    steps, pushed = pushed_on(nest)
    found = [steps] if steps else []
    if pushed:
        loops, _ = pushed[0]
        forms = [_tiled(*loops, 64, 16), _tiled(*loops, 16, 16), _blocked(*loops, 16, 4)]
        found = [steps + form for form in forms] + found
    return found


def pushed_on(
    nest: Nest, *, in_rows: bool = False
) -> tuple[Steps, list[tuple[tuple[str, str, str], bool]]]:
    """Steps that push what is gathered.

    Args:
        in_rows: push sums in scalars on even if they are done in vectors as they are.

    Returns:
        With them, for each nest left: rows, pivots, columns, and whether two halves were joined.
    """
    pairs: dict[int, list[tuple[str, str]]] = {}  # by loop around them: pivots and what they hold
    scalars, gathered = carried(nest), gathers(nest)
    if not gathered:
        return _turned(nest)
    if scalars and not in_rows and lie_in_rows(nest, (inner for _, inner in scalars)):
        return [], []
    steps: Steps = [step("reg2mem", outer.name) for outer, _ in scalars]
    for outer, inner in gathered:
        steps.append(step("right_looking", outer.name, inner.name))
        pairs.setdefault(outer.parent, []).append((outer.name, inner.name))
    for outer, inner in scalars:
        if (outer, inner) not in gathered and outer.parent in pairs:
            steps.append(step("interchange", outer.name, inner.name))
            pairs[outer.parent].append((inner.name, outer.name))
    for band in bands(nest):
        if len(band.loops) == 2 and band.by_locality()[-1] == band.names[0]:
            column, pivot = band.names
            steps.append(step("interchange", column, pivot))
            pairs.setdefault(band.loops[0].parent, []).append((pivot, column))
    pushed: list[tuple[tuple[str, str, str], bool]] = []
    for around_them, (first, *others) in pairs.items():
        for other in others:
            steps += [step("fuse", first[0], other[0]), step("join", first[1], other[1])]
        if around_them >= 0:
            pushed.append(((nest.loops[around_them].name, *first), bool(others)))
    return steps, pushed


def _turned(nest: Nest) -> tuple[Steps, list[tuple[tuple[str, str, str], bool]]]:
    """As `pushed_on` for what is pushed on already, pivot by pivot: row by row instead.

    That is ``for k: for i > k: (A[i, k] /= A[k, k]; for j > k: A[i, j] -= A[i, k] * A[k, j])``,
    maybe with a loop over the rows for each of its two statements.
    """
    pivot, rows = nest.loops[0], nest.children(0)
    columns = nest.children(rows[-1].index) if rows else ()
    if not pivot.indvar or len(columns) != 1 or any(b.parent == 0 for b in nest.blocks):
        return [], []
    (column,) = columns
    if nest.children(column.index) or any(nest.children(one.index) for one in rows[:-1]):
        return [], []
    if not all(_shrinks(one, pivot) for one in (*rows, column)):
        return [], []
    steps = [step("fuse", rows[0].name, other.name) for other in rows[1:]]
    row = rows[0]
    steps += [step("skew", pivot.name, one.name, 1) for one in (row, column)]
    steps.append(step("interchange", pivot.name, row.name))
    return steps, [((row.name, pivot.name, column.name), True)]


def _shrinks(loop: Loop, pivot: Loop) -> bool:
    """Whether a loop has one iteration less from one pivot to the next."""
    highs = loop.bounds.highs if loop.indvar else ()
    return len(highs) == 1 and highs[0].get((pivot.indvar,)) == -1


def _tiled(row: str, pivot: str, column: str, rows: int, pivots: int) -> Steps:
    """Rows and pivots in tiles, so that what the pivots of a tile give is read from L2.

    clang asks once for all pivots of a row whether what it reads may be what it writes, and in
    place the answer is yes. Inside of a loop over long strips of columns it asks for each pivot.
    """
    return [
        step("tile", column, 512),
        step("tile", row, rows),
        step("tile", pivot, pivots),
        step("bounding_box", f"{pivot}.tile"),
        step("interchange", row, f"{pivot}.tile"),
    ]


def _blocked(row: str, pivot: str, column: str, rows: int, pivots: int) -> Steps:
    """Rows in tiles; below the diagonal block, some pivots at a time for all rows of the tile."""
    later = f"{pivot}.part1"
    return [
        step("tile", row, rows),
        step("interchange", row, pivot),
        step("cut", pivot, f"{row}.tile"),
        step("tile", pivot, pivots),
        step("cut", column, f"{pivot}.tile", pivots),
        step("distribute", row),
        step("distribute", pivot),
        step("peel", later),
        step("interchange", later, f"{row}.part2"),
        step("interchange", later, f"{column}.rest2"),
        step("unroll", later),
    ]
