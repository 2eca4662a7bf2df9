"""The indexes of one book, kept up to date."""

from __future__ import annotations

import hashlib
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np

from loopbook import private
from loopbook.errors import LoopbookError
from loopbook.recipes.folders import cache_folder
from loopbook.recipes.index import VectorIndex
from loopbook.recipes.store import Store

_SAVE_AT = 8
"""An index is saved again when one row in so many has changed: until then catching up is quick."""

_MOST_KEPT = 8
"""Indexes that are kept in this machine's cache, not beside their books."""


class Indexes:
    """One index for each encoder. Not safe to share between threads: the book holds its lock."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[str, VectorIndex] = {}
        self._renewals: dict[str, _Renewal] = {}

    def of(self, encoder: str, stamp: str) -> VectorIndex:
        """The index over one encoder's vectors, not older than a stamp of the book.

        One that has been outgrown goes on serving while a thread builds its successor.
        """
        index = self._held.get(encoder)
        renewal = self._renewals.get(encoder)
        if renewal is not None and renewal.index is not None:
            del self._renewals[encoder]
            index = self._held[encoder] = renewal.index
        if index is not None and index.stamp == stamp:
            return index
        index = self._held[encoder] = index_of(self._store, encoder, index)
        if index.outgrown == "soon" and encoder not in self._renewals:
            self._renewals[encoder] = _Renewal(self._store, encoder)
        return index

    def close(self) -> None:
        """Wait for what is being built: it would be lost, and begun again by the next process."""
        for renewal in self._renewals.values():
            renewal.join()


class _Renewal(threading.Thread):
    """Builds an index beside the one that serves. Failing, it leaves that one in place."""

    def __init__(self, store: Store, encoder: str) -> None:
        super().__init__(name="loopbook index")
        self._store, self._encoder = store, encoder
        self.index: VectorIndex | None = None
        self.start()

    def run(self) -> None:
        try:
            self.index = _built(self._store, self._encoder)
        except (LoopbookError, MemoryError, ValueError):
            return


def index_of(store: Store, encoder: str, held: VectorIndex | None = None) -> VectorIndex:
    """The index over a book's vectors of one encoder: the one held or kept, brought up to date,
    else a new one."""
    if held is None:
        held = VectorIndex.load(_path(store), encoder)
    if held is None or not _caught_up(held, store, encoder) or held.outgrown == "now":
        return _built(store, encoder)
    if _SAVE_AT * held.unsaved > len(held):
        _save(held, store, encoder)
    return held


def _built(store: Store, encoder: str) -> VectorIndex:
    # Whatever changes while the vectors are read is read again by the log.
    stamp = store.stamp()
    count = store.encoders(strict=False).get(encoder, 0)
    first = next(store.vectors(encoder), None) if count else None
    dimension = 0 if first is None else first[1].shape[1]
    index = VectorIndex.build(lambda: store.vectors(encoder), count, dimension, stamp)
    _save(index, store, encoder)
    return index


def _caught_up(index: VectorIndex, store: Store, encoder: str) -> bool:
    """Bring an index to the book's present state; False if the log doesn't reach back so far."""
    changes = store.changes_since(index.stamp)
    if changes is None:
        return False
    embedded = sorted(changes.embedded)
    names, vectors, tags = [], [], []
    for some, some_vectors, some_tags in store.vectors(encoder, embedded):
        if some_vectors.shape[1] != index.dimension:
            return False
        names += some
        vectors.append(some_vectors)
        tags += some_tags
    if embedded:
        rows = np.concatenate(vectors) if vectors else np.zeros((0, index.dimension), np.float32)
        index.update(embedded, (names, rows, tags))
    recorded = sorted(changes.recorded - changes.embedded)
    if recorded:
        found = store.tags(recorded)
        index.retag(recorded, [found.get(name, frozenset()) for name in recorded])
    index.stamp = changes.stamp
    return True


def _save(index: VectorIndex, store: Store, encoder: str) -> None:
    if not len(index):
        return
    path = _path(store)
    with suppress(OSError):
        private.make_folders(path.parent)
        index.save(path, encoder)
        if path.parent == _cached():
            _prune(path.parent)


def _path(store: Store) -> Path:
    """Beside the book, or in this machine's cache: for a database on a server, and for a file that
    is only read. One of another book at the same address does no harm: its stamp is not in this
    one's log."""
    if store.path is not None and not store.readonly:
        return store.path.with_name(store.path.name + ".faiss")
    name = hashlib.sha256(store.name.encode()).hexdigest()[:32]
    return _cached() / f"{name}.faiss"


def _cached() -> Path:
    return cache_folder() / "indexes"


def _prune(folder: Path) -> None:
    """Keep the indexes used last."""
    kept = sorted(folder.glob("*.faiss"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-_MOST_KEPT]:
        path.unlink(missing_ok=True)
