"""The book: records of tuned nests, found by fingerprint or by similarity."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import Any

import numpy as np

from loopbook import private
from loopbook.display import brief, counted, table
from loopbook.errors import BookError, InputError
from loopbook.recipes import _search, _whole
from loopbook.recipes._briefs import Brief
from loopbook.recipes._indexes import Indexes
from loopbook.recipes._loaded import Loaded
from loopbook.recipes._rows import Entry, Miss
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.exchange import Check, read_lines, write_lines
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.layer import Kernels, Neighbour
from loopbook.recipes.queue import Queue
from loopbook.recipes.ranking import Filters, rank, rank_among
from loopbook.recipes.record import Record
from loopbook.recipes.reports import Reports
from loopbook.recipes.store import Store
from loopbook.recipes.tasks import Ending, Lease, Wanted

_BATCH = 256
_HOLDING = 512


class Book:
    """The records of one place with their similarity index; open one with :meth:`Book.open`.

    Safe to share between threads; open a new one after a fork. Errors of the database are
    :class:`~loopbook.errors.BookError`; the methods below name only what comes on top.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loaded = Loaded(store)
        self._indexes = Indexes(store)

    @classmethod
    def open(cls, location: str | Path, *, readonly: bool = False, busy_s: float = 10.0) -> Book:
        """Open the book at a path or database URL; see :meth:`Store.open`."""
        return cls(Store.open(location, readonly=readonly, busy_s=busy_s))

    def close(self) -> None:
        """Release the file; the book can't be used any more."""
        self._indexes.close()
        self._store.close()

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __len__(self) -> int:
        return sum(map(len, self._loaded.current().by_nest.values()))

    def __repr__(self) -> str:
        # The records are not counted: that reads the file, which may be closed.
        return brief(self, f"{self.name}{', read-only' if self.readonly else ''}")

    def _repr_html_(self) -> str:
        return table((), [(self.name, self.summary())], "Book")

    def summary(self) -> str:
        """How many records there are, in words; why not, where they cannot be read."""
        try:
            return counted(len(self), "record") + (", read-only" if self.readonly else "")
        except BookError as error:
            return str(error)

    @property
    def name(self) -> str:
        """Path or URL, for people."""
        return self._store.name

    @property
    def readonly(self) -> bool:
        """Whether writes are refused."""
        return self._store.readonly

    @property
    def foreign(self) -> bool:
        """Whether others than this user and root can change the book's file."""
        path = self._store.path
        return path is not None and not private.is_ours(path)

    @property
    def damage(self) -> tuple[str, ...]:
        """What could not be read so far, and was left out of what look-ups found: one line each."""
        return self._store.damage.lines

    # Writing

    def add(self, record: Record, embedding: Embedding | None = None) -> bool:
        """Add a record, for good once this returns; False if it was there already.

        Raises:
            InputError: the embedding holds NaN, or its encoder gave another length before.
        """
        return self.add_many([(record, [] if embedding is None else [embedding])]) == 1

    def add_many(self, items: Iterable[tuple[Record, Iterable[Embedding]]]) -> int:
        """Add records with embeddings, all or on any error none; returns how many are new."""
        return self._store.add(items)

    def conclude(self, lease: Lease, items: Iterable[tuple[Record, Iterable[Embedding]]]) -> Ending:
        """Add what came of a task of the queue, and end the task: both or neither, so that work
        which is done twice counts once."""
        return self._store.conclude(lease, items)

    def add_embeddings(self, items: Iterable[tuple[str, Embedding]]) -> None:
        """Add or replace embeddings of nests in the book, by fingerprint, all or none."""
        self._store.add_embeddings(items)

    def forget_encoder(self, encoder: str) -> int:
        """Remove all vectors that one encoder made; returns of how many nests."""
        return self._store.forget_encoder(encoder)

    def keep_notes(self, notes: Mapping[str, bytes], version: str) -> None:
        """Keep what was worked out from records, by id; see :mod:`loopbook.recipes._notes`."""
        self._store.notes.write(notes, version)

    def delete(self, record_id: str) -> bool:
        """Remove a record; False if there is none of that id."""
        return self._store.delete(record_id)

    def respell(self) -> int:
        """Write all records as they are written today, with the names that steps have now; returns
        how many were written otherwise. Their ids stay as they are."""
        return self._store.respell()

    def note_miss(
        self,
        fingerprint: str,
        target: str,
        hardware_key: str,
        nest: str = "",
        count: int = 1,
        wanted: Wanted | None = None,
    ) -> None:
        """Count one more time, or `count`, that a nest was asked for in vain; also in the queue of
        work, if it has a task to tune the nest, or `wanted` brings the nest to make one of."""
        self._store.note_miss(fingerprint, target, hardware_key, nest, count, wanted)

    @property
    def queue(self) -> Queue:
        """The queue of work to do on the book."""
        return self._store.queue

    @property
    def reports(self) -> Reports:
        """What was reported of how its recipes did where they ran."""
        return self._store.reports

    def shifts(self, hardware_key: str, *, fresh: bool = True) -> dict[str, float]:
        """Record id to what to add to its log speedup on such machines, as reports have it, and
        `loopbook.recipes.reports.LOST` where it is not to be served there; most have none. The book
        may know more records than it holds: those of other books that are served with it.

        Args:
            fresh: False takes the book as it was at the last look-up, which costs less.
        """
        return self._loaded.shifts(hardware_key, fresh=fresh)

    def import_(self, path: str | Path, check: Check | None = None) -> int:
        """Add what :meth:`export` wrote, all or on any error none; returns how many are new.

        Raises:
            InputError: the file is damaged or no export, naming the line, or `check` says so.
        """
        return self.add_many(read_lines(Path(path), check))

    def merge(self, other: Book, check: Check | None = None) -> int:
        """Add all that another book holds, misses aside, if `check` raises nothing; returns how
        many records are new."""
        return self.add_many(other._items(check))

    # Looking up

    def nearest(
        self,
        query: Embedding | np.ndarray,
        k: int = 5,
        *,
        target: str | None = None,
        hardware: HardwareProfile | None = None,
        exclude: Kernels = None,
        without: Collection[str] = (),
        steps: Collection[str] = (),
        per_nest: int = 2,
        encoder: str | None = None,
    ) -> list[Neighbour]:
        """The ``k`` records nearest to a nest's vector, nearest first.

        They are ordered by ``distance + HARDWARE_WEIGHT * hardware_distance`` (see
        :mod:`~loopbook.recipes.layer`), then by speedup: of equally near nests the one tuned
        on the same hardware comes first. Filters lose no record: the search goes on until ``k``
        pass them.

        Args:
            query: an embedding, or just its nest vector, shape ``(d,)``.
            target: only records for this target.
            hardware: the machine that the recipe is for; None means that any is as good.
            exclude: kernels to leave out: their names, or a test of a name.
            without: fingerprints of nests to leave out.
            steps: only records with a recipe that holds one of these steps; where many do, only
                the fastest are looked at.
            per_nest: at most so many records, of different recipes, of one nest.
            encoder: of a plain vector; where the book has one encoder only, it is that.

        Raises:
            InputError: the vector has another length than the book's, or holds NaN.
        """
        vector = query.nest if isinstance(query, Embedding) else np.asarray(query, np.float32)
        with self._loaded.lock:
            snapshot = self._loaded.current()
            encoder = snapshot.encoder_of(query, encoder)
            if encoder is None or k < 1:
                return []
            index = self._indexes.of(encoder, snapshot.stamp)
        if len(index) == 0:
            return []
        if vector.shape != (index.dimension,) or not np.isfinite(vector).all():
            raise InputError(f"the query is not a finite vector of {index.dimension} numbers")
        filters = Filters(target, hardware, exclude, without, per_nest)
        if steps:
            fastest = nlargest(_HOLDING, snapshot.holding(steps), key=lambda one: one.speedup)
            nests = {one.fingerprint for one in fastest}
            distances = self._loaded.distances(vector, nests, encoder)
            ranked = rank_among(snapshot, fastest, distances, k, filters)
        else:
            ranked = rank(snapshot, index, vector, k, filters)
        return self._loaded.neighbours(ranked, encoder)

    def exact(self, fingerprint: str, target: str, hardware_key: str | None = None) -> list[Record]:
        """All records of a nest for a target, best speedup first.

        Args:
            hardware_key: only those measured on hardware of this
                :attr:`~loopbook.recipes.hardware.HardwareProfile.key`.
        """
        snapshot = self._loaded.current()
        return self._loaded.records(
            entry.id
            for entry in snapshot.by_nest.get(fingerprint, ())
            if entry.target == target
            and hardware_key in (None, snapshot.hardware[entry.hardware_id].key)
        )

    def best(self, fingerprint: str, target: str, k: int = 1) -> list[Record]:
        """The ``k`` records of a nest with the best speedup, on whatever hardware."""
        return self.exact(fingerprint, target)[:k]

    def record(self, record_id: str) -> Record | None:
        """The record of this id, or None."""
        return self._store.records([record_id]).get(record_id)

    def record_like(self, beginning: str) -> Record:
        """The one record whose id begins so.

        Raises:
            InputError: there is none, or more than one.
        """
        return self._store.records([one := _search.matching(self._store, beginning)])[one]

    def search(
        self,
        *words: str,
        target: str | None = None,
        kernels: Callable[[str], bool] | None = None,
        machine: str = "",
        min_speedup: float = 0.0,
        order: str = _search.SPEEDUP,
    ) -> list[Entry]:
        """Records in short, by what they say; :meth:`record` gives the whole of one.

        Args:
            words: all have to stand in a record's id, kernel, target, machine or recipe.
            kernels: a test of the kernel's name.
            machine: part of the name of its processor or of its profile's key.
            order: "speedup", the greatest first, or "kernel".
        """
        return _search.search(self._store, words, target, kernels, machine, min_speedup, order)

    def records(self, *, target: str | None = None, kernel: str | None = None) -> Iterator[Record]:
        """All records, or those of a target or kernel, in order of id."""
        chosen = [
            entry.id
            for entry in self._store.entries()
            if target in (None, entry.target) and kernel in (None, entry.kernel)
        ]
        for start in range(0, len(chosen), _BATCH):
            ids = chosen[start : start + _BATCH]
            found = self._store.records(ids)
            yield from (found[one] for one in ids if one in found)

    def page(
        self, after: str = "", limit: int = _BATCH, *, target: str | None = None
    ) -> list[tuple[Record, list[Embedding]]]:
        """The next records behind the one of id `after`, in order of id, with their embeddings.

        Unlike the others, this keeps nothing in memory: it suits books of any size.
        """
        ids = self._store.ids(after, limit, target)
        found = self._store.records(ids)
        records = [found[one] for one in ids if one in found]
        vectors = self._store.all_embeddings(sorted({one.fingerprint for one in records}))
        return [(one, vectors.get(one.fingerprint, [])) for one in records]

    def notes(self, ids: Sequence[str], version: str) -> dict[str, bytes]:
        """What :meth:`keep_notes` was given in this version about these records."""
        return self._store.notes.read(ids, version)

    def count(self) -> int:
        """How many records there are now, counted by the database."""
        return self._store.count()

    @property
    def stamp(self) -> str:
        """A word that changes whenever records or embeddings do."""
        return self._store.stamp()

    def hardware(self) -> list[HardwareProfile]:
        """The machines that records are about."""
        return list(self._store.hardware().values())

    def briefs(self) -> list[Brief]:
        """All records in brief, in order of id: what a list or a map shows. Damaged ones are left
        out (`damage`). Nothing is kept in memory."""
        return self._store.briefs()

    def machines(self) -> dict[str, HardwareProfile]:
        """The machines that records are about, by the id that briefs name."""
        return self._store.hardware(strict=False)

    def vectors(
        self, encoder: str, fingerprints: Sequence[str] | None = None
    ) -> Iterator[tuple[list[str], np.ndarray]]:
        """Nests with one encoder's vectors, shape ``(n, d)``, some thousands at a time: of all
        nests, or of some."""
        for names, vectors, _ in self._store.vectors(encoder, fingerprints):
            yield names, vectors

    def embedding(self, fingerprint: str, encoder: str) -> Embedding | None:
        """What one encoder made of a nest, or None."""
        return self._store.embeddings([fingerprint], encoder).get(fingerprint)

    def encoders(self) -> list[str]:
        """The encoders whose vectors the book has, those of most nests first."""
        return list(self._store.encoders())

    def without_embedding(self, encoder: str) -> Iterator[tuple[str, str]]:
        """Fingerprint and nest JSON of each nest that an encoder has yet to embed."""
        by_nest = self._loaded.current().by_nest
        for fingerprint in sorted(by_nest.keys() - self._store.embedded(encoder)):
            for record in self._loaded.records([by_nest[fingerprint][0].id]):
                yield fingerprint, record.nest_json

    def misses(self) -> list[Miss]:
        """Nests asked for in vain, the most asked for first."""
        return self._store.misses()

    # The book as a whole

    def info(self) -> dict[str, Any]:
        """What is in the book, as JSON-ready figures."""
        return _whole.info(self._store)

    def verify(self) -> list[str]:
        """Check the file, every record and every embedding; one line for each fault found."""
        return _whole.faults(self._store)

    def export(self, path: str | Path) -> int:
        """Write all records with embeddings as JSON lines, compressed if it ends in ``.gz``.

        Returns:
            How many records were written.
        """
        return write_lines(Path(path), self._items())

    def pack(self, path: str | Path) -> None:
        """Write the book as one compact file to ship read-only, without misses."""
        self._store.pack(path)

    def _items(self, check: Check | None = None) -> Iterator[tuple[Record, list[Embedding]]]:
        encoders = list(self._store.encoders())
        for record in self.records():
            if check is not None:
                check(record)
            found = (self.embedding(record.fingerprint, encoder) for encoder in encoders)
            yield record, [embedding for embedding in found if embedding is not None]
