"""What a look-up gives, as lists that shells and notebooks can show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from loopbook.display import brief, counted, cut, table
from loopbook.recipes.layer import NEIGHBOUR_HEADS, Neighbour, neighbour_row

if TYPE_CHECKING:
    from loopbook.program.nest import Nest


class Neighbours(list[Neighbour]):
    """The records near one nest, the nearest first.

    Attributes:
        nest: which nest it is, for people; empty where only its vector is known.
    """

    def __init__(self, found: Iterable[Neighbour] = (), nest: str = "") -> None:
        super().__init__(found)
        self.nest = nest

    def __repr__(self) -> str:
        first = (
            f"; nearest: {cut(self[0].record.nest, 60)} at {self[0].distance:.3f}" if self else ""
        )
        of = f" of {cut(self.nest, 60)}" if self.nest else ""
        return brief(self, f"{counted(len(self), 'record')}{of}{first}")

    def _repr_html_(self) -> str:
        return table(NEIGHBOUR_HEADS, map(neighbour_row, self), self.nest)


class NestsNeighbours(list[Neighbours]):
    """`Neighbours` of each nest of a program, in its order."""

    def __repr__(self) -> str:
        return brief(self, f"of {counted(len(self), 'nest')}: {[len(one) for one in self]} records")

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self)


def nest_name(nest: Nest) -> str:
    """Where it stands in its program, and its loops: ``nest 0: i j k``."""
    return f"nest {nest.position}: {' '.join(loop.indvar for loop in nest.loops)}"
