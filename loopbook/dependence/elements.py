"""Which elements of an array accesses touch: Presburger sets, compared as such."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING

from loopbook.dependence.engine import Column, Engine, question
from loopbook.dependence.model import Access, Linear, Loop, Monomial, minus
from loopbook.dependence.pieces import shapes
from loopbook.dependence.subscripts import apart, rows_apart, strides
from loopbook.errors import DependenceError

if TYPE_CHECKING:
    import islpy

Use = tuple[Sequence[Loop], Access]
"""An access and all the loops around it, outermost first."""


def covered(uses: Iterable[Use], others: Iterable[Use]) -> bool:
    """Whether each element of an array that some accesses touch is touched by others, too.

    Symbols that are no loop's variable are taken to have one value for all of them. An index that
    is not known may be any. What is too large a question counts as not covered.
    """
    asked, known = list(uses), list(others)
    along = _strides([*asked, *known])
    if along is None:
        return not asked
    ours, theirs = ([list(_pieces(use, along)) for use in some] for some in (asked, known))
    if not all((*ours, *theirs)):
        return False
    wanted, given = ([piece for pieces in some for piece in pieces] for some in (ours, theirs))
    names = {s: None for piece in (*wanted, *given) for s in piece.symbols}
    parameters = {name: place for place, name in enumerate(names)}
    try:
        with question() as engine:
            all_given: islpy.Set | None = None
            for piece in given:
                for elements in piece.elements(engine, parameters):
                    all_given = elements if all_given is None else all_given.union(elements)
            return all_given is not None and all(
                any(
                    elements.is_subset(all_given) for elements in piece.elements(engine, parameters)
                )
                for piece in wanted
            )
    except DependenceError:
        return False


@dataclass(frozen=True)
class _Piece:
    """Where an access is, for all points that satisfy the rows.

    Attributes:
        places: ways to say it, each an index along each stride.
    """

    dims: tuple[str, ...]
    rows: Sequence[Linear]
    places: Sequence[Sequence[Linear]]

    @property
    def symbols(self) -> Iterator[str]:
        """The parameters."""
        for form in (*self.rows, *(form for place in self.places for form in place)):
            yield from (symbol for symbol in form if symbol and symbol not in self.dims)

    def elements(self, engine: Engine, parameters: Mapping[str, int]) -> Iterator[islpy.Set]:
        """The indices as points, for each way to say it."""
        rank = len(self.places[0])
        space = engine.isl.Space.set_alloc(engine.context, len(parameters), rank + len(self.dims))
        columns: dict[str, Column] = {n: (engine.parameter, i) for n, i in parameters.items()}
        columns |= {name: (engine.sink, rank + i) for i, name in enumerate(self.dims)}
        columns |= {f"'{i}": (engine.sink, i) for i in range(rank)}
        domain = engine.points(space, columns, self.rows)
        local = engine.isl.LocalSpace.from_space(space)
        for place in self.places:
            points = domain
            for number, form in enumerate(place):
                equal = minus({f"'{number}": 1}, form)
                row = engine.constraint(local, columns, equal, equation=True)
                points = points.add_constraint(row)
            yield points.project_out(engine.sink, rank, len(self.dims)).to_set()


Along = list[frozenset[Monomial]]


def _strides(uses: Sequence[Use]) -> Along | None:
    """The strides of all accesses in each dimension; nothing if an index is not known."""
    ranks = {len(access.indices) for _, access in uses}
    if len(ranks) != 1 or any(index is None for _, a in uses for index in a.indices):
        return None
    along: Along = []
    for dimension in range(ranks.pop()):
        found: frozenset[Monomial] = frozenset()
        for loops, access in uses:
            variables = {loop.variable for loop in loops}
            found |= strides([access.indices[dimension] or {}], variables)
        along.append(found)
    return along


def _pieces(use: Use, along: Along) -> Iterator[_Piece]:
    """The pieces that an access falls into; none if it cannot be taken apart."""
    loops, access = use
    variables = {loop.variable for loop in loops}
    for dims, rows, values in shapes(loops, set(), roughly=False):
        ways: list[list[list[Linear]]] = []
        for index, steps in zip(access.indices, along, strict=True):
            parts = apart(index or {}, steps, variables, rows, values)
            if parts is not None:
                found = [parts]
            else:  # the bounds do not show that it stays in its row: it may seem to be in others
                parts = apart(index or {}, steps, variables, None, values)
                found = [] if parts is None else rows_apart(parts)
            ways.append([[part[step] for step in sorted(steps)] for part in found])
        if all(ways):
            yield _Piece(dims, rows, [[*chain(*way)] for way in product(*ways)])
