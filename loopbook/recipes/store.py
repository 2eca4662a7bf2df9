"""Records and embeddings as rows of a SQL database.

A :class:`Store` knows rows and transactions; what is near to what is the book's business. Every
method that changes something is one transaction.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import sqlalchemy as sa

from loopbook.errors import BookError, InputError
from loopbook.recipes import _digests, _log, schema
from loopbook.recipes._briefs import Brief, briefs_of
from loopbook.recipes._damage import Damage
from loopbook.recipes._delete import delete_record
from loopbook.recipes._digests import Total
from loopbook.recipes._entries import entries_of
from loopbook.recipes._insert import BATCH, WANTED, batches, digest_of, insert_all, put_embeddings
from loopbook.recipes._log import Changes
from loopbook.recipes._misses import misses_of, note_miss
from loopbook.recipes._notes import Notes
from loopbook.recipes._respell import respell
from loopbook.recipes._rows import (
    Entry,
    Miss,
    embedding_of,
    readable,
    record_of,
    tags_of,
    words,
)
from loopbook.recipes._vectors import Rows, vectors_of
from loopbook.recipes.connect import Database, open_database
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.queue import Queue
from loopbook.recipes.record import Record
from loopbook.recipes.reports import Reports
from loopbook.recipes.schema import EMBEDDINGS, HARDWARE, NESTS, RECORDS
from loopbook.recipes.sqlite_file import pack
from loopbook.recipes.tasks import TUNE, Ask, Ending, Lease, Wanted

T = TypeVar("T")

_ID = 32

# Put together once: SQLAlchemy takes longer to understand a query than SQLite to answer it.
_RECORDS_OF = (
    sa.select(RECORDS, NESTS.c.body, HARDWARE.c.body.label("hardware"))
    .join(NESTS, NESTS.c.id == RECORDS.c.nest_id)
    .join(HARDWARE, HARDWARE.c.id == RECORDS.c.hardware_id)
    .where(RECORDS.c.id.in_(WANTED))
)
_EMBEDDINGS_OF = (
    sa.select(EMBEDDINGS)
    .where(EMBEDDINGS.c.encoder == sa.bindparam("encoder"))
    .where(EMBEDDINGS.c.fingerprint.in_(WANTED))
)


class Store:
    """The rows of one book. Safe to share between threads; open a new one after a fork.

    Whoever reads says whether a damaged row is an error (``strict``) or is left out and noted.

    Attributes:
        damage: what was left out so far.
        notes: what others have worked out from the records.
        queue: of work to do on the book.
        reports: of how its recipes did where they ran.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.damage = Damage(database.name)
        self.notes = Notes(database)
        self.queue = Queue(database)
        self.reports = Reports(database)

    @classmethod
    def open(cls, location: str | Path, *, readonly: bool = False, busy_s: float = 10.0) -> Store:
        """Open the book at a path or URL.

        Args:
            location: path of a SQLite file, created if missing, or a SQLAlchemy URL.
            readonly: refuse all writes, and a missing file. A file that can't be written is
                opened so anyway.
            busy_s: how long to wait, in seconds, while another process writes.

        Raises:
            BookError: it can't be opened, and why.
        """
        return cls(open_database(location, readonly=readonly, busy_s=busy_s))

    @property
    def name(self) -> str:
        """Path or URL, for people."""
        return self._database.name

    @property
    def path(self) -> Path | None:
        """The SQLite file; None for a server."""
        return self._database.path

    @property
    def readonly(self) -> bool:
        return self._database.readonly

    def afresh(self) -> Store:
        """The same rows, with no damage met so far."""
        return Store(self._database)

    def close(self) -> None:
        """Release the file; the store can't be used any more."""
        self._database.close()

    def stamp(self) -> str:
        """A word that changes whenever records or embeddings do."""
        value = self._database.peek(schema.STAMP)
        return value if isinstance(value, str) else ""  # a damaged file may hold anything

    # Writing

    def add(self, items: Iterable[tuple[Record, Iterable[Embedding]]]) -> int:
        """Add records with the embeddings of their nests: all or, on any error, none.

        Records already there are left alone; an embedding replaces the one of that encoder.

        Returns:
            How many records are new.
        """
        with self._database.writing() as connection:
            return len(insert_all(connection, items))

    def conclude(self, lease: Lease, items: Iterable[tuple[Record, Iterable[Embedding]]]) -> Ending:
        """Add what came of a task and end it: both, or neither where the lease is lost or on any
        error."""
        self.queue.prepare()
        listed = [(record, list(vectors)) for record, vectors in items]
        ids = [record.id for record, _ in listed]
        with self._database.writing() as connection:
            ending = self.queue.close(connection, lease, ids, self.queue.time(connection))
            if ending.changed:
                insert_all(connection, listed)
            return ending

    def add_embeddings(self, items: Iterable[tuple[str, Embedding]]) -> None:
        """Add or replace embeddings by fingerprint: all or, on any error, none."""
        embedded: set[str] = set()
        with self._database.writing() as connection:
            for batch in batches(items):
                embedded |= put_embeddings(connection, batch)
            if embedded:
                _log.note(connection, embedded, ())

    def forget_encoder(self, encoder: str) -> int:
        """Remove all embeddings of one encoder; returns how many there were."""
        own = EMBEDDINGS.c.encoder == encoder
        with self._database.writing() as connection:
            rows = connection.execute(sa.select(EMBEDDINGS.c.fingerprint).where(own)).all()
            gone = words(self.name, (row.fingerprint for row in rows))
            if gone:
                connection.execute(sa.delete(EMBEDDINGS).where(own))
                _digests.keep(connection, _digests.vectors_key(encoder), Total(0, 0))
                _log.note(connection, set(gone), ())
        return len(gone)

    def delete(self, record_id: str) -> bool:
        """Remove a record and what only it used; False if there is none of that id."""
        with self._database.writing() as connection:
            return delete_record(connection, record_id)

    def respell(self) -> int:
        """Write all records as they are written today; returns how many were written otherwise."""
        with self._database.writing() as connection:
            return respell(connection)

    def note_miss(
        self,
        fingerprint: str,
        target: str,
        hardware_key: str,
        nest: str = "",
        count: int = 1,
        wanted: Wanted | None = None,
    ) -> None:
        """Count one more time, or `count`, that a nest was asked for in vain; see
        :meth:`loopbook.recipes.book.Book.note_miss`."""
        ask = Ask(TUNE, fingerprint, target, hardware_key, "", count, wanted or Wanted())
        note_miss(self._database, self.queue, ask, nest)

    # Reading

    def changes_since(self, stamp: str) -> Changes | None:
        """What changed since the book had this stamp; None if that is no longer known."""
        with self._database.reading() as connection, readable(self.name):
            return _log.since(connection, stamp)

    def entries(
        self, fingerprints: Sequence[str] | None = None, *, strict: bool = True
    ) -> list[Entry]:
        """All records, or those of some nests, shortly, in order of id."""
        return entries_of(self._database, self.damage, fingerprints, strict=strict)

    def briefs(self) -> list[Brief]:
        """All records in brief; see `loopbook.recipes._briefs`."""
        return briefs_of(self._database, self.damage)

    def hardware(self, *, strict: bool = True) -> dict[str, HardwareProfile]:
        """All hardware profiles by their id."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(HARDWARE.c.id, HARDWARE.c.body)).all()
        found = {}
        for row in rows:
            try:
                with readable(self.name):
                    # Books of the first layouts may have other ids.
                    if len(row.id) == _ID and digest_of(row.body) != row.id:
                        raise InputError("it differs from what was written")
                    found[row.id] = HardwareProfile.from_json(json.loads(row.body))
            except BookError:
                told = f"the machine {row.id!a} can't be read"
                self.damage.met(f"machine {row.id!a}", told, strict=strict)
        return found

    def records(self, ids: Sequence[str], *, strict: bool = True) -> dict[str, Record]:
        """The records of these ids; ids without a record are left out.

        Raises:
            BookError: a row can't be read, or differs from what was written.
        """
        return self._made(_RECORDS_OF, "id", ids, record_of, "{}", strict)

    def ids(self, after: str = "", limit: int = BATCH, target: str | None = None) -> list[str]:
        """The first ids of records behind `after`, in order: for reading a book page by page."""
        query = sa.select(RECORDS.c.id).where(RECORDS.c.id > after)
        if target is not None:
            query = query.where(RECORDS.c.target == target)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(RECORDS.c.id).limit(limit)).all()
        return words(self.name, (row.id for row in rows))

    def count(self) -> int:
        """How many records there are."""
        with self._database.reading() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(RECORDS)).scalar() or 0

    def embeddings(
        self, fingerprints: Sequence[str], encoder: str, *, strict: bool = True
    ) -> dict[str, Embedding]:
        """One encoder's embeddings of these nests; nests without one are left out."""
        named, more = "vector of {}", {"encoder": encoder}
        return self._made(
            _EMBEDDINGS_OF, "fingerprint", fingerprints, embedding_of, named, strict, more
        )

    def _made(
        self,
        query: sa.Select,
        key: str,
        values: Sequence[str],
        make: Callable[[str, Any], T],
        named: str,
        strict: bool,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, T]:
        """What `make` makes of the rows that a query finds for some values of `WANTED`, by value.

        Args:
            key: the column that has the values.
            named: what damage calls a row.
            more: the query's other parameters.
        """
        found: dict[str, T] = {}
        with self._database.reading() as connection:
            for batch in batches(values):
                for row in connection.execute(query, {WANTED.key: batch, **more}):
                    own = row._mapping[key]
                    try:
                        found[own] = make(self.name, row)
                    except BookError as error:
                        if strict:
                            raise
                        self.damage.met(named.format(own), str(error.__cause__), strict=False)
        return found

    def all_embeddings(self, fingerprints: Sequence[str]) -> dict[str, list[Embedding]]:
        """What all encoders made of these nests; nests without any are left out."""
        query = sa.select(EMBEDDINGS).order_by(EMBEDDINGS.c.encoder)
        found: defaultdict[str, list[Embedding]] = defaultdict(list)
        with self._database.reading() as connection:
            for batch in batches(fingerprints):
                for row in connection.execute(query.where(EMBEDDINGS.c.fingerprint.in_(batch))):
                    found[row.fingerprint].append(embedding_of(self.name, row))
        return dict(found)

    def vectors(self, encoder: str, fingerprints: Sequence[str] | None = None) -> Iterator[Rows]:
        """The nest vectors of one encoder, or those of some nests; some thousands at a time. What
        is damaged is left out and noted.

        Yields:
            Fingerprints, their vectors, shape ``(n, d)``, and for each what its records are for.
            Each batch is read by itself: changes in between may or may not show.
        """
        return vectors_of(self._database, self.damage, encoder, fingerprints)

    def tags(self, fingerprints: Sequence[str]) -> dict[str, frozenset[tuple[str, str]]]:
        """For each nest with records, what they are for: target and id of the hardware."""
        with self._database.reading() as connection:
            return tags_of(connection, fingerprints)

    def embedded(self, encoder: str) -> set[str]:
        """The nests that an encoder has embedded."""
        query = sa.select(EMBEDDINGS.c.fingerprint).where(EMBEDDINGS.c.encoder == encoder)
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return set(words(self.name, (row.fingerprint for row in rows)))

    def encoders(self, *, strict: bool = True) -> dict[str, int]:
        """How many nests each encoder has embedded, most first."""
        count = sa.func.count()
        query = sa.select(EMBEDDINGS.c.encoder, count).group_by(EMBEDDINGS.c.encoder)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(count.desc(), EMBEDDINGS.c.encoder)).all()
            totals = _digests.totals_of_vectors(connection)
        names = words(self.name, (row[0] for row in rows))
        found = {name: row[1] for name, row in zip(names, rows, strict=True)}
        if {_digests.vectors_key(name): count for name, count in found.items()} != totals:
            told = "embeddings are missing or doubled"
            self.damage.met("embeddings", told, strict=strict)
        return found

    def encoders_now(self, before: list[str], changed: Sequence[str]) -> list[str]:
        """The encoders after embeddings of some nests have changed, without counting them all."""
        encoder = EMBEDDINGS.c.encoder
        found: set[str] = set()
        with self._database.reading() as connection:
            for batch in batches(changed):
                nests = EMBEDDINGS.c.fingerprint.in_(batch)
                rows = connection.execute(sa.select(encoder).distinct().where(nests)).all()
                found.update(words(self.name, (row[0] for row in rows)))
            kept = [
                one
                for one in before
                if one in found
                or connection.execute(sa.select(encoder).where(encoder == one).limit(1)).first()
            ]
        return kept + sorted(found.difference(before))

    def misses(self) -> list[Miss]:
        """All misses, the most asked for first."""
        return misses_of(self._database)

    def faults(self) -> list[str]:
        """What SQLite finds wrong with its file and the references between rows."""
        if self.path is None:
            return []
        with self._database.reading() as connection:
            found = [row[0] for row in connection.exec_driver_sql("PRAGMA quick_check")]
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        lines = [line for text in found if text != "ok" for line in str(text).splitlines()]
        return lines + [f"a row of {row[0]} refers to a row of {row[2]} gone" for row in broken]

    def pack(self, target: str | Path) -> None:
        """Write one compact file to ship read-only; see
        :func:`loopbook.recipes.sqlite_file.pack`.

        Raises:
            BookError: the book is no file, or the target can't be written.
        """
        if self.path is None:
            raise BookError(f"book {self.name} is no file: export it, import that into a file")
        pack(self._database.engine, Path(target))
