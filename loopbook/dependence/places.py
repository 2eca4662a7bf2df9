"""Whether accesses of some loops touch the same elements."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product

from loopbook.dependence.contradictions import excluded
from loopbook.dependence.engine import Engine, question
from loopbook.dependence.instances import Instances, Key, Way, earlier, narrowed, pairs
from loopbook.dependence.model import Access, Linear, Loop, Statement, minus, shifted, statements
from loopbook.dependence.pieces import FIRST, SECOND, Piece, Use, marked
from loopbook.dependence.sets import empty
from loopbook.errors import DependenceError


@dataclass(eq=False)
class _Both:
    """A statement that touches something more."""

    touches: Sequence[Access]


def never_meet(statement: Statement, loops: Sequence[Loop], first: Access, second: Access) -> bool:
    """Whether two accesses touch different elements, whenever the statement runs.

    Args:
        loops: all loops around the statement, and around both accesses.
    """
    instances = Instances([_Both([*statement.touches, first, second])], loops)
    return all(
        (key := instances.meeting(piece.use(first), piece.use(second))) is None
        or empty([dict(row) for row in key], piece.outer)
        for piece in instances.pieces
    )


def keep_apart(
    scope: Loop,
    around: Sequence[Loop],
    container: str,
    one: tuple[str, ...],
    two: tuple[str, ...],
    *,
    at_once: bool = False,
) -> bool:
    """Whether two ways to index an array name different elements, within one run of a loop.

    Whichever iterations of the loop they are used in: the same one or two different ones.

    Args:
        around: the loops around `scope`.
        one, two: places as accesses have them.
        at_once: they may name the same element in the same iteration.
    """
    instances = Instances([scope], around)

    keys: set[tuple[Piece, Piece, Key]] = set()
    for first, second in pairs(instances):
        for x, y in product(_uses(first, container, one), _uses(second, container, two)):
            if (key := instances.meeting(x, y)) is not None:
                keys.add((first, second, key))
    try:
        with question() as engine:
            for first, second, key in keys:
                met = instances.relation(engine, first, second, [dict(row) for row in key])
                columns = instances.columns(engine, first, second)
                gap = _gap(first, second, scope.variable)
                other = [[shifted(gap, -1)], [shifted(minus({}, gap), -1)]]
                for way in other if at_once else [[]]:
                    if not narrowed(engine, met, columns, (), way).is_empty():
                        return False
    except DependenceError:
        return False
    return True


def read_before_written(
    loop: Loop, around: Sequence[Loop], container: str, place: tuple[str, ...]
) -> bool:
    """Whether nothing inside of `loop` writes an element before it is read at this place.

    Args:
        place: of the reads, as accesses have it.
    """
    instances = Instances([loop], around)
    keys: dict[tuple[Piece, Piece, Key], list[Way]] = {}
    for writer, reader in pairs(instances):
        written = [use for use in writer.uses.get(container, ()) if use.access.write]
        read = [use for use in _uses(reader, container, place) if not use.access.write]
        if not written or not read:
            continue
        ways = earlier(writer.at(FIRST), reader.at(SECOND))
        if writer is reader:  # in the same instance
            ways.append(
                ([minus({f"{n}{SECOND}": 1}, {f"{n}{FIRST}": 1}) for n in writer.counted], [])
            )
        for x, y in product(written, read):
            if ways and (key := instances.meeting(x, y)) is not None:
                keys[writer, reader, key] = ways
    instances.name(form for piece in instances.pieces for form in piece.place)
    try:
        with question() as engine:
            for (writer, reader, key), ways in keys.items():
                met = instances.relation(engine, writer, reader, [dict(row) for row in key])
                columns = instances.columns(engine, writer, reader)
                if any(not narrowed(engine, met, columns, *way).is_empty() for way in ways):
                    return False
    except DependenceError:
        return False
    return True


def _uses(piece: Piece, container: str, place: tuple[str, ...]) -> list[Use]:
    return [use for use in piece.uses.get(container, ()) if use.access.place == place]


def carries_nothing(loop: Loop, around: Sequence[Loop]) -> bool:
    """Whether the iterations of `loop` may run in any order, or at once."""
    instances = Instances([loop], around)
    try:
        with question() as engine:
            return not _carried(engine, instances, instances.pieces, (), loop.variable)
    except DependenceError:
        return False


def suspects(tree: Loop, asked: Sequence[Loop], changing: Collection[str]) -> list[Loop]:
    """The loops of which two iterations may touch one element, one of them writing, as far as a
    rough look tells: only indices that two accesses share show that they touch other elements.

    Args:
        asked: `tree` or loops inside of it.
        changing: what is written inside besides what the accesses write.
    """
    instances = Instances([tree], (), changing, roughly=True)
    paths = [path for _, path in statements(tree)]
    found: list[Loop] = []
    for loop in asked:
        inside = [piece for piece in instances.pieces if loop in paths[piece.number]]
        path = paths[inside[0].number] if inside else ()
        outer = [other.variable for other in path[: path.index(loop)]] if inside else ()
        try:
            with question() as engine:
                if _carried(engine, instances, inside, outer, loop.variable):
                    found.append(loop)
        except DependenceError:
            found.append(loop)
    return found


def _carried(
    engine: Engine,
    instances: Instances,
    pieces: Sequence[Piece],
    outer: Sequence[str],
    variable: str,
) -> bool:
    """Whether an iteration of a loop may touch what a later one does, one of them writing.

    Args:
        pieces: of what the loop holds.
        outer: variables of loops around it that are not the same for all instances anyway.
    """
    for one, two in product(pieces, pieces):
        later = [shifted(_gap(one, two, variable), -1)]
        for key in dict.fromkeys(key for key, _ in instances.conflicts(one, two)):
            rows: list[Linear] = [dict(row) for row in key]
            rows += [_gap(one, two, name) for name in outer]
            if excluded(rows, (), later):
                continue
            met = instances.relation(engine, one, two, rows)
            columns = instances.columns(engine, one, two)
            if not narrowed(engine, met, columns, (), later).is_empty():
                return True
    return False


def _gap(one: Piece, two: Piece, variable: str) -> Linear:
    """How much greater a loop's variable is in the second one of two instances."""
    return minus(
        marked(two.value(variable), two.dims, SECOND),
        marked(one.value(variable), one.dims, FIRST),
    )
