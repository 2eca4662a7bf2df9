"""What a book has read of its store and keeps in memory, for the next look-up."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable

import numpy as np

from loopbook.recipes._snapshot import Snapshot
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.layer import Neighbour
from loopbook.recipes.ranking import Ranked
from loopbook.recipes.record import Record
from loopbook.recipes.reports import shifts_at
from loopbook.recipes.store import Store

_CACHED_RECORDS = 4096


class Loaded:
    """Safe to share between threads.

    Attributes:
        lock: held while anything that is kept changes; whoever has it may call all of this.
        snapshot: the book as it was at the last look-up; None before.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.lock = threading.RLock()
        self.snapshot: Snapshot | None = None
        self._records: OrderedDict[str, Record] = OrderedDict()
        self._embeddings: dict[tuple[str, str], Embedding] = {}
        self._shifts: tuple[str, dict[tuple[str, str], float]] = ("", {})

    def current(self) -> Snapshot:
        """The book as it is now, read again only after a change, whoever made it."""
        with self.lock:
            if self.snapshot is None:
                self.snapshot = Snapshot.of(self._store)
            elif self.snapshot.stamp != self._store.stamp():
                self.snapshot = self.snapshot.refreshed(self._store)
                self._embeddings.clear()
            return self.snapshot

    def shifts(self, hardware_key: str, *, fresh: bool) -> dict[str, float]:
        """See `loopbook.recipes.book.Book.shifts`."""
        with self.lock:
            seen = None if fresh or self.snapshot is None else self.snapshot.stamp
            stamp = self._store.stamp() if seen is None else seen
            if self._shifts[0] != stamp:
                self._shifts = stamp, self._store.reports.shifts()
            return shifts_at(self._shifts[1], hardware_key)

    def records(self, wanted: Iterable[str]) -> list[Record]:
        """Whole records by id, in order; they never change, so that those loaded stay good."""
        ids = list(wanted)
        with self.lock:
            missing = [one for one in ids if one not in self._records]
            fresh = self._store.records(missing, strict=False) if missing else {}
            self._note_gone({one: one for one in missing if one not in fresh})
            found = [self._records.get(one) or fresh.get(one) for one in ids]
            self._records.update(fresh)
            while len(self._records) > _CACHED_RECORDS:
                self._records.popitem(last=False)
        return [record for record in found if record is not None]

    def distances(
        self, vector: np.ndarray, nests: Collection[str], encoder: str
    ) -> dict[str, float]:
        """How far each of these nests is; those without an embedding are left out."""
        with self.lock:
            embeddings = self._embedded(nests, encoder)
        return {
            nest: float(np.linalg.norm(embedding.nest - vector))
            for nest, embedding in embeddings.items()
        }

    def neighbours(self, ranked: list[Ranked], encoder: str) -> list[Neighbour]:
        """What was ranked, with whole records and their vectors."""
        nests = {one.entry.fingerprint for one in ranked}
        with self.lock:
            records = {record.id: record for record in self.records(one.id for one in ranked)}
            embeddings = self._embedded(nests, encoder)
            self._note_gone({f"vector of {one}": one for one in nests if one not in embeddings})
        neighbours = []
        for one in ranked:
            record, embedding = records.get(one.id), embeddings.get(one.entry.fingerprint)
            # Another process may have deleted it a moment ago.
            if record is not None and embedding is not None:
                neighbours.append(Neighbour(record, embedding, one.distance, one.hardware_distance))
        return neighbours

    def _note_gone(self, names: dict[str, str]) -> None:
        """What the book lists and does not have, by its key in `Store.damage`, unless somebody has
        just deleted it."""
        damage = self._store.damage
        gone = {key: name for key, name in names.items() if key not in damage}
        if gone and self.snapshot is not None and self.snapshot.stamp == self._store.stamp():
            for key, name in gone.items():
                damage.met(key, f"what belongs to {name} is not there", strict=False)

    def _embedded(self, nests: Collection[str], encoder: str) -> dict[str, Embedding]:
        """Embeddings by nest, of those that have one; they are kept until the book changes. The
        caller holds the lock."""
        missing = sorted(nest for nest in nests if (nest, encoder) not in self._embeddings)
        if missing:
            fresh = self._store.embeddings(missing, encoder, strict=False)
            for nest, embedding in fresh.items():
                self._embeddings[nest, encoder] = embedding
        known = ((nest, self._embeddings.get((nest, encoder))) for nest in nests)
        return {nest: embedding for nest, embedding in known if embedding is not None}
