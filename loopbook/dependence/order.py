"""Whether a new order of statements keeps all dependences of the old one.

Two instances depend on each other if they touch the same element and one of them writes. An order
is kept if no two that depend on each other change places (Feautrier, IJPP 1992; the schedules of
the polyhedral model). The dependences of some siblings are worked out once, as isl's relations;
each new order is then one question about them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loopbook.dependence.engine import Column, Engine, question
from loopbook.dependence.instances import (
    Instances,
    Key,
    Way,
    earlier,
    excluded,
    narrowed,
    pairs,
    placed,
)
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
    """Instances of which the second ones need the first ones to have run.

    Attributes:
        containers: what both touch.
        update: whether both are updates of an element by the same operator, in any order.
        relation: from the first ones to the second ones.
        equations: that hold in it.
    """

    containers: frozenset[str]
    update: bool
    relation: islpy.BasicMap
    columns: Mapping[str, Column]
    equations: Sequence[Linear]


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

    def between(self, one: Piece, two: Piece, *, updates: bool = True) -> Iterator[Dependence]:
        """The dependences of one piece's instances on another one's that ran before.

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
                self._found[known] = list(self._related(one, two, key, ways, containers, update))
            yield from self._found[known]

    def _related(
        self,
        one: Piece,
        two: Piece,
        key: Key,
        ways: Sequence[Way],
        containers: frozenset[str],
        update: bool,
    ) -> Iterator[Dependence]:
        equations = [dict(row) for row in key]
        ways = [way for way in ways if not excluded(equations, *way)]
        if not ways:
            return
        met = self._instances.relation(self._engine, one, two, equations)
        if len(ways) > 1 and met.is_empty():
            return
        columns = self._instances.columns(self._engine, one, two)
        for equal, less in ways:
            relation = narrowed(self._engine, met, columns, equal, less)
            if not relation.is_empty():
                yield Dependence(containers, update, relation, columns, [*equations, *equal])

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
                if any(
                    self._matters(dependence, two, self._coming(dependence, first, second, way))
                    for way in ways
                    if not excluded(dependence.equations, *way)
                ):
                    return min(dependence.containers)
        return ""

    def _matters(self, dependence: Dependence, two: Piece, pairs: islpy.BasicMap) -> bool:
        """Whether there are such pairs of a dependence, and what the second ones write stays."""
        if self._last is None or pairs.is_empty():
            return not pairs.is_empty()
        kinds, known = self._engine, dependence.relation.dim(self._engine.parameter)
        points = pairs.range()
        points = points.project_out(
            kinds.sink, len(two.dims), points.dim(kinds.sink) - len(two.dims)
        )
        points = points.project_out(kinds.parameter, known, points.dim(kinds.parameter) - known)
        return not all(
            self._last.overwritten(two, container, points) for container in dependence.containers
        )

    def _coming(
        self, dependence: Dependence, first: _Move, second: _Move, way: Way
    ) -> islpy.BasicMap:
        """The pairs of a dependence that come in a way."""
        engine, relation, columns = self._engine, dependence.relation, dependence.columns
        equal, less = way
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
