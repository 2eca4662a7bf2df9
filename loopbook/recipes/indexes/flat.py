"""Exact search: the query against every row. NumPy alone, so that a small book waits for no
library to load."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from loopbook.recipes.indexes.column import Column
from loopbook.recipes.indexes.kind import Mask

_SPARE = 16


class Flat:
    """All vectors as float32."""

    name: ClassVar[str] = "flat"

    def __init__(self, vectors: np.ndarray) -> None:
        self._rows = Column(np.ascontiguousarray(vectors, np.float32))
        # 1, or 0 for a row of zeros, which no scaling brings to length 1.
        self._lengths = Column(_squares(self._rows.values))

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def dimension(self) -> int:
        return self._rows.values.shape[1]

    def add(self, vectors: np.ndarray) -> None:
        self._rows.append(vectors)
        self._lengths.append(_squares(vectors))

    def search(self, query: np.ndarray, k: int, mask: Mask | None) -> tuple[np.ndarray, np.ndarray]:
        chosen = None if mask is None else mask.numbers
        rows, lengths = self._rows.values, self._lengths.values
        if chosen is not None and 4 * len(chosen) < len(rows):
            rough = lengths[chosen] - 2 * (rows[chosen] @ query)
        else:
            rough = lengths - 2 * (rows @ query)
            rough = rough if chosen is None else rough[chosen]
        # The product cancels digits where a row is near the query: enough to pick some more than
        # k by, which are then compared digit by digit.
        some = min(k + _SPARE, len(rough))
        if some < len(rough):
            picked = np.argpartition(rough, some - 1)[:some]
            found = picked if chosen is None else chosen[picked]
        else:
            found = np.arange(len(rough)) if chosen is None else chosen
        return nearest(self._rows.values[found], found, query, k)

    def arrays(self) -> dict[str, list[np.ndarray]]:
        return {"rows": [self._rows.values.astype("<f4", copy=False)]}

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray], dimension: int) -> Flat:
        return cls(np.array(arrays["rows"], np.float32).reshape(-1, dimension))


def nearest(
    vectors: np.ndarray, numbers: np.ndarray, query: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The first ``k`` of some vectors by squared distance, with their row numbers."""
    squares = _squares(vectors - query)
    order = np.argsort(squares, kind="stable")[:k]
    return squares[order], numbers[order]


def _squares(vectors: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", vectors, vectors)
