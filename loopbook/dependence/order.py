"""Whether a new order of statements keeps all dependences of the old one.

Two instances depend on each other if they touch the same element and one of them writes. An order
is kept if no two that depend on each other change places (Feautrier, IJPP 1992; the schedules of
the polyhedral model). The dependences of some siblings are worked out once, as isl's relations;
each new order is then one question about them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from loopbook.dependence.contradictions import excluded
from loopbook.dependence.engine import Column, Engine, question
from loopbook.dependence.instances import Instances, Key, Way, earlier, narrowed, pairs, placed
from loopbook.dependence.last import LastWrites
from loopbook.dependence.model import (
    Linear,
    Loop,
    Tile,
    Tree,
    is_guard,
    is_loop,
    is_statement,
    minus,
    plus,
    replaced,
    shifted,
    statements,
)
from loopbook.dependence.pieces import FIRST, SECOND, Piece, Place, marked
from loopbook.errors import DependenceError

if TYPE_CHECKING:
    import islpy

Values = Mapping[str, Linear | Tile]
"""Variable of a new loop to its value in terms of the old loops' variables."""

Moved = Mapping[Any, Values]
"""For each statement, where its new loops count otherwise than its old ones."""


def check_order(
    before: Sequence[Tree],
    after: Sequence[Tree],
    moved: Moved,
    around: Sequence[Loop],
    anew: Collection[str] | None = None,
) -> None:
    """Refuse unless running `after` in place of `before` keeps every dependence.

    Both must run the same instances of the same statement objects. Updates of an element by the
    same operator may change places.

    Args:
        before, after: siblings in the order in which they run.
        moved: what new variables stand for; those not named stand for themselves.
        around: the loops around, outermost first.
        anew: containers of which nothing is read but what stays together with who has written it
            (see `written_first`). If they are given, all that the loops' bounds say counts, and of
            what is written and not read only the last values have to stay.

    Raises:
        DependenceError: some dependence may be turned round, or the question is too large.
    """
    with question() as engine:
        found = dependences(engine, before, around, anew)
        container = found.turned(before, after, moved, atomic=True)
    if container:
        raise DependenceError(f"{container} carries a dependence against it")


def dependences(
    engine: Engine,
    trees: Sequence[Tree],
    around: Sequence[Loop],
    anew: Collection[str] | None = None,
) -> Dependences:
    """The dependences of some siblings, which are remembered."""
    which = None if anew is None else frozenset(anew)
    key = "dependences", tuple(map(_key, trees)), tuple(map(_header, around)), which
    return engine.remember(key, lambda: Dependences(engine, trees, around, which))


@dataclass(frozen=True, eq=False)
class Dependence:
    """Instances of which the second ones need the first ones to have run, if there are any: isl is
    asked only where that is not seen to be of no account.

    Attributes:
        one, two: the pieces that they are of.
        key: where both touch the same element.
        containers: what both touch.
        equal, less: the way in which the first ones come before the second ones.
        single: whether there is no other such way.
    """

    one: Piece
    two: Piece
    key: Key
    containers: frozenset[str]
    equal: Sequence[Linear]
    less: Sequence[Linear]
    single: bool

    @cached_property
    def equations(self) -> list[Linear]:
        """All that is 0 for both."""
        return [*map(dict, self.key), *self.equal]


Relation = tuple["islpy.BasicMap", Mapping[str, Column]]
"""From the first instances of a dependence to the second ones, and where symbols stand in it."""


class Dependences:
    """The dependences between the instances of some siblings, worked out when they are wanted."""

    def __init__(
        self,
        engine: Engine,
        trees: Sequence[Tree],
        around: Sequence[Loop],
        anew: Collection[str] | None = None,
    ) -> None:
        self._engine = engine
        self._instances = Instances(trees, around, anew=anew or ())
        self._last = None if anew is None else LastWrites(engine, self._instances)
        self._instances.name(form for piece in self._instances.pieces for form in piece.place)
        self._found: dict[tuple[Piece, Piece, Key, bool], list[Dependence]] = {}
        self._met: dict[tuple[Piece, Piece, Key], Relation | None] = {}
        self._relations: dict[Dependence, Relation | None] = {}

    def between(self, one: Piece, two: Piece, *, updates: bool = True) -> Iterator[Dependence]:
        """The dependences there may be of one piece's instances on another one's that ran before.

        Args:
            updates: those between updates of an element by the same operator, too.
        """
        ways = earlier(one.at(FIRST), two.at(SECOND))
        conflicts = self._instances.conflicts(one, two) if ways else {}
        wanted = {key: held for key, held in conflicts.items() if updates or not key[1]}
        if any((one, two, *key) not in self._found for key in wanted):
            for key, _ in wanted:
                self._instances.name(dict(row) for row in key)
        for (key, update), containers in wanted.items():
            known = one, two, key, update
            if known not in self._found:
                equations = [dict(row) for row in key]
                left = [way for way in ways if not excluded(equations, *way)]
                self._found[known] = [
                    Dependence(one, two, key, containers, *way, len(left) == 1) for way in left
                ]
            yield from self._found[known]

    def _relation(self, dependence: Dependence) -> Relation | None:
        """A dependence as isl has it; None if there are no such instances."""
        if dependence not in self._relations:
            self._relations[dependence] = self._related(dependence)
        return self._relations[dependence]

    def _related(self, dependence: Dependence) -> Relation | None:
        where = dependence.one, dependence.two, dependence.key
        if where not in self._met:
            equations = [dict(row) for row in dependence.key]
            met = self._instances.relation(self._engine, *where[:2], equations)
            columns = self._instances.columns(self._engine, *where[:2])
            none = not dependence.single and met.is_empty()
            self._met[where] = None if none else (met, columns)
        if (known := self._met[where]) is None:
            return None
        found = narrowed(self._engine, *known, dependence.equal, dependence.less)
        return None if found.is_empty() else (found, known[1])

    def turned(
        self, before: Sequence[Tree], after: Sequence[Tree], moved: Moved, *, atomic: bool
    ) -> str:
        """The container of a dependence that another order may turn round, or nothing.

        Args:
            before: the siblings, or others that are just like them.
            after: the same statements in their new order.
            moved: what new variables stand for.

        Raises:
            DependenceError: the value of a new variable is not known.
        """
        paths = {s: path for tree in after for s, path in statements(tree)}
        places = dict(placed(after))
        order = [s for tree in before for s, _ in statements(tree)]
        moves: dict[Piece, _Move] = {}
        for piece in self._instances.pieces:
            statement = order[piece.number]
            values = moved.get(statement, {})
            for loop in paths[statement]:
                if loop.variable not in values and not piece.knows(loop.variable):
                    raise DependenceError(f"it is not known what {loop.variable} stands for")
            moves[piece] = _Move.of(piece, places[statement], values)
        for one, two in pairs(self._instances):
            first, second = moves[one], moves[two]
            ways = earlier(second.at(SECOND), first.at(FIRST))
            for dependence in self.between(one, two, updates=not atomic) if ways else ():
                left = [
                    way for way in ways if not excluded(dependence.equations, *way, dependence.less)
                ]
                relation = self._relation(dependence) if left else None
                if relation is not None and any(
                    self._matters(dependence, relation, self._coming(relation, first, second, way))
                    for way in left
                ):
                    return min(dependence.containers)
        return ""

    def _matters(self, dependence: Dependence, relation: Relation, pairs: islpy.BasicMap) -> bool:
        """Whether there are such pairs of a dependence, and what the second ones write stays."""
        if self._last is None or pairs.is_empty():
            return not pairs.is_empty()
        two = dependence.two
        kinds, known = self._engine, relation[0].dim(self._engine.parameter)
        points = pairs.range()
        points = points.project_out(
            kinds.sink, len(two.dims), points.dim(kinds.sink) - len(two.dims)
        )
        points = points.project_out(kinds.parameter, known, points.dim(kinds.parameter) - known)
        return not all(
            self._last.overwritten(two, container, points) for container in dependence.containers
        )

    def _coming(self, known: Relation, first: _Move, second: _Move, way: Way) -> islpy.BasicMap:
        """The pairs of a dependence that come in a way."""
        engine, (relation, columns), (equal, less) = self._engine, known, way
        for move, mark, kind in ((first, FIRST, engine.source), (second, SECOND, engine.sink)):
            if move.tiles:
                start = relation.dim(kind)
                relation = relation.add_dims(kind, len(move.tiles))
                new = {f"{name}{mark}": (kind, start + n) for n, name in enumerate(move.tiles)}
                columns = {**columns, **new}
                less = [*less, *move.rows(mark)]
        unknown = {s for form in (*equal, *less) for s in form if s and s not in columns}
        if unknown:
            start = relation.dim(engine.parameter)
            relation = relation.add_dims(engine.parameter, len(unknown))
            columns = {
                **columns,
                **{s: (engine.parameter, start + n) for n, s in enumerate(sorted(unknown))},
            }
        return narrowed(engine, relation, columns, equal, less)


@dataclass(frozen=True)
class _Move:
    """Where the instances of a piece go.

    Attributes:
        dims: the piece's, and the tiles'.
        tiles: names for the numbers of the tiles that an instance lies in.
        inside: what is 0 or more because it lies in them.
        place: in time.
    """

    dims: tuple[str, ...]
    tiles: tuple[str, ...]
    inside: Sequence[Linear]
    place: Place

    @classmethod
    def of(cls, piece: Piece, place: Place, values: Values) -> _Move:
        tiles: list[str] = []
        inside: list[Linear] = []
        forms: dict[str, Linear] = {}
        for variable, value in values.items():
            if not isinstance(value, Tile):
                forms[variable] = replaced(value, piece.values)
                continue
            name = f"{variable}/"
            tiles.append(name)
            forms[variable] = {name: 1}
            offset = plus(replaced(value.form, piece.values), {name: 1}, -value.size)
            inside += [offset, shifted(minus({}, offset), value.size - 1)]
        known = {**piece.values, **forms}
        dims = (*piece.dims, *tiles)
        return cls(dims, tuple(tiles), inside, [replaced(form, known) for form in place])

    def at(self, mark: str) -> Place:
        return [marked(form, self.dims, mark) for form in self.place]

    def rows(self, mark: str) -> list[Linear]:
        return [marked(form, self.dims, mark) for form in self.inside]


def _key(tree: Tree) -> Hashable:
    """What two trees share that have the same dependences."""
    if is_loop(tree):
        return (*_header(tree), tuple(map(_key, tree.children)))
    if is_guard(tree):
        return "guard", tuple(map(_key, tree.children))
    return tuple((t, t.certain) for t in tree.touches) if is_statement(tree) else ()


def _header(loop: Loop) -> tuple[Hashable, ...]:
    return loop.variable, _rows(loop.lows), _rows(loop.highs), _rows(loop.rooms), loop.step


def _rows(forms: Sequence[Linear]) -> Hashable:
    return tuple(tuple(form.items()) for form in forms)
