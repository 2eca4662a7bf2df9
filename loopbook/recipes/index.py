"""Finding the nests nearest to a vector, in a book's vectors of one encoder.

The index is derived from the database: kept beside the book as ``<book>.faiss``, or for a database
on a server in the cache; brought up to date by the book's log of changes, and rebuilt without a
word when it is missing, damaged, or older than the log reaches. Where it can't be written it lives
in memory only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import numpy as np

from loopbook.recipes.indexes import choice, file
from loopbook.recipes.indexes.column import Column
from loopbook.recipes.indexes.gate import Gate
from loopbook.recipes.indexes.kind import Kind, Mask
from loopbook.recipes.indexes.names import Names
from loopbook.recipes.indexes.tags import Tag, Tags

_VERSION = 2
_MASKS = 32
_FEW_GONE = 8
"""Where a mask holds back fewer than one row in so many, it is applied to what was found."""

Rows = tuple[Sequence[str], np.ndarray, Sequence[frozenset[Tag]]]
"""Fingerprints, their vectors of shape ``(n, d)``, and what their records are for: pairs of a
target and the id of a hardware profile."""


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Rows scaled to length 1, float32; rows of zeros stay zeros."""
    rows = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(lengths > 0, lengths, 1))


class VectorIndex:
    """Vectors with the fingerprints that they belong to. Safe to share between threads.

    Attributes:
        stamp: of the book's state that it mirrors.
        unsaved: how many rows have changed since it was built, loaded or saved.
    """

    def __init__(
        self,
        kind: Kind,
        names: Names,
        tags: Tags,
        *,
        gone: np.ndarray | None = None,
        built: int | None = None,
        stamp: str = "",
    ) -> None:
        self.stamp = stamp
        self.unsaved = 0
        self._kind, self._names, self._tags = kind, names, tags
        self._gone = Column(np.zeros(len(kind), bool) if gone is None else gone)
        self._dead = int(np.count_nonzero(self._gone.values))
        self._built = len(kind) if built is None else built
        self._masks: dict[frozenset[Tag] | None, Mask] = {}
        self._gate = Gate()

    @classmethod
    def build(
        cls, rows: Callable[[], Iterable[Rows]], count: int, dimension: int, stamp: str = ""
    ) -> VectorIndex:
        """A new index.

        Args:
            rows: gives all rows, some thousands at a time; it may be called several times.
            count: about how many they are.
        """
        names, tags = Names.of([]), Tags.of([])

        def blocks() -> Iterable[np.ndarray]:
            nonlocal names, tags
            names, tags = Names.of([]), Tags.of([])
            for some_names, vectors, sets in rows():
                names.append(some_names)
                tags.append(sets)
                yield normalised(vectors)

        kind = choice.build(blocks, count, dimension)
        return cls(kind, names, tags, stamp=stamp)

    @classmethod
    def of(cls, fingerprints: Sequence[str], vectors: np.ndarray) -> VectorIndex:
        """An index over vectors without tags."""
        rows: Rows = (fingerprints, vectors, [frozenset()] * len(fingerprints))
        return cls.build(lambda: [rows], len(fingerprints), vectors.shape[1])

    def __len__(self) -> int:
        return len(self._kind) - self._dead

    @property
    def dimension(self) -> int:
        return self._kind.dimension

    @property
    def kind(self) -> str:
        """``flat`` or ``ivf``."""
        return self._kind.name

    @property
    def tags(self) -> frozenset[Tag]:
        """All tags that rows have, or had since it was built."""
        return frozenset().union(*self._tags.sets)

    @property
    def outgrown(self) -> Literal["no", "soon", "now"]:
        """Whether a new index would serve better."""
        return choice.outgrown(self._kind, self._built, self._dead)

    def fingerprints(self) -> list[str]:
        """All that are in it."""
        with self._gate.reading():
            return self._names.of_rows(np.flatnonzero(~self._gone.values))

    def search(
        self, vector: np.ndarray, k: int, wanted: frozenset[Tag] | None = None
    ) -> tuple[list[str], list[float]]:
        """The ``k`` nearest, nearest first; or all there are, if they are fewer.

        Args:
            vector: shape ``(d,)``, of any length but 0.
            wanted: only rows with one of these tags.

        Returns:
            Fingerprints, and Euclidean distances between unit vectors: 0 (same direction) to 2.
        """
        with self._gate.reading():
            mask = self._mask(wanted)
            k = min(k, len(self._kind) if mask is None else mask.count)
            if k <= 0:
                return [], []
            squares, rows = self._search(normalised(vector)[0], k, mask)
            return self._names.of_rows(rows), np.sqrt(np.maximum(squares, 0)).tolist()

    def _search(
        self, query: np.ndarray, k: int, mask: Mask | None
    ) -> tuple[np.ndarray, np.ndarray]:
        if mask is not None and _FEW_GONE * (len(mask.rows) - mask.count) < len(mask.rows):
            # A mask makes searching several times slower. To ask for more does not.
            more = min(2 * k, len(self._kind))
            squares, rows = self._kind.search(query, more, None)
            kept = mask.rows[rows]
            if np.count_nonzero(kept) >= k:
                return squares[kept][:k], rows[kept][:k]
        return self._kind.search(query, k, mask)

    def update(self, changed: Sequence[str], rows: Rows) -> None:
        """Take out all that carry a changed name, and put in new rows."""
        names, vectors, sets = rows
        with self._gate.writing():
            old = self._names.rows_of(changed)
            old = old[~self._gone.values[old]]
            self._gone.values[old] = True
            self._dead += len(old)
            if names:
                self._kind.add(normalised(vectors))
                self._names.append(names)
                self._tags.append(sets)
                self._gone.append(np.zeros(len(names), bool))
            self.unsaved += len(old) + len(names)
            self._masks.clear()

    def retag(self, names: Sequence[str], sets: Sequence[frozenset[Tag]]) -> None:
        """Give rows other tags; names that are not in the index are left out."""
        set_of = dict(zip(names, sets, strict=True))
        with self._gate.writing():
            rows = self._names.rows_of(names)
            self._tags.replace(rows, [set_of[name] for name in self._names.of_rows(rows)])
            self.unsaved += len(rows)
            self._masks.clear()

    def save(self, path: Path, encoder: str) -> None:
        """Keep the index beside the book; nothing happens where that is not possible."""
        with self._gate.reading():
            about = {
                "version": _VERSION,
                "kind": self.kind,
                "encoder": encoder,
                "stamp": self.stamp,
                "dimension": self.dimension,
                "built": self._built,
                "width": self._names.packed.itemsize,
                "tags": [sorted(one) for one in self._tags.sets],
            }
            arrays = {
                "of names": [self._names.packed.view(np.uint8)],
                "of tags": [self._tags.numbers],
                "of gone": [self._gone.values],
            }
            with suppress(OSError):
                file.write(path, about, arrays | self._kind.arrays())
                self.unsaved = 0

    @classmethod
    def load(cls, path: Path, encoder: str) -> VectorIndex | None:
        """The index kept beside the book, or None if it is missing or damaged."""
        try:
            about, arrays = file.read(path)
            if (about["version"], about["encoder"]) != (_VERSION, encoder):
                return None
            names = np.array(arrays.pop("of names")).view(f"S{about['width']}")
            numbers = np.array(arrays.pop("of tags"), "<u4")
            gone = np.array(arrays.pop("of gone")).view(bool)
            kind = choice.KINDS[about["kind"]].of_arrays(arrays, about["dimension"])
            sets = [frozenset((a, b) for a, b in one) for one in about["tags"]]
            if not len(kind) == len(names) == len(numbers) == len(gone):
                return None
            if numbers.max(initial=0) >= max(len(sets), 1):
                return None
            return cls(
                kind,
                Names(names),
                Tags(sets, numbers),
                gone=gone,
                built=about["built"],
                stamp=about["stamp"],
            )
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            ImportError,
            RuntimeError,
        ):
            return None

    def _mask(self, wanted: frozenset[Tag] | None) -> Mask | None:
        if wanted is None and self._dead == 0:
            return None
        mask = self._masks.get(wanted)
        if mask is None:
            rows = ~self._gone.values
            if wanted is not None:
                rows &= self._tags.rows_with(wanted)
            mask = Mask(rows)
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            self._masks[wanted] = mask
        return mask
