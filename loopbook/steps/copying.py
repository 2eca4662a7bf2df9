"""Loops that copy between an array and a buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loopbook.dependence import Linear, domain
from loopbook.dependence.body import LoopNode, Statement, tiles, write_loop
from loopbook.dependence.linear import projected
from loopbook.dependence.model import plus, replaced, shifted
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program.dataflow import Block
from loopbook.program.expr import substitute
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Loop, Schedule
from loopbook.steps.region import Region

Place = tuple[str, tuple[str, ...]]
"""A container and where in it."""

Ends = tuple[list[Linear], list[Linear]]
"""Lower and upper bounds of a loop."""

Range = tuple[str, list[Linear], list[Linear]]
"""A loop's variable and its bounds."""


def copy_loops(
    region: Region,
    name: str,
    ranges: Sequence[Range],
    copy: Block,
    innermost: Schedule = SEQUENTIAL,
) -> Loop | Block:
    """Parallel loops around a copy, or the copy alone.

    Args:
        name: what recipes are to call the loops.
        ranges: of the loops, outermost first.
        innermost: the schedule of the innermost loop.
    """
    body: LoopNode | Statement = Statement([copy])
    for variable, lows, highs in reversed(ranges):
        schedule = innermost if isinstance(body, Statement) else SEQUENTIAL
        made = region.editor.new_loop(name, variable, "0", "0")
        made = replace(made, kind="map", schedule=schedule)
        body = LoopNode(made, variable, lows, highs, 1, [body])
    if isinstance(body, Statement):
        return copy
    region.tighten(body)
    return write_loop(body)


@dataclass(frozen=True)
class Tile:
    """Where a tile starts, and of how many iterations it is when it is complete."""

    start: Linear
    size: int


def tile_of(loop: LoopNode, path: Iterable[LoopNode]) -> Tile:
    """The tile that a loop runs through, which starts where no loop of a path has a say.

    Of a tile in tiles, the path may hold the loops over these: it is the outermost one then.

    Raises:
        IllegalStepError: there is none.
    """
    inside = {other.variable: other for other in path}
    lows = [start for low in loop.lows for start in _starts(low, inside)]
    for low, _, size in tiles(replace(loop, lows=lows)):
        return Tile(low, size)
    raise IllegalStepError(f"the loop over {loop.variable} runs through no tile of the scope")


def _starts(low: Linear, inside: Mapping[str, LoopNode]) -> Iterator[Linear]:
    """What a bound is never less than, in terms of nothing inside, as far as that is known."""
    name = next((name for name in low if name in inside), "")
    if not name:
        yield low
    elif low[name] > 0:
        for start in inside[name].lows:
            yield from _starts(replaced(low, {name: start}), inside)


@dataclass(frozen=True)
class Copying:
    """Loops that copy.

    Attributes:
        pair: the loops along which the array is used.
        ends: of the copying loops, in terms of the pair's variables.
    """

    region: Region
    pair: Sequence[LoopNode]
    ends: Sequence[Ends]

    def loops(self, name: str, source: Place, target: Place) -> Loop | Block:
        """``target = source`` for all that the pair of loops meets.

        Args:
            name: what recipes are to call the loops.
        """
        editor = self.region.editor
        new = {
            loop.variable: editor.variable(f"{loop.variable}_copy", loop.variable)
            for loop in self.pair
        }
        values = {old: {variable: 1} for old, variable in new.items()}
        ends = [
            (container, tuple(substitute(index, new) for index in subset))
            for container, subset in (source, target)
        ]
        ranges: list[Range] = [
            (variable, [replaced(e, values) for e in lows], [replaced(e, values) for e in highs])
            for variable, (lows, highs) in zip(new.values(), self.ends, strict=True)
        ]
        return copy_loops(self.region, name, ranges, editor.copy(*ends), VECTORISED)


def copied_ends(
    path: Sequence[LoopNode], pair: Sequence[LoopNode], tile: Tile, *, written: bool
) -> list[Ends]:
    """Bounds of the pair's loops, in order, that hold for all loops between.

    Where a loop between does not run at all, neither must the copying: what that depends on
    becomes a bound, too.

    Args:
        path: the loops from the outermost between to the inner one of the pair.
        tile: that the first of the pair runs through.
        written: whether the buffer is copied back.

    Raises:
        IllegalStepError: they would be not exact.
    """
    rows = domain(path)
    names = [loop.variable for loop in pair]
    between = [loop for loop in path if loop not in pair]
    for loop in between:
        if loop.step != 1 and not any(_covers(other, loop) for other in path):
            raise IllegalStepError(f"the loop over {loop.variable} leaves iterations out")
    if written:
        own = {loop.variable for loop in between}
        if any(not own.isdisjoint(bound) for loop in pair for bound in (*loop.lows, *loop.highs)):
            raise IllegalStepError("what is written differs from one iteration to the next")
    try:
        for loop in reversed(between):
            rows = projected(rows, loop.variable)
        inner = _solved(rows, names[1])
        rows = projected(rows, names[1])
        lows, highs = _solved(rows, names[0])
        for row in projected(rows, names[0]):
            if set(row) - {""}:
                guard = shifted({name: tile.size * f for name, f in row.items()}, tile.size)
                highs.append(plus(tile.start, guard))
        return [(lows, highs), inner]
    except SdfgError as error:
        raise IllegalStepError(str(error)) from None


def _covers(points: LoopNode, tiles: LoopNode) -> bool:
    """Whether `points` runs through the tiles of the loop `tiles`, without gaps."""
    start = {tiles.variable: 1}
    return start in points.lows and shifted(start, tiles.step) in points.highs


def _solved(rows: Iterable[Linear], name: str) -> Ends:
    """Inclusive lower and exclusive upper bounds of one variable."""
    lows: list[Linear] = []
    highs: list[Linear] = []
    for row in rows:
        factor = row.get(name, 0)
        rest = {other: value for other, value in row.items() if other != name}
        if abs(factor) > 1:
            raise IllegalStepError(f"{name} has a factor in a bound")
        if factor == 1:
            lows.append({other: -value for other, value in rest.items()})
        elif factor == -1:
            highs.append(shifted(rest, 1))
    return lows, highs
