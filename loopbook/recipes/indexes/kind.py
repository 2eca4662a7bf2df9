"""What every kind of vector index can do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np

Blocks = Callable[[], Iterable[np.ndarray]]
"""Gives the same vectors at each call, some thousands at a time: all at once may not fit."""


@dataclass(frozen=True)
class Mask:
    """The rows that a search may return.

    Attributes:
        rows: bool, one for each row of the index.
        memo: for what an index works out about the mask once.
    """

    rows: np.ndarray
    memo: dict[int, np.ndarray] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def count(self) -> int:
        """How many rows it lets through."""
        return int(np.count_nonzero(self.rows))

    @cached_property
    def bits(self) -> np.ndarray:
        """Eight rows a byte, the first row lowest, as FAISS reads it."""
        return np.packbits(self.rows, bitorder="little")

    @cached_property
    def numbers(self) -> np.ndarray:
        """The rows that it lets through."""
        return np.flatnonzero(self.rows)


class Kind(Protocol):
    """Vectors numbered in the order they were added. Rows are never taken out: whoever searches
    masks those that are gone. Not to be added to while another thread searches."""

    name: ClassVar[str]

    def __len__(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    def add(self, vectors: np.ndarray) -> None:
        """Append rows, float32, shape ``(n, d)``, of length 1 or 0."""
        ...

    def search(self, query: np.ndarray, k: int, mask: Mask | None) -> tuple[np.ndarray, np.ndarray]:
        """The rows nearest to a query, nearest first.

        Args:
            query: shape ``(d,)``, of length 1.
            k: as many are returned, or all that the mask lets through if they are fewer.
            mask: None lets all through.

        Returns:
            Squared Euclidean distances, and rows.
        """
        ...

    def arrays(self) -> dict[str, list[np.ndarray]]:
        """What to keep in a file: for each name, parts of equal type that follow one another."""
        ...

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray], dimension: int) -> Kind:
        """The index again from what :meth:`arrays` gave, parts joined and flat. They are copied.

        Raises:
            ValueError: they don't fit together.
        """
        ...
