"""Which writes are the last ones, and what has been written before it is read.

Of an element that nothing reads, only the last write has to stay the last one: Feautrier's dataflow
analysis ("Dataflow analysis of array and scalar references", IJPP 20(1), 1991) for the case that is
asked for here. What is taken to have been written must surely have been: only writes that are
certain count, of statements that run just for the points that the loops' bounds say.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from loopbook.dependence.engine import Engine, question
from loopbook.dependence.instances import Instances, earlier, narrowed
from loopbook.dependence.model import Loop, Tree
from loopbook.dependence.pieces import FIRST, SECOND, Piece, Use
from loopbook.errors import DependenceError

if TYPE_CHECKING:
    import islpy


class LastWrites:
    """Whether what instances write is written once more afterwards."""

    def __init__(self, engine: Engine, instances: Instances) -> None:
        self._engine = engine
        self._instances = instances
        uses = [use for piece in instances.pieces for own in piece.uses.values() for use in own]
        self._needed = {
            use.access.container
            for use in uses
            if not use.access.write
            or not use.access.indices
            or (use.access.update and use.access.container not in instances.anew)
        }
        self._again: dict[tuple[Piece, str], islpy.Set] = {}

    def overwritten(self, piece: Piece, container: str, points: islpy.BasicSet) -> bool:
        """Whether nothing reads a container, and others write after each of some instances what
        these write of it.

        Args:
            points: the instances of `piece`, with the instances' parameters or the first of them.
        """
        uses = piece.uses.get(container, ())
        if container in self._needed or len(uses) != 1:
            return False
        if (piece, container) not in self._again:
            pieces = self._instances.pieces
            others = (use for one in pieces for use in one.uses.get(container, ()))
            found = _stored_behind(self._engine, self._instances, uses[0], others)
            self._again[piece, container] = found
        return _subset(self._engine, points, self._again[piece, container])


def written_first(trees: Sequence[Tree], around: Sequence[Loop], container: str) -> bool:
    """Whether all that some siblings read of an array they have surely written before.

    Args:
        around: the loops around, outermost first: each of their iterations writes anew.
    """
    instances = Instances(trees, around)
    instances.name(form for piece in instances.pieces for form in piece.place)
    try:
        with question() as engine:
            uses = [use for piece in instances.pieces for use in piece.uses.get(container, ())]
            return all(
                use.access.write or _is_written(engine, instances, use, uses) for use in uses
            )
    except DependenceError:
        return False


def stored_anew(
    trees: Sequence[Tree], around: Sequence[Loop], container: str, changing: Collection[str] = ()
) -> bool:
    """Whether the siblings behind the first one surely store all that it stores into an array, and
    read nothing of it that they have not stored.

    Args:
        around: the loops around, outermost first.
        changing: what is written besides what the siblings write.
    """
    instances = Instances(trees, around, changing)
    instances.name(form for piece in instances.pieces for form in piece.place)
    first, behind = [], []
    for piece in instances.pieces:
        uses = piece.uses.get(container, [])
        (behind if piece.place[0] else first).extend(uses)
    if not all(use.access.write and use.access.indices for use in first):
        return False
    try:
        with question() as engine:
            return all(
                use.access.write or _is_written(engine, instances, use, behind) for use in behind
            ) and all(_is_stored(engine, instances, use, behind) for use in first)
    except DependenceError:
        return False


def _is_stored(engine: Engine, instances: Instances, use: Use, others: Iterable[Use]) -> bool:
    """Whether others of some accesses, behind each instance of a write, write what it writes."""
    points = instances.points(engine, use.piece)
    return _subset(engine, points, _stored_behind(engine, instances, use, others))


def _stored_behind(
    engine: Engine, instances: Instances, use: Use, others: Iterable[Use]
) -> islpy.Set:
    """The instances of a write behind which one of some others surely writes the same element."""
    found = (
        met.domain()
        for other in others
        for met in _followed(engine, instances, use, other, certain=other)
    )
    return _union(engine, instances.points(engine, use.piece), found)


def _is_written(engine: Engine, instances: Instances, read: Use, others: Iterable[Use]) -> bool:
    """Whether each instance of a read comes after one of some others, that writes what it reads."""
    points = instances.points(engine, read.piece)
    found = (
        met.range()
        for write in others
        for met in _followed(engine, instances, write, read, certain=write)
    )
    return _subset(engine, points, _union(engine, points, found))


def _followed(
    engine: Engine, instances: Instances, one: Use, two: Use, *, certain: Use
) -> Iterator[islpy.BasicMap]:
    """The instances of one access that instances of another one follow, on the same element.

    Args:
        certain: which of them has to be a write that surely happens; if not, there are none.
    """
    surely = certain.access.write and certain.access.certain and certain.piece.exact
    ways = earlier(one.piece.at(FIRST), two.piece.at(SECOND))
    key = instances.meeting(one, two) if surely and ways else None
    if key is None or not instances.surely_meet(one, two):
        return
    met = instances.relation(engine, one.piece, two.piece, [dict(row) for row in key])
    columns = instances.columns(engine, one.piece, two.piece)
    for equal, less in ways:
        yield narrowed(engine, met, columns, equal, less)


def _union(engine: Engine, points: islpy.BasicSet, parts: Iterable[islpy.BasicSet]) -> islpy.Set:
    """All of some sets in the space of some points."""
    found = points.to_set().subtract(points.to_set())
    for part in parts:
        first, second = _aligned(engine, found, part.to_set())
        found = first.union(second)
    return found


def _subset(engine: Engine, one: islpy.BasicSet, two: islpy.Set) -> bool:
    first, second = _aligned(engine, one.to_set(), two)
    return first.is_subset(second)


def _aligned(engine: Engine, one: islpy.Set, two: islpy.Set) -> tuple[islpy.Set, islpy.Set]:
    """Both with as many parameters: the sets know the first ones of the same list."""
    more = two.dim(engine.parameter) - one.dim(engine.parameter)
    if more > 0:
        return one.add_dims(engine.parameter, more), two
    return one, two.add_dims(engine.parameter, -more)
