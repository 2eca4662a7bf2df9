"""How `time_tile` and `time_waves` are done.

Each statement keeps its own loops and its order; only the tiles are new. The transformation is
legal if no dependence points to an earlier tile: along every tiled dimension
``distance + factor*steps + shift2 - shift1 >= 0``. The least factor for which there are such shifts
is taken; shifts are longest paths over these difference constraints. (Wonnacott, "Achieving
scalable locality with time skewing", IJPP 2002; Bondhugula et al., "A practical automatic
polyhedral parallelizer and locality optimizer", PLDI 2008.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.nest import Loop, Nest, NodeRef
from loopbook.sdfg.rewrites import scalars
from loopbook.sdfg.rewrites.distances import Conflicts, Meeting, Placed, check_plain, plus
from loopbook.sdfg.rewrites.document import (
    Draft,
    Json,
    largest,
    render,
    replace,
    rewriting,
    smallest,
    upper_bounds,
)
from loopbook.sdfg.rewrites.waves import Tiles, in_waves
from loopbook.steps.time_tile import TimeTile
from loopbook.steps.time_waves import TimeWaves

MAX_FACTOR = 8

Constraint = tuple[int, int, int, int]
"""Statements p and q, least distance d along one dimension, time steps k: q is at least d from p, k
steps later, so that ``shift[q] - shift[p] + factor*k + d >= 0`` is needed."""


@dataclass(frozen=True)
class Statement:
    """One loop nest in the time loop's body.

    Attributes:
        loop: the outermost loop.
        levels: for each tiled dimension the loop that runs along it, None where the statement stays
            at one place (0).
    """

    loop: Loop
    levels: tuple[Loop | None, ...]

    @property
    def places(self) -> tuple[str | int, ...]:
        return tuple(level.indvar if level else 0 for level in self.levels)

    @property
    def private_to(self) -> Loop:
        """The loop inside which scalars must live, to be free of the order of tiles."""
        return next((level for level in reversed(self.levels) if level), self.loop)


@dataclass(frozen=True)
class Skew:
    """How one dimension is skewed: by `factor` for each time step, each statement by a shift."""

    factor: int
    shifts: tuple[int, ...]


@rewriting(TimeTile)
def time_tile(draft: Draft, loops: Sequence[int], sizes: Sequence[int]) -> None:
    """Tile a time loop and the one or two outer dimensions of space below it.

    Args:
        loops: the time loop.
        sizes: time steps in a tile, then its width along each tiled dimension of space.

    Raises:
        IllegalStepError: if dependences do not allow it or are not known exactly.
    """
    _tile(draft, loops[0], 0, sizes[0], sizes[1:])


@rewriting(TimeWaves)
def time_waves(draft: Draft, loops: Sequence[int], sizes: Sequence[int]) -> None:
    """Tile as `time_tile` does, for several tiles to run at the same time.

    Args:
        loops: the time loop.
        sizes: how many tiles run at a time, then as for `time_tile`.

    Raises:
        IllegalStepError: as `time_tile`.
    """
    _tile(draft, loops[0], sizes[0], sizes[1], sizes[2:])


def _tile(draft: Draft, loop: int, count: int, steps: int, widths: Sequence[int]) -> None:
    """Tile; in waves of up to `count` time tiles, if that is not 0."""
    nest, time = draft.nest_with(loop)
    check_plain(nest, time)
    end = plain_end(nest, time)
    statements = _statements(nest, time, len(widths))
    _check_scalars(draft, nest, time, statements)
    skews = _skews(nest, time, statements)
    ends = [
        [plain_end(nest, level) if level else {(): 1} for level in s.levels] for s in statements
    ]

    body = draft.element(time.element_id)
    name = draft.names.get(time.element_id, time.name)
    tile = draft.fresh_variable(f"{time.indvar}_time", time.indvar)
    spaces = [draft.fresh_variable(f"{time.indvar}_space", time.indvar) for _ in widths]
    _bound_statements(draft, body, statements, ends, skews, time, tile, spaces, widths)
    start, time_end = time.init, render(end)
    body["init"] = tile
    body["condition"] = f"({time.indvar} < {smallest([time_end, f'{steps} + {tile}'])})"
    inner = dict(body)
    extents = [_extent(statements, ends, skew, level, steps) for level, skew in enumerate(skews)]
    for level in reversed(range(1 if count else 0, len(widths))):
        inner = draft.loop(
            f"{name}.space{level + 1 if level else ''}",
            spaces[level],
            extents[level],
            [inner],
            by=widths[level],
        )
    if count:
        by, factor = widths[0], skews[0].factor
        tiles = Tiles(name, tile, spaces[0], start, time_end, *extents[0], steps, by, factor)
        outer = in_waves(draft, tiles, count, by, time.indvar, [inner])
    else:
        outer = draft.loop(f"{name}.tile", tile, (start, time_end), [inner], by=steps)
    replace(draft.document, body, [outer])


def _statements(nest: Nest, time: Loop, count: int) -> list[Statement]:
    """The statements in the time loop, each with its loops along the `count` tiled dimensions.

    A statement with fewer loops than the others lacks the outer ones: it stays at one place there.
    """
    children = [child for parent, child in nest.contains if parent == ("loop", time.index)]
    if not children or any(kind != "loop" for kind, _ in children):
        raise IllegalStepError(f"{time.name} holds more than loops")
    chains = [chain(nest, nest.loops[index]) for _, index in children]
    depth = max(map(len, chains))
    if depth < count:
        raise IllegalStepError(f"the loops in {time.name} are not {count} deep")
    return [
        Statement(chain[0], tuple(([None] * (depth - len(chain)) + list(chain))[:count]))
        for chain in chains
    ]


def chain(nest: Nest, loop: Loop) -> list[Loop]:
    """The perfectly nested loops from `loop` on."""
    chain = [loop]
    while True:
        inner = [child for parent, child in nest.contains if parent == ("loop", chain[-1].index)]
        if len(inner) != 1 or not _is_loop(inner[0]):
            return chain
        chain.append(nest.loops[inner[0][1]])


def _is_loop(node: NodeRef) -> bool:
    return node[0] == "loop"


def plain_end(nest: Nest, loop: Loop) -> expr.Polynomial:
    """The bound of a loop that advances by one, from and to what the nest does not change."""
    ends = upper_bounds(loop)
    if loop.step != 1 or len(ends) != 1:
        raise IllegalStepError(f"{loop.name} is no plain counting loop")
    changing = {other.indvar for other in nest.loops}
    used = set(expr.symbols(loop.init)) | {s for m in ends[0] for s in expr.symbols(" ".join(m))}
    if used & changing:
        raise IllegalStepError(f"the bounds of {loop.name} change inside the nest")
    return ends[0]


def _check_scalars(draft: Draft, nest: Nest, time: Loop, statements: list[Statement]) -> None:
    """Refuse scalars that carry values from one place to the next."""
    written = scalars.written_scalars(nest, time)
    for name, accesses in written.items():
        place = scalars.home(nest, accesses)
        around = nest.ancestry(place.index) if place else ()
        if not any(statement.private_to in around for statement in statements):
            raise IllegalStepError(f"the scalar {name} carries values between iterations")
    counted = {loop.indvar for loop in nest.loops if time in nest.ancestry(loop.index)}
    body = draft.element(time.element_id)
    scalars.check_unused_outside(draft.document, body, set(written) | counted)


def _skews(nest: Nest, time: Loop, statements: list[Statement]) -> list[Skew]:
    """The least skew of each dimension that the dependences allow."""
    levels = len(statements[0].levels)
    constraints: list[list[Constraint]] = [[] for _ in range(levels)]
    conflicts = Conflicts(nest, time)
    placed = [
        (number, access, where)
        for access, where in conflicts.accesses
        for number, statement in enumerate(statements)
        if statement.loop in nest.ancestry(nest.blocks[access.block].parent)
    ]
    for p, source, a in placed:
        for q, sink, b in placed:
            if source.container == sink.container and (source.write or sink.write):
                _constrain(constraints, statements, conflicts, (p, a), (q, b))
    return [_least_skew(found, len(statements)) for found in constraints]


def _constrain(
    constraints: list[list[Constraint]],
    statements: list[Statement],
    conflicts: Conflicts,
    source: tuple[int, Placed],
    sink: tuple[int, Placed],
) -> None:
    """Add what a dependence from `source` to `sink` demands along each dimension."""
    (p, a), (q, b) = source, sink
    apart = [
        conflicts.distance(a, b, place, other)
        for place, other in zip(statements[p].places, statements[q].places, strict=True)
    ]
    if Meeting.NEVER in apart:
        return
    ahead = True  # whether the sink may follow in the same time step, as far as outer levels tell
    for level, gap in enumerate(apart):
        if isinstance(gap, Meeting):
            raise IllegalStepError("a dependence has no constant distance")
        constraints[level].append((p, q, gap, 0 if p < q else 1))
        if p == q and ahead:
            if gap < 0 and any(isinstance(g, int) and g > 0 for g in apart[:level]):
                raise IllegalStepError("a dependence inside a time step points backwards")
            ahead = gap >= 0


def _least_skew(constraints: list[Constraint], count: int) -> Skew:
    """The least factor with shifts that satisfy all constraints (longest paths, Bellman-Ford)."""
    for factor in range(MAX_FACTOR + 1):
        shifts = [0] * count
        for _ in range(count + 1):
            before = list(shifts)
            for p, q, gap, later in constraints:
                shifts[q] = max(shifts[q], shifts[p] - gap - factor * later)
            if shifts == before:
                return Skew(factor, tuple(shifts))
    raise IllegalStepError(f"no skew up to {MAX_FACTOR} satisfies the dependences")


def _bound_statements(
    draft: Draft,
    body: Json,
    statements: list[Statement],
    ends: list[list[expr.Polynomial]],
    skews: list[Skew],
    time: Loop,
    tile: str,
    spaces: list[str],
    widths: Sequence[int],
) -> None:
    """Limit each statement's loops to the tile."""
    for number, statement in enumerate(statements):
        for level, loop in enumerate(statement.levels):
            skew = skews[level]
            left = f"{spaces[level]} - {skew.factor}*({time.indvar} - {tile})"
            left = f"{left} - {skew.shifts[number]}"
            right = f"{widths[level]} + {left}"
            if loop is not None:
                element = draft.element(loop.element_id)
                end = render(ends[number][level])
                element["init"] = largest([loop.init, left])
                element["condition"] = f"({loop.indvar} < {smallest([end, right])})"
                continue
            element = draft.element(statement.loop.element_id)
            point = draft.fresh_variable(f"{time.indvar}_point", time.indvar)
            name = draft.names.get(statement.loop.element_id, statement.loop.name)
            bounds = (largest(["0", left]), smallest(["1", right]))
            replace(body["root"], element, [draft.loop(f"{name}.point", point, bounds, [element])])


def _extent(
    statements: list[Statement],
    ends: list[list[expr.Polynomial]],
    skew: Skew,
    level: int,
    steps: int,
) -> tuple[str, str]:
    """From where to where the tiles along one dimension go."""
    lows, highs = [], []
    for number, statement in enumerate(statements):
        loop = statement.levels[level]
        shift = skew.shifts[number]
        start = expr.polynomial(loop.init) if loop else {}
        lows.append(plus(start, {(): shift}))
        highs.append(plus(ends[number][level], {(): shift + skew.factor * (steps - 1)}))
    return smallest(map(render, _outermost(lows, -1))), largest(map(render, _outermost(highs, 1)))


def _outermost(bounds: list[expr.Polynomial], sign: int) -> list[expr.Polynomial]:
    """The bounds without those that another one always exceeds in the direction of `sign`."""
    kept: list[expr.Polynomial] = []
    for bound in bounds:
        gaps = [plus(bound, other, -1) for other in kept]
        if any(not set(gap) - {()} and sign * gap.get((), 0) <= 0 for gap in gaps):
            continue
        kept = [
            other
            for other, gap in zip(kept, gaps, strict=True)
            if set(gap) - {()} or sign * gap.get((), 0) < 0
        ]
        kept.append(bound)
    return kept
