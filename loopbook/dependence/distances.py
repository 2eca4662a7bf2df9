"""How far apart two iterations are that touch the same element.

A distance is looked for between the values of one variable each, whatever the other loops do.
(Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, chapter 3.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from loopbook.dependence.engine import Column, Engine, question
from loopbook.dependence.instances import Instances, narrowed
from loopbook.dependence.model import (
    Access,
    Linear,
    Loop,
    Statement,
    Tree,
    minus,
    plus,
    statements,
)
from loopbook.dependence.pieces import FIRST, SECOND, Piece, marked
from loopbook.errors import DependenceError

if TYPE_CHECKING:
    import islpy


class Meeting(Enum):
    """What two accesses say of the distance between iterations that touch the same element."""

    ANY = "any distance"
    NEVER = "they never meet"


Located = tuple[Statement, Access, "str | Linear"]
"""A statement, an access of it, and the variable of one of its loops; or the place of a statement
that always runs at one, in terms of what no loop changes."""


class Distances:
    """Distances between instances of the statements of some siblings.

    Args:
        trees: the siblings.
        around: the loops around; two instances are in the same iteration of these.
    """

    def __init__(self, trees: Sequence[Tree], around: Sequence[Loop]) -> None:
        self._instances = Instances(trees, around)
        order = [s for tree in trees for s, _ in statements(tree)]
        self._pieces: dict[Statement, list[Piece]] = {s: [] for s in order}
        for piece in self._instances.pieces:
            self._pieces[order[piece.number]].append(piece)

    def between(
        self,
        first: Located,
        second: Located,
    ) -> int | Meeting:
        """``other - place`` wherever two accesses touch the same element, if that is one number.

        Args:
            first, second: where to count from, and where to.
        """
        try:
            with question() as engine:
                found = set(self._found(engine, first, second))
        except DependenceError:
            return Meeting.ANY
        if not found:
            return Meeting.NEVER
        return found.pop() if len(found) == 1 else Meeting.ANY

    def _found(
        self,
        engine: Engine,
        first: Located,
        second: Located,
    ) -> Iterator[int | Meeting]:
        (one, x, place), (two, y, other) = first, second
        for p in self._pieces[one]:
            for q in self._pieces[two]:
                if (key := self._instances.meeting(p.use(x), q.use(y))) is None:
                    continue
                equations = [dict(row) for row in key]
                relation = self._instances.relation(engine, p, q, equations)
                if not relation.is_empty():
                    columns = self._instances.columns(engine, p, q)
                    gap = minus(_value(q, other, SECOND), _value(p, place, FIRST))
                    known = constant(gap, equations)
                    yield _single(engine, relation, columns, gap) if known is None else known


def _value(piece: Piece, place: str | Linear, mark: str) -> Linear:
    return marked(piece.value(place), piece.dims, mark) if isinstance(place, str) else place


def constant(form: Linear, equations: Sequence[Linear]) -> int | None:
    """The value of a form where some others are 0, if one of these shows it by itself."""
    for equation in ({}, *equations):
        for sign in (1, -1):
            rest = plus(form, equation, sign)
            if rest.keys() <= {""}:
                return rest.get("", 0)
    return None


def _single(
    engine: Engine, relation: islpy.BasicMap, columns: Mapping[str, Column], gap: Linear
) -> int | Meeting:
    """The value that a form has everywhere, if that is one number."""
    place = relation.dim(engine.sink)
    relation = relation.add_dims(engine.sink, 1)
    columns = {**columns, "gap": (engine.sink, place)}
    values = narrowed(engine, relation, columns, [minus(gap, {"gap": 1})], ()).range().to_set()
    least = values.dim_min_val(place)
    if not least.is_int() or not values.dim_max_val(place).eq(least):
        return Meeting.ANY
    return least.to_python()
