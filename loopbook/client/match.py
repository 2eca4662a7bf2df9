"""Which loop and which container of one nest plays the part of which in another.

The encoder gives each loop and container a vector; parts that play the same role have vectors that
point the same way. The best one-to-one match by cosine is a linear assignment. What it cannot see
is that loops stand inside each other, so a match that breaks that is replaced by the best one that
keeps it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from loopbook.client.assignment import assign
from loopbook.program.nest import Container, Loop, Nest
from loopbook.program.shape import ArrayShape, LoopShape, Shape
from loopbook.recipes.embedding import Embedding

Match = dict[str, str]
"""Name in the recipe's nest to name in the other nest."""

OTHER_KIND = 0.6
"""Taken off the cosine of a parallel and a serial loop, or of a written and a read container: a
match across these is possible, but rarely what the recipe means."""

LEAST = 0.0
"""Parts whose vectors are not even turned the same way do not match."""

SEARCH_LIMIT = 5_000
"""Partial matches looked at when the linear assignment breaks the nesting."""


def match_loops(
    source: Shape,
    source_embedding: Embedding,
    nest: Nest,
    embedding: Embedding,
    needed: Sequence[str],
) -> Match | None:
    """Partners in `nest` for the loops of `source`, those in `needed` without exception.

    Two loops one inside the other get partners one inside the other, in this order or, where loops
    are perfectly nested and can be interchanged, in the reverse one.

    Returns:
        None if a needed loop finds no partner.
    """
    similar = source_embedding.loops @ embedding.loops.T
    for row, loop in enumerate(source.loops):
        for column, other in enumerate(nest.loops):
            similar[row, column] -= _loop_penalty(loop, other)
    rows = [loop.index for loop in source.loops if loop.name in needed]
    others = [loop.index for loop in source.loops if loop.name not in needed]
    if len(rows) > len(nest.loops):
        return None
    found, fits = _assigned(similar, rows), _nesting(source, nest)
    if found is None or not all(fits(found, row, found[row]) for row in rows):
        found = _searched(similar, rows, fits)
    if found is None:
        return None
    for row, column in (_assigned(similar, others, taken=set(found.values())) or {}).items():
        if fits(found, row, column):
            found[row] = column
    return {source.loops[a].name: nest.loops[b].name for a, b in found.items()}


def match_containers(
    source: Shape,
    source_embedding: Embedding,
    nest: Nest,
    embedding: Embedding,
    needed: Sequence[str],
) -> Match | None:
    """Partners in `nest` for the arrays of `source` that are `needed`; None if one has none."""
    similar = source_embedding.containers @ embedding.containers.T
    for row, array in enumerate(source.arrays):
        for column, other in enumerate(nest.arrays):
            similar[row, column] -= _container_penalty(array, other)
    rows = [row for row, array in enumerate(source.arrays) if array.name in needed]
    if len(rows) < len(set(needed)):
        return None
    # All arrays compete: the needed one must not take what suits another one better.
    everything = _assigned(similar, range(len(source.arrays))) or _assigned(similar, rows)
    if everything is None:
        return None
    return {source.arrays[row].name: nest.arrays[everything[row]].name for row in rows}


def band(nest: Nest) -> list[Loop]:
    """The perfectly nested loops from the outermost inwards: those that can change places."""
    if "band" not in nest.notes:
        nest.notes["band"] = tuple(_band(nest))
    return list(nest.notes["band"])


def _band(nest: Nest) -> list[Loop]:
    occupied = {block.parent for block in nest.blocks} | {b.parent for b in nest.branches}
    loops = [nest.loops[0]]
    while loops[-1].index not in occupied:
        children = nest.children(loops[-1].index)
        if len(children) != 1:
            break
        loops.append(children[0])
    return loops


def _loop_penalty(loop: LoopShape, other: Loop) -> float:
    if (loop.kind == "while") != (other.kind == "while"):
        return 10.0
    return OTHER_KIND if (loop.kind == "map") != (other.kind == "map") else 0.0


def _container_penalty(array: ArrayShape, other: Container) -> float:
    return OTHER_KIND if array.written != other.written else 0.0


def _assigned(
    similar: np.ndarray, rows: Sequence[int], taken: set[int] | frozenset[int] = frozenset()
) -> dict[int, int] | None:
    """The best one-to-one match of `rows` to columns not yet taken, or None if there is none."""
    columns = [column for column in range(similar.shape[1]) if column not in taken]
    if not rows:
        return {}
    if len(rows) > len(columns):
        return None
    chosen = similar[np.ix_(list(rows), columns)]
    found = {row: columns[b] for row, b in zip(rows, assign(chosen), strict=True)}
    return found if all(similar[a, b] > LEAST for a, b in found.items()) else None


Fits = Callable[[Mapping[int, int], int, int], bool]
"""Whether a loop and its partner keep the nesting beside other loops with theirs."""


def _searched(similar: np.ndarray, rows: Sequence[int], fits: Fits) -> dict[int, int] | None:
    """The best match that keeps the nesting, by depth-first search over columns, best first."""
    search = _Search(similar, rows, fits)
    search.extend({}, 0.0)
    return search.best


class _Search:
    """Attributes:
    best: the best match so far.
    """

    def __init__(self, similar: np.ndarray, rows: Sequence[int], fits: Fits) -> None:
        self.best: dict[int, int] | None = None
        self._score, self._visits = -math.inf, 0
        self._rows, self._fits = rows, fits
        self._gains = similar.tolist()
        self._columns = np.argsort(-similar, axis=1, kind="stable").tolist()

    def extend(self, found: dict[int, int], score: float) -> None:
        """Look at all matches that begin with those found."""
        self._visits += 1
        if self._visits > SEARCH_LIMIT:
            return
        if len(found) == len(self._rows):
            if score > self._score:
                self.best, self._score = dict(found), score
            return
        row = self._rows[len(found)]
        for column in self._columns[row]:
            gain = self._gains[row][column]
            if gain <= LEAST:
                break
            if column in found.values() or not self._fits(found, row, column):
                continue
            found[row] = column
            self.extend(found, score + gain)
            del found[row]


def _nesting(source: Shape, nest: Nest) -> Fits:
    """Which partners keep the nesting: the search asks thousands of times for one recipe."""
    movable = {loop.index for loop in band(nest)}
    before, after = _insides(source), _insides(nest)

    def fits(found: Mapping[int, int], row: int, column: int) -> bool:
        for other, partner in found.items():
            own, its = before[other][row], after[partner][column]
            if own != its and not (own and its and {partner, column} <= movable):
                return False
        return True

    return fits


def _insides(nest: Shape) -> list[list[int]]:
    """For each loop a and loop b 1 if b is a or inside of it, -1 if a is inside of b, else 0."""
    if "insides" not in nest.notes:
        nest.notes["insides"] = _all_insides(nest)
    return nest.notes["insides"]


def _all_insides(nest: Shape) -> list[list[int]]:
    around = [{loop.index for loop in nest.ancestry(loop.index)} for loop in nest.loops]
    numbers = range(len(around))
    return [
        [1 if a in around[b] else -1 if b in around[a] else 0 for b in numbers] for a in numbers
    ]
