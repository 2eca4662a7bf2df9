"""Tiles of time and skewed space: what `time_tile` and `pipelined_time_tile` have in common.

Each statement keeps its own loops and its order; only the tiles are new. The transformation is
legal if no dependence points to an earlier tile: along every tiled dimension
``distance + factor*steps + shift2 - shift1 >= 0``. The least factor for which there are such shifts
is taken; shifts are longest paths over these difference constraints. (Wonnacott, "Achieving
scalable locality with time skewing", IJPP 2002; Bondhugula et al., "A practical automatic
polyhedral parallelizer and locality optimizer", PLDI 2008.)
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from loopbook.dependence import Meeting, linear
from loopbook.dependence.arrays import ArrayLoop, Conflicts, Placed
from loopbook.dependence.model import Linear, statements
from loopbook.dependence.scalars import Loops
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.program.expr import ONE, Expr, Polynomial, largest, smallest, text
from loopbook.program.tree import Loop
from loopbook.program.walk import band, with_children
from loopbook.steps.editor import Editor
from loopbook.steps.plain import MAX_FACTOR, PlainNest
from loopbook.steps.waves import Tiles, in_turn, in_waves

Constraint = tuple[int, int, int, int]
"""Statements p and q, least distance d along one dimension, time steps k: q is at least d from p, k
steps later, so that ``shift[q] - shift[p] + factor*k + d >= 0`` is needed."""


@dataclass(frozen=True)
class Skew:
    """How one dimension is skewed: by `factor` for each time step, each statement by a shift."""

    factor: int
    shifts: tuple[int, ...]


@dataclass(frozen=True)
class Statement:
    """One loop nest in the time loop's body.

    Attributes:
        loop: the outermost loop.
        levels: for each tiled dimension the loop that runs along it, None where the statement stays
            at one place.
        starts, ends: of the levels; of one place, it and the next one.
    """

    loop: Loop
    levels: tuple[Loop | None, ...]
    starts: tuple[Polynomial, ...]
    ends: tuple[Polynomial, ...]

    @property
    def places(self) -> tuple[str | Linear, ...]:
        """What says where the statement is along each dimension."""
        return tuple(
            level.variable if level else linear.from_polynomial(start, frozenset())
            for level, start in zip(self.levels, self.starts, strict=True)
        )

    def owns(self, loops: Loops) -> bool:
        """Whether what the iterations of loops have for themselves is free of the order of tiles:
        the statement's loops along all dimensions must be among them."""
        return next((level for level in reversed(self.levels) if level), self.loop) in loops


def tile_time(
    editor: Editor, name: str, steps: int, widths: Sequence[int], at_a_time: int = 0
) -> None:
    """Tile a time loop and the one or two outer dimensions of space below it.

    Args:
        name: of the time loop.
        steps: time steps in a tile.
        widths: of a tile, along each tiled dimension of space.
        at_a_time: in waves of up to so many time tiles, if not 0.

    Raises:
        IllegalStepError: dependences do not allow it or are not known exactly.
    """
    nest = PlainNest(editor, name)
    time = nest.loop
    end = text(nest.end(time))
    conflicts = nest.conflicts()
    found = _placed(conflicts, _statements(nest, name, len(widths)))
    nest.scalars(lambda own: any(statement.owns(own) for statement in found))
    skews = _skews(conflicts, found, len(widths))

    tile = editor.variable(f"{time.variable}_time", time.variable)
    spaces = [editor.variable(f"{time.variable}_space", time.variable) for _ in widths]
    extents = [_extent(found, skew, level, steps) for level, skew in enumerate(skews)]
    body: list[Loop] = []
    for number, statement in enumerate(found):
        ranges: list[Range] = []
        for skew, space, width in zip(skews, spaces, widths, strict=True):
            left = f"{space} - {skew.factor}*({time.variable} - {tile}) - {skew.shifts[number]}"
            ranges.append((left, f"{width} + {left}"))
        places = zip(statement.levels, statement.starts, statement.ends, ranges, strict=True)
        levels = sorted(places, key=lambda one: one[0] is not None)  # one place along a dimension
        body.append(_limited(editor, statement.loop, levels, time.variable))
    inner = replace(
        with_children(time, body),
        init=Expr(tile),
        condition=Expr(f"({time.variable} < {smallest([end, f'{steps} + {tile}'])})"),
    )
    for level in reversed(range(1, len(widths))):
        inner = editor.new_loop(
            f"{name}.space{level + 1}", spaces[level], *extents[level], [inner], by=widths[level]
        )
    start, by, factor = str(time.init), widths[0], skews[0].factor
    tiles = Tiles(name, tile, spaces[0], start, end, *extents[0], steps, by, factor)
    if at_a_time:
        outer = in_waves(editor, tiles, at_a_time, by, time.variable, [inner])
    else:
        outer = in_turn(editor, tiles, [inner])
    editor.put(name, outer)


def _statements(nest: PlainNest, name: str, count: int) -> list[Sequence[Statement]]:
    """The statements in the time loop, each with its loops along the `count` tiled dimensions, in
    all ways that there may be.

    A statement with fewer loops than the others stays at one place along the dimensions that it
    lacks: before the first point, at it, or at the end, as conditions at boundaries do.
    """
    children = nest.loop.body.children
    loops = [child for child in children if isinstance(child, Loop)]
    if not loops or len(loops) < len(children):
        raise IllegalStepError(f"{name} holds more than loops")
    bands = list(map(band, loops))
    depth = max(map(len, bands))
    if depth < count:
        raise IllegalStepError(f"the loops in {name} are not {count} deep")
    rims: list[list[Polynomial]] = [[{}] for _ in range(depth)]
    for own in bands:
        for rim, loop in zip(rims, own if len(own) == depth else [], strict=False):
            start, end = loop.init.polynomial, nest.end(loop)
            near = (start, expr.plus(start, ONE, -1), expr.plus(end, ONE, -1), end)
            rim += [place for place in near if place not in rim]
    return [list(_ways(nest, own, rims, count)) for own in bands]


def _ways(
    nest: PlainNest, own: Sequence[Loop], rims: Sequence[Sequence[Polynomial]], count: int
) -> Iterator[Statement]:
    """A statement, with its loops along some of the dimensions and at any rim of the others."""
    depth = len(rims)
    ways = itertools.combinations(range(depth), depth - len(own))
    for lacking in dict.fromkeys(tuple(p for p in way if p < count) for way in ways):
        loops = iter(own)
        levels = [None if place in lacking else next(loops) for place in range(count)]
        places = (
            rims[place] if level is None else [level.init.polynomial]
            for place, level in enumerate(levels)
        )
        for starts in itertools.product(*places):
            ends = tuple(
                nest.end(level) if level else expr.plus(start, ONE)
                for level, start in zip(levels, starts, strict=True)
            )
            yield Statement(own[0], tuple(levels), starts, ends)


def _placed(conflicts: Conflicts, ways: Sequence[Sequence[Statement]]) -> list[Statement]:
    """The statements, each where its distances from those that have one way are constant; the first
    way of one for which there is no such."""
    found = [some[0] for some in ways]
    pairs = list(_numbered(conflicts))
    for number, some in enumerate(ways):
        if len(some) == 1:
            continue
        near = [
            pair
            for pair in pairs
            if number in pair[:2] and all(n == number or len(ways[n]) == 1 for n in pair[:2])
        ]
        for way in some:
            tried = [*found[:number], way, *found[number + 1 :]]
            with contextlib.suppress(IllegalStepError):
                for p, q, one, two in near:
                    _gaps(conflicts, (tried[p], one), (tried[q], two))
                found = tried
                break
    return found


# -- how far space has to be skewed -------------------------------------------------------------


def _skews(conflicts: Conflicts, found: Sequence[Statement], levels: int) -> list[Skew]:
    """The least skew of each dimension that the dependences allow."""
    constraints: list[list[Constraint]] = [[] for _ in range(levels)]
    for p, q, one, two in _numbered(conflicts):
        for level, gap in enumerate(_gaps(conflicts, (found[p], one), (found[q], two))):
            constraints[level].append((p, q, gap, 0 if p < q else 1))
    return [_least_skew(one, len(found)) for one in constraints]


def _numbered(conflicts: Conflicts) -> Iterator[tuple[int, int, Placed, Placed]]:
    """Every two accesses that may conflict, after the numbers of their statements."""
    numbers = {
        statement: number
        for number, child in enumerate(conflicts.loop.children)
        if isinstance(child, ArrayLoop)
        for statement, _ in statements(child)
    }
    for one, two in conflicts.pairs():
        yield numbers[one[0]], numbers[two[0]], one, two


def _gaps(
    conflicts: Conflicts, source: tuple[Statement, Placed], sink: tuple[Statement, Placed]
) -> list[int]:
    """How far a dependence reaches along each dimension; nothing if there is none."""
    (first, one), (second, two) = source, sink
    apart = [
        conflicts.distance(one, two, place, other)
        for place, other in zip(first.places, second.places, strict=True)
    ]
    if Meeting.NEVER in apart:
        return []
    gaps = [gap for gap in apart if isinstance(gap, int)]
    if len(gaps) < len(apart):
        raise IllegalStepError("a dependence has no constant distance")
    if first is second:
        leading = next((level for level, gap in enumerate(gaps) if gap < 0), len(gaps))
        if any(gap > 0 for gap in gaps[:leading]) and leading < len(gaps):
            raise IllegalStepError("a dependence inside a time step points backwards")
    return gaps


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


# -- the new loops ------------------------------------------------------------------------------


Range = tuple[str, str]
"""From where to where."""

Level = tuple[Loop | None, Polynomial, Polynomial, Range]
"""What runs along a dimension, where it starts and ends, and the tile's range."""


def _limited(editor: Editor, loop: Loop, levels: Sequence[Level], like: str) -> Loop:
    """A statement's loops within a tile.

    Args:
        loop: the outermost one of them.
        levels: what runs along each tiled dimension, dimensions with one place first.
        like: a variable of the type that new ones are to have.
    """
    if not levels:
        return loop
    (level, start, end, (left, right)), *rest = levels
    if level is None:
        point = editor.variable(f"{like}_point", like)
        once = largest([text(start), left]), smallest([text(end), right])
        placed = editor.new_loop(f"{editor.name_of(loop)}.point", point, *once)
        return with_children(placed, [_limited(editor, loop, rest, like)])
    if rest:
        (inner,) = band(loop)[1:2]
        loop = with_children(loop, [_limited(editor, inner, rest, like)])
    last = smallest([text(end), right])
    init = Expr(largest([str(loop.init), left]))
    return replace(loop, init=init, condition=Expr(f"({loop.variable} < {last})"))


def _extent(found: Sequence[Statement], skew: Skew, level: int, steps: int) -> Range:
    """From where to where the tiles along one dimension go."""
    lows, highs = [], []
    for statement, shift in zip(found, skew.shifts, strict=True):
        lows.append(expr.plus(statement.starts[level], {(): shift}))
        highs.append(expr.plus(statement.ends[level], {(): shift + skew.factor * (steps - 1)}))
    low = smallest(map(text, _outermost(lows, -1)))
    return low, largest(map(text, _outermost(highs, 1)))


def _outermost(bounds: Iterable[Polynomial], sign: int) -> list[Polynomial]:
    """The bounds without those that another one always exceeds in the direction of `sign`."""
    kept: list[Polynomial] = []
    for bound in bounds:
        gaps = [expr.plus(bound, other, -1) for other in kept]
        if any(not set(gap) - {()} and sign * gap.get((), 0) <= 0 for gap in gaps):
            continue
        kept = [
            other
            for other, gap in zip(kept, gaps, strict=True)
            if set(gap) - {()} or sign * gap.get((), 0) < 0
        ]
        kept.append(bound)
    return kept
