"""The names of rows, compactly: a million Python strings would take more than their vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from loopbook.recipes.indexes.column import Column

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_FEW = 16
"""Up to so many names are compared one by one: faster than to search a sorted list for each row."""


class Names:
    """UTF-8 names of equal width, with a 64-bit hash each to find them by.

    A search only reads names by row: hashes are made when a name is first looked for.
    """

    def __init__(self, names: np.ndarray) -> None:
        self._names = Column(names)
        self._hashes: Column | None = None

    @classmethod
    def of(cls, names: Sequence[str]) -> Names:
        return cls(_packed(names))

    def __len__(self) -> int:
        return len(self._names)

    @property
    def packed(self) -> np.ndarray:
        """All names, as NumPy's ``S``, whose width is a multiple of 8."""
        return self._names.values

    def of_rows(self, rows: np.ndarray) -> list[str]:
        return [name.decode() for name in self._names.values[rows].tolist()]

    def append(self, names: Sequence[str]) -> None:
        packed, here = _packed(names), self._names.values
        if packed.itemsize > here.itemsize:
            self._names = Column(here.astype(packed.dtype))
        packed = packed.astype(self._names.values.dtype, copy=False)
        self._names.append(packed)
        if self._hashes is not None:
            self._hashes.append(_hashes(packed))

    def rows_of(self, names: Sequence[str]) -> np.ndarray:
        """All rows that carry one of these names, in no particular order."""
        packed = _packed(names)
        hashes = np.sort(_hashes(packed))
        if len(hashes) == 0:
            return np.zeros(0, np.int64)
        if self._hashes is None:
            self._hashes = Column(_hashes(self._names.values))
        ours = self._hashes.values
        if len(hashes) <= _FEW:
            rows = np.flatnonzero(np.logical_or.reduce([ours == one for one in set(hashes)]))
        else:
            place = np.searchsorted(hashes, ours).clip(max=len(hashes) - 1)
            rows = np.flatnonzero(hashes[place] == ours)
        # Two names may share a hash.
        wanted = set(packed.tolist())
        same = [name in wanted for name in self._names.values[rows].tolist()]
        return rows[np.array(same, bool)]


def _packed(names: Sequence[str]) -> np.ndarray:
    encoded = [name.encode() for name in names]
    width = max(map(len, encoded), default=1)
    return np.array(encoded, dtype=f"S{max(8, -(-width // 8) * 8)}")


def _hashes(names: np.ndarray) -> np.ndarray:
    """Equal for equal names, however wide the array."""
    words = np.ascontiguousarray(names).view("<u8").reshape(len(names), names.itemsize // 8)
    mixed = np.zeros(len(names), np.uint64)
    for column in words.T:
        # Padding to a greater width adds words of zeros, which must change nothing.
        mixed = np.where(column == 0, mixed, (mixed ^ column) * _PRIME)
        mixed ^= np.where(column == 0, np.uint64(0), mixed >> _SHIFT)
    return mixed
