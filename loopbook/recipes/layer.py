"""What a look-up needs of a book, whether it lies in a file, on a server, or in layers of both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from loopbook.display import brief, cut, table, times
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record
from loopbook.recipes.tasks import Wanted

HARDWARE_WEIGHT = 0.1
"""How much a step in hardware space counts against one in program space.

The unit vectors of nests of one kind lie within some tenths of each other; AVX2 and AVX-512 are 1
apart. A recipe for the same kind of nest from the other machine should still come before one for
another kind of nest from this machine. Chosen, not learnt."""

Kernels = Callable[[str], bool] | Collection[str] | None
"""Kernels to leave out: their names, or a test of a name."""


@dataclass(frozen=True)
class Neighbour:
    """A record near a query.

    ::

        near = book.nearest(kernel)[0][0]     # of the first nest, the nearest
        near.distance, near.record.recipe

    Attributes:
        embedding: of the record's nest, by the query's encoder; for matching loops.
        distance: in program space, between unit vectors: 0 to 2, and 0 for the very nest; good to
            0.001 in a book of more than ten thousand nests, exact to six digits in a smaller one.
        hardware_distance: in hardware space; 0 where no hardware was asked for.
    """

    record: Record
    embedding: Embedding
    distance: float
    hardware_distance: float

    @property
    def speedup(self) -> float:
        """Over docc's own schedule, measured where the record was made."""
        return self.record.speedup

    def __repr__(self) -> str:
        told = f"{cut(self.record.nest, 60)} at {self.distance:.3f}, {self.speedup:.2f}×"
        return brief(self, f"{self.record.id[:12]} {told}: {self.record.recipe.in_line()}")

    def _repr_html_(self) -> str:
        return table(NEIGHBOUR_HEADS, [neighbour_row(self)])

    @property
    def rank(self) -> float:
        """What neighbours are ordered by: the least is the nearest."""
        return self.distance + HARDWARE_WEIGHT * self.hardware_distance


NEIGHBOUR_HEADS = ("record", "nest", "distance", "speedup", "machine", "recipe")


def neighbour_row(near: Neighbour) -> tuple[str, ...]:
    """What a table shows of a neighbour, by `NEIGHBOUR_HEADS`."""
    return (
        near.record.id[:12],
        near.record.nest,
        f"{near.distance:.3f}",
        times(near.speedup),
        near.record.hardware.cpu,
        near.record.recipe.in_line() or "docc's own schedule",
    )


class Layer(Protocol):
    """A book that nests are looked up in."""

    @property
    def name(self) -> str:
        """Path, URL or address, for people."""
        ...

    @property
    def readonly(self) -> bool:
        """Whether nothing can be written to it."""
        ...

    @property
    def damage(self) -> tuple[str, ...]:
        """What could not be read so far, and was left out of what look-ups found: one line each."""
        ...

    def close(self) -> None:
        """Release what it holds; it cannot be used any more."""
        ...

    def nearest(
        self,
        query: Embedding,
        k: int = 5,
        *,
        target: str = ...,
        hardware: HardwareProfile | None = None,
        exclude: Kernels = None,
        without: Collection[str] = (),
        steps: Collection[str] = (),
        per_nest: int = 2,
    ) -> list[Neighbour]:
        """The `k` records nearest to a nest; see `loopbook.recipes.book.Book.nearest`."""
        ...

    def exact(self, fingerprint: str, target: str, hardware_key: str | None = None) -> list[Record]:
        """All records of a nest for a target, the fastest first."""
        ...

    def without_embedding(self, encoder: str) -> Iterable[tuple[str, str]]:
        """Fingerprint and JSON of each nest that an encoder has yet to embed."""
        ...

    def note_miss(
        self, fingerprint: str, target: str, hardware_key: str, *, wanted: Wanted | None = None
    ) -> None:
        """Count one more time that a nest was asked for in vain; see `Book.note_miss`."""
        ...


def excludes(kernels: Kernels) -> Callable[[str], bool]:
    """A test of a kernel's name: whether it is left out."""
    if kernels is None:
        return lambda kernel: False
    if callable(kernels):
        return kernels
    names = frozenset([kernels] if isinstance(kernels, str) else kernels)
    return names.__contains__
