"""How large the arrays of an SDFG must be, and which indices others may hold, at given sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopbook.errors import SdfgError
from loopbook.interpreter.intervals import Interval, exactly
from loopbook.interpreter.reach import Reach, reach
from loopbook.interpreter.roles import Roles
from loopbook.program import walk
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Program
from loopbook.program.types import Scalar
from loopbook.sdfg.made_values import MOST_WHOLE, Place

ROUNDS = 12
"""How often ranges of indices are narrowed, at most."""

USUAL_TOP = 16
"""Indices are less than this where a program has no sizes."""

PER_ROW = 4
"""Elements in a row of a sparse matrix, about."""


@dataclass(frozen=True)
class Layout:
    """What arrays a program needs.

    Attributes:
        places: array to what is known of it.
        tidy: no index leaves its row, or a local array, as far as can be told.
        short: sizes that say how long rows are, to how much is missing.
    """

    places: Mapping[str, Place]
    tidy: bool
    short: Mapping[str, int]


def layout(program: Program, roles: Roles, scalars: Mapping[str, int]) -> Layout:
    """What arrays a program needs where its whole scalar arguments have such values.

    Raises:
        SdfgError: that cannot be told.
    """
    sizes = [value for value in scalars.values() if value > 0]
    about = max(sizes, default=USUAL_TOP)
    arrays = [
        name for name in program.arguments if not isinstance(program.containers[name], Scalar)
    ]
    ranges = {
        name: (0, (PER_ROW * about if name in roles.ordered else about) - 1)
        for name in arrays
        if name in roles.indices
    }
    found, ranges = _narrowed(program, roles, scalars, ranges)
    rows = _rows(program, scalars)
    places: dict[str, Place] = {}
    for name in arrays:
        span = found.spans.get(name, exactly(0))
        if not math.isfinite(span.high):
            raise SdfgError(f"cannot tell how large array {name} must be")
        places[name] = Place(
            count=max(int(span.high), 0) + 1,
            index=ranges.get(name),
            ordered=name in roles.ordered,
            divisor=name in roles.divisors,
            shift=name in roles.shifts,
            rows=rows.get(name, ()),
            about=about,
        )
    short: dict[str, int] = {}
    for one in found.beyond:
        if one.row and math.isfinite(one.by):
            short[one.row] = max(short.get(one.row, 0), math.ceil(one.by / one.each))
    return Layout(places, not found.beyond, short)


def _narrowed(
    program: Program,
    roles: Roles,
    scalars: Mapping[str, int],
    ranges: dict[str, tuple[int, int]],
) -> tuple[Reach, dict[str, tuple[int, int]]]:
    """What is reached, with ranges of indices so narrow that nothing leaves its row, if that is
    possible."""

    def reached(ranges: Mapping[str, tuple[int, int]]) -> Reach:
        known = {name: exactly(value) for name, value in scalars.items()}
        for name in program.arguments:
            if name in ranges:
                known[name] = Interval(*ranges[name])
            elif not isinstance(program.containers[name], Scalar):
                known[name] = Interval(-MOST_WHOLE, MOST_WHOLE)
        return reach(program, known, roles.indices)

    def among(names: frozenset[str]) -> Iterator[str]:
        for name in ranges:
            if any(name in roles.origins.get(one, ()) for one in names):
                yield name

    found = reached(ranges)
    for _ in range(ROUNDS):
        other = dict(ranges)
        for excess in found.beyond:
            for name in among(excess.names):
                low, high = ranges[name]
                by = math.ceil(excess.by) if math.isfinite(excess.by) else high
                other[name] = low, min(other[name][1], max(high - by, low))
        for names, lowest in found.low.items():
            for name in among(names):
                low, high = other[name]
                other[name] = min(max(low, ranges[name][0] - math.floor(lowest)), high), high
        if other == ranges:
            break
        better = reached(other)
        if _badness(better) >= _badness(found):
            break
        found, ranges = better, other
    return found, ranges


def _badness(found: Reach) -> float:
    return sum(min(one.by, 1e18) for one in found.beyond) - sum(found.low.values())


def _rows(program: Program, scalars: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Array to how many elements its rows may have: what its indices are multiplied by."""
    found: dict[str, set[int]] = {}
    for node in walk.preorder(program):
        for memlet in node.memlets if isinstance(node, Block) else ():
            for end in (node.nodes[memlet.source], node.nodes[memlet.target]):
                if not isinstance(end, AccessNode) or not memlet.subset:
                    continue
                strides = getattr(memlet.type, "strides", ())
                several = [symbols for one in strides for symbols in one.polynomial]
                for index in memlet.subset:
                    several += [symbols for symbols in index.polynomial if {*symbols} - {*scalars}]
                for symbols in several:
                    row = math.prod(scalars[one] for one in symbols if one in scalars)
                    if row > 1:
                        found.setdefault(end.container, set()).add(row)
    return {name: tuple(sorted(rows)[:1]) for name, rows in found.items()}
