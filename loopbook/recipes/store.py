"""Records and embeddings as rows of a SQL database.

A :class:`Store` knows rows and transactions; what is near to what is the book's business. Every
method that changes something is one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from loopbook.errors import BookError, InputError
from loopbook.recipes import schema
from loopbook.recipes._rows import embedding_of, insert_record, put_embedding, readable, record_of
from loopbook.recipes.connect import Database, open_database
from loopbook.recipes.embedding import Embedding, from_bytes
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.record import Record
from loopbook.recipes.schema import EMBEDDINGS, HARDWARE, MISSES, NESTS, RECORDS
from loopbook.recipes.sqlite_file import pack

# SQLite takes 999 variables in one statement in its oldest form still around.
_BATCH = 500


class Entry(NamedTuple):
    """What ranking needs of a record, without its nest and measurements."""

    id: str
    fingerprint: str
    target: str
    kernel: str
    hardware_id: str
    speedup: float
    recipe: str


_ENTRY_TYPES = [str, str, str, str, str, float, str]


class Miss(NamedTuple):
    """A nest that was asked for and not found.

    Attributes:
        count: how often it was asked for.
        last_seen: when last, ISO 8601 in UTC.
    """

    fingerprint: str
    target: str
    hardware_key: str
    nest: str
    count: int
    last_seen: str


class Store:
    """The rows of one book. Safe to share between threads; open a new one after a fork."""

    def __init__(self, database: Database) -> None:
        self._database = database

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

    def close(self) -> None:
        """Release the file; the store can't be used any more."""
        self._database.close()

    def stamp(self) -> str:
        """A word that changes whenever records or embeddings do."""
        with self._database.reading() as connection:
            return schema.read_meta(connection, "stamp") or ""

    # Writing

    def add(self, items: Iterable[tuple[Record, Iterable[Embedding]]]) -> int:
        """Add records with the embeddings of their nests: all or, on any error, none.

        Records already there are left alone; an embedding replaces the one of that encoder.

        Returns:
            How many records are new.
        """
        new = changed = 0
        with self._database.writing() as connection:
            for record, embeddings in items:
                new += insert_record(connection, record)
                for embedding in embeddings:
                    changed += put_embedding(connection, record.fingerprint, embedding)
            if new or changed:
                schema.write_meta(connection, "stamp", schema.new_stamp())
        return new

    def add_embeddings(self, items: Iterable[tuple[str, Embedding]]) -> None:
        """Add or replace embeddings by fingerprint: all or, on any error, none."""
        with self._database.writing() as connection:
            for fingerprint, embedding in items:
                put_embedding(connection, fingerprint, embedding)
            schema.write_meta(connection, "stamp", schema.new_stamp())

    def delete(self, record_id: str) -> bool:
        """Remove a record and what only it used; False if there is none of that id."""
        with self._database.writing() as connection:
            chosen = sa.select(RECORDS).where(RECORDS.c.id == record_id)
            row = connection.execute(chosen).first()
            if row is None:
                return False
            connection.execute(sa.delete(RECORDS).where(RECORDS.c.id == record_id))
            for column, own in (
                (RECORDS.c.nest_id, NESTS.c.id),
                (RECORDS.c.hardware_id, HARDWARE.c.id),
                (RECORDS.c.fingerprint, EMBEDDINGS.c.fingerprint),
            ):
                value = row._mapping[column.name]
                if not connection.execute(sa.select(column).where(column == value).limit(1)).all():
                    connection.execute(sa.delete(own.table).where(own == value))
            schema.write_meta(connection, "stamp", schema.new_stamp())
        return True

    def note_miss(self, fingerprint: str, target: str, hardware_key: str, nest: str = "") -> None:
        """Count one more time that a nest was asked for in vain."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        where = (
            (MISSES.c.fingerprint == fingerprint)
            & (MISSES.c.target == target)
            & (MISSES.c.hardware_key == hardware_key)
        )
        with self._database.writing() as connection:
            changed = {"count": MISSES.c.count + 1, "last_seen": now}
            if connection.execute(sa.update(MISSES).where(where).values(changed)).rowcount == 0:
                row = Miss(fingerprint, target, hardware_key, nest, 1, now)
                connection.execute(sa.insert(MISSES).values(row._asdict()))

    # Reading

    def entries(self) -> list[Entry]:
        """All records, shortly, in order of id."""
        columns = [RECORDS.c[name] for name in Entry._fields]
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(*columns).order_by(RECORDS.c.id)).all()
        entries = [Entry(*row) for row in rows]
        with readable(self.name):
            for entry in entries:
                if [type(value) for value in entry] != _ENTRY_TYPES:
                    raise InputError(f"the row of record {entry.id!a} can't be read")
        return entries

    def hardware(self) -> dict[str, HardwareProfile]:
        """All hardware profiles by their id."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(HARDWARE.c.id, HARDWARE.c.body)).all()
        with readable(self.name):
            return {row.id: HardwareProfile.from_json(json.loads(row.body)) for row in rows}

    def records(self, ids: Sequence[str]) -> dict[str, Record]:
        """The records of these ids; ids without a record are left out.

        Raises:
            BookError: a row can't be read, or differs from what was written.
        """
        query = (
            sa.select(RECORDS, NESTS.c.body, HARDWARE.c.body.label("hardware"))
            .join(NESTS, NESTS.c.id == RECORDS.c.nest_id)
            .join(HARDWARE, HARDWARE.c.id == RECORDS.c.hardware_id)
        )
        found: dict[str, Record] = {}
        with self._database.reading() as connection:
            for batch in _batches(ids):
                for row in connection.execute(query.where(RECORDS.c.id.in_(batch))):
                    found[row.id] = record_of(self.name, row)
        return found

    def embeddings(self, fingerprints: Sequence[str], encoder: str) -> dict[str, Embedding]:
        """One encoder's embeddings of these nests; nests without one are left out."""
        query = sa.select(EMBEDDINGS).where(EMBEDDINGS.c.encoder == encoder)
        found: dict[str, Embedding] = {}
        with self._database.reading() as connection:
            for batch in _batches(fingerprints):
                for row in connection.execute(query.where(EMBEDDINGS.c.fingerprint.in_(batch))):
                    found[row.fingerprint] = embedding_of(self.name, row)
        return found

    def vectors(self, encoder: str) -> tuple[str, list[str], np.ndarray]:
        """All nest vectors of one encoder.

        Returns:
            The stamp of the state read, the fingerprints, and their vectors, shape ``(n, d)``.
        """
        query = (
            sa.select(EMBEDDINGS.c.fingerprint, EMBEDDINGS.c.dimension, EMBEDDINGS.c.nest)
            .where(EMBEDDINGS.c.encoder == encoder)
            .order_by(EMBEDDINGS.c.fingerprint)
        )
        with self._database.reading() as connection:
            stamp = schema.read_meta(connection, "stamp") or ""
            rows = connection.execute(query).all()
        if not rows:
            return stamp, [], np.zeros((0, 0), np.float32)
        fingerprints = _words(self.name, (row.fingerprint for row in rows))
        with readable(self.name):
            data = b"".join(row.nest for row in rows)
            return stamp, fingerprints, from_bytes(data, len(rows), rows[0].dimension)

    def encoders(self) -> dict[str, int]:
        """How many nests each encoder has embedded, most first."""
        count = sa.func.count()
        query = sa.select(EMBEDDINGS.c.encoder, count).group_by(EMBEDDINGS.c.encoder)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(count.desc(), EMBEDDINGS.c.encoder)).all()
        names = _words(self.name, (row[0] for row in rows))
        return {name: row[1] for name, row in zip(names, rows, strict=True)}

    def misses(self) -> list[Miss]:
        """All misses, the most asked for first."""
        columns = [MISSES.c[name] for name in Miss._fields]
        order = (MISSES.c.count.desc(), MISSES.c.fingerprint)
        with self._database.reading() as connection:
            return [Miss(*row) for row in connection.execute(sa.select(*columns).order_by(*order))]

    def damage(self) -> list[str]:
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


def _words(book: str, values: Iterable[Any]) -> list[str]:
    """The values, if they are text: SQLite keeps whatever it was given, damage included."""
    words = list(values)
    if not all(isinstance(word, str) for word in words):
        raise BookError(f"book {book} is damaged: a name is no text")
    return words


def _batches(values: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), _BATCH):
        yield list(values[start : start + _BATCH])
