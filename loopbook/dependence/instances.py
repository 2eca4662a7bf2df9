"""The instances of statements: for which values of the loops' variables each runs, in which order,
and where two of them touch the same element.

An instance is a point: the values of the variables of the loops around its statement. Its place in
time is a vector of forms that are compared like words: its number among its siblings and the value
of the loop's variable, from the outermost loop in (Feautrier, IJPP 1992). Two instances that are
looked at together have their variables marked, to be told apart; variables of loops around the
whole are the same for both, and so are parameters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from loopbook.dependence import subscripts
from loopbook.dependence.engine import Column, Engine
from loopbook.dependence.model import (
    Access,
    Linear,
    Loop,
    Monomial,
    Statement,
    Tree,
    domain,
    is_guard,
    is_loop,
    is_statement,
    mentions,
    minus,
    replaced,
    shifted,
    statements,
)
from loopbook.dependence.pieces import (
    FIRST,
    SECOND,
    Piece,
    Place,
    Use,
    marked,
    says_all,
    shapes,
)
from loopbook.program.extent_names import NAME

if TYPE_CHECKING:
    import islpy

Way = tuple[list[Linear], list[Linear]]
"""Equations and inequalities of one of the ways in which an instance comes before another one."""

SIDES = 1024
"""Pieces of which a thread keeps the instances: a step leaves most as they are."""

Key = frozenset[frozenset[tuple[str, int]]]
"""Equations, as what dictionaries can have for keys."""

Conflicts = dict[tuple[Key, bool], frozenset[str]]
"""Where two instances touch the same element, and whether updates by the same operator are all that
touches it, to the containers."""


class Instances:
    """All instances of the statements of some siblings.

    Args:
        trees: siblings in the order in which they run.
        around: the loops around, outermost first.
        changing: what is written besides what the statements write.
        roughly: whether to look neither at the loops' bounds nor at indices in which two accesses
            differ. All indices are taken to stay in their rows then.
        anew: containers of which reads do not count, since what they read has been written by who
            reads; what updates them is a write like any other then.
    """

    def __init__(
        self,
        trees: Sequence[Tree],
        around: Sequence[Loop],
        changing: Collection[str] = (),
        *,
        roughly: bool = False,
        anew: Collection[str] = (),
    ) -> None:
        self._roughly = roughly
        self.anew = frozenset(anew)
        found = [entry for tree in trees for entry in statements(tree)]
        written = {t.container for statement, _ in found for t in statement.touches if t.write}
        written.update(changing)
        inner = {loop.variable for _, path in found for loop in path}
        self._variables = frozenset(inner | written | {loop.variable for loop in around})
        outer = [row for row in domain(around) if not (roughly or mentions(row, written))]
        places = dict(placed(trees))
        self.pieces: list[Piece] = []
        for number, (statement, path) in enumerate(found):
            foreign = (written | inner) - {loop.variable for loop in path}
            accesses = list(dict.fromkeys(statement.touches))
            free = tuple(dict.fromkeys(s for a in accesses for s in _symbols(a) if s in foreign))
            for counted, rows, values in shapes(path, foreign, roughly=roughly):
                place: Place = [replaced(form, values) for form in places[statement]]
                exact = not (roughly or free) and says_all(path, foreign, values)
                piece = Piece(number, counted, free, outer, rows, values, place, exact)
                for access in accesses:
                    if access.container in self.anew and not access.write:
                        continue
                    piece.uses.setdefault(access.container, []).append(Use(piece, access))
                self.pieces.append(piece)
        self._conflicts: dict[tuple[Piece, Piece], Conflicts] = {}
        self._along: dict[tuple[str, int, int], frozenset[Monomial] | None] = {}
        self._sides: dict[tuple[Piece, str, int], islpy.BasicSet] = {}
        self._bases: dict[tuple[Piece, Piece, int], tuple[islpy.BasicMap, dict[str, Column]]] = {}
        self._parameters: dict[str, int] = {}
        dims = {name for piece in self.pieces for name in piece.dims}
        self._dims = dims.union(f"{name}{mark}" for name in dims for mark in (FIRST, SECOND))
        self.name(row for piece in self.pieces for row in (*piece.outer, *piece.rows))

    # -- where ----------------------------------------------------------------------------------

    def conflicts(self, one: Piece, two: Piece) -> Conflicts:
        """Where two instances touch the same element, one of them writing.

        Returns:
            Equations in terms of the marked instances.
        """
        if (one, two) in self._conflicts:
            return self._conflicts[one, two]
        found = self._conflicts[one, two] = {}
        for container in one.uses.keys() & two.uses.keys():
            for x, y in product(one.uses[container], two.uses[container]):
                if (x.access.write or y.access.write) and (key := self.meeting(x, y)) is not None:
                    update = bool(x.access.update) and x.access.update == y.access.update
                    where = key, update and container not in self.anew
                    found[where] = found.get(where, frozenset[str]()) | {container}
        return found

    def meeting(self, x: Use, y: Use) -> Key | None:
        """Equations, in terms of two marked instances, that hold if they touch the same element.

        Returns:
            None if they never do. No equations if nothing is known.
        """
        equations: set[frozenset[tuple[str, int]]] = set()
        left, right = x.access.indices, y.access.indices
        if len(left) == len(right):
            for dimension in range(len(left)):
                for form in self._gaps(x, y, dimension) or ():
                    if form.keys() == {""}:
                        return None
                    if form:
                        equations.add(frozenset(form.items()))
        return frozenset(equations)

    def surely_meet(self, x: Use, y: Use) -> bool:
        """Whether two accesses touch the same element of an array where `meeting` says so."""
        left, right = x.access.indices, y.access.indices
        return (
            not self._roughly
            and 0 < len(left) == len(right)
            and all(self._gaps(x, y, dimension) is not None for dimension in range(len(left)))
        )

    def _gaps(self, x: Use, y: Use, dimension: int) -> list[Linear] | None:
        """What is 0 just where two marked instances have the same index in a dimension; nothing if
        that is not known."""
        along = self._strides(x, y, dimension)
        first = self._apart(x, dimension, along, FIRST)
        second = self._apart(y, dimension, along, SECOND)
        if first is None or second is None:
            return None if self._roughly else self._gap(x, y, dimension)
        return [
            minus(first[stride], second[stride])
            for stride in along
            if not self._roughly or self._alike(x, y, dimension, along, stride)
        ]

    def _gap(self, x: Use, y: Use, dimension: int) -> list[Linear] | None:
        """`_gaps` of indices that may leave their rows, and differ along one stride only."""
        left, right = x.access.indices[dimension], y.access.indices[dimension]
        if left is None or right is None:
            return None
        along = subscripts.strides((left, right), self._variables)
        first = subscripts.apart(left, along, self._variables, None, x.piece.values)
        second = subscripts.apart(right, along, self._variables, None, y.piece.values)
        if first is None or second is None:
            return None
        found: list[Linear] = []
        for stride in along:
            form = minus(
                marked(first[stride], x.piece.dims, FIRST),
                marked(second[stride], y.piece.dims, SECOND),
            )
            if form and not all(map(NAME.fullmatch, stride)):
                return None  # only extents are not 0 where an array has an element
            if form:
                found.append(form)
        return found if len(found) < 2 else None

    def _strides(self, x: Use, y: Use, dimension: int) -> frozenset[Monomial]:
        """The strides of all accesses to an array, if all can be taken apart along them; otherwise
        those of two."""
        container, rank = x.access.container, len(x.access.indices)
        key = container, rank, dimension
        if key not in self._along:
            uses = [
                use
                for piece in self.pieces
                for use in piece.uses.get(container, ())
                if len(use.access.indices) == rank and use.access.indices[dimension] is not None
            ]
            self._along[key] = None
            for taken in (subscripts.strides, subscripts.strides_with_sums):
                along = taken(
                    [use.access.indices[dimension] or {} for use in uses], self._variables
                )
                if all(self._apart(use, dimension, along, FIRST) is not None for use in uses):
                    self._along[key] = along
                    break
        found = self._along[key]
        if found is None:
            both = (use.access.indices[dimension] or {} for use in (x, y))
            return subscripts.strides(both, self._variables)
        return found

    def _apart(
        self, use: Use, dimension: int, along: frozenset[Monomial], mark: str
    ) -> subscripts.Parts | None:
        key = dimension, along, mark
        if key not in use.parts:
            piece, index = use.piece, use.access.indices[dimension]
            found = None
            if index is not None:
                rows = None if self._roughly else [*piece.outer, *piece.rows, *_extents(along)]
                found = subscripts.apart(index, along, self._variables, rows, piece.values)
            for sign in ("", FIRST, SECOND):
                use.parts[dimension, along, sign] = found and {
                    stride: marked(form, piece.dims, sign) for stride, form in found.items()
                }
        return use.parts[key]

    def _alike(
        self, x: Use, y: Use, dimension: int, along: frozenset[Monomial], stride: Monomial
    ) -> bool:
        """Whether two accesses have the same index along a stride."""
        left, right = (self._apart(use, dimension, along, "") for use in (x, y))
        return left is not None and right is not None and left[stride] == right[stride]

    # -- as isl's relations ---------------------------------------------------------------------

    def name(self, forms: Iterable[Linear]) -> None:
        """Take note of the parameters in forms that are used soon.

        A relation has those that were known when it was made.
        """
        for form in forms:
            for symbol in form:
                if symbol and symbol not in self._dims:
                    self._parameters.setdefault(symbol, len(self._parameters))

    def columns(self, engine: Engine, one: Piece, two: Piece) -> dict[str, Column]:
        """Where the symbols of two marked instances stand in a relation between them."""
        return self._base(engine, one, two)[1]

    def relation(
        self, engine: Engine, one: Piece, two: Piece, equations: Iterable[Linear]
    ) -> islpy.BasicMap:
        """All pairs of instances that satisfy equations."""
        equations = list(equations)
        self.name(equations)
        base, columns = self._base(engine, one, two)
        return narrowed(engine, base, columns, equations, ())

    def points(self, engine: Engine, piece: Piece) -> islpy.BasicSet:
        """All instances of a piece."""
        return self._side(engine, piece, FIRST)

    def _base(
        self, engine: Engine, one: Piece, two: Piece
    ) -> tuple[islpy.BasicMap, dict[str, Column]]:
        key = one, two, len(self._parameters)
        if key not in self._bases:
            sides = self._side(engine, one, FIRST), self._side(engine, two, SECOND)
            base = engine.isl.BasicMap.from_domain_and_range(*sides)
            columns = one.columns(FIRST, engine.source) | two.columns(SECOND, engine.sink)
            self._bases[key] = base, self._shared(engine) | columns
        return self._bases[key]

    def _side(self, engine: Engine, piece: Piece, mark: str) -> islpy.BasicSet:
        """The instances of a piece; as the first of two, with what holds for both."""
        key = piece, mark, len(self._parameters)
        if key not in self._sides:
            space = engine.isl.Space.set_alloc(
                engine.context, len(self._parameters), len(piece.dims)
            )
            rows = [*piece.outer, *piece.rows] if mark == FIRST else piece.rows
            columns = self._shared(engine) | piece.columns("", engine.sink)
            asked = tuple(self._parameters), piece.dims, frozenset(map(_frozen, rows))
            if (known := engine.sides.get(asked)) is None:
                if len(engine.sides) >= SIDES:
                    engine.sides.clear()
                known = engine.sides[asked] = engine.points(space, columns, rows)
            self._sides[key] = known
        return self._sides[key]

    def _shared(self, engine: Engine) -> dict[str, Column]:
        return {name: (engine.parameter, place) for name, place in self._parameters.items()}


def _frozen(form: Linear) -> frozenset[tuple[str, int]]:
    return frozenset(form.items())


def narrowed(
    engine: Engine,
    relation: islpy.BasicMap,
    columns: Mapping[str, Column],
    equations: Iterable[Linear],
    inequalities: Iterable[Linear],
) -> islpy.BasicMap:
    """The pairs of a relation that satisfy some more."""
    local = engine.isl.LocalSpace.from_space(relation.get_space())
    for form in equations:
        relation = relation.add_constraint(engine.constraint(local, columns, form, equation=True))
    for form in inequalities:
        relation = relation.add_constraint(engine.constraint(local, columns, form))
    return relation


def placed(trees: Sequence[Tree], at: Sequence[Linear] = ()) -> Iterator[tuple[Statement, Place]]:
    """Each statement with its place in time, that of the siblings themselves before it."""
    for number, tree in enumerate(trees):
        here: Place = [*at, {"": number} if number else {}]
        if is_loop(tree):
            yield from placed(tree.children, [*here, {tree.variable: 1}])
        elif is_guard(tree):
            yield from placed(tree.children, here)
        elif is_statement(tree):
            yield tree, here


def earlier(one: Place, two: Place) -> list[Way]:
    """The ways in which one place comes before another one."""
    ways: list[Way] = []
    equal: list[Linear] = []
    for a, b in zip(one, two, strict=False):
        gap = minus(b, a)
        if set(gap) <= {""}:
            if gap.get("", 0) > 0:
                ways.append((list(equal), []))
            if gap:
                break
            continue
        ways.append((list(equal), [shifted(gap, -1)]))
        equal.append(gap)
    return ways


def _symbols(access: Access) -> Iterator[str]:
    for index in access.indices:
        for monomial in index or ():
            yield from monomial


def pairs(instances: Instances) -> Iterator[tuple[Piece, Piece]]:
    """Every two pieces, in both orders, and each with itself."""
    return product(instances.pieces, instances.pieces)


@lru_cache(maxsize=4096)
def _extents(along: frozenset[Monomial]) -> Sequence[Linear]:
    """What is 0 or more of strides where an array has an element, so that no extent is 0."""
    extents = filter(NAME.fullmatch, {symbol for stride in along for symbol in stride})
    return [{symbol: 1, "": -1} for symbol in sorted(extents)]
