"""Records and embeddings as rows of a SQL database.

A :class:`Store` knows rows and transactions; what is near to what is the book's business. Every
method that changes something is one transaction.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from loopbook.errors import BookError, InputError
from loopbook.recipes import schema
from loopbook.recipes.connect import Database, open_database
from loopbook.recipes.connect import pack as pack_database
from loopbook.recipes.embedding import Embedding, from_bytes, to_bytes
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import MAX_NEST, Measurement, Provenance, Record
from loopbook.recipes.schema import EMBEDDINGS, HARDWARE, MISSES, NESTS, RECORDS

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
        self._database.engine.dispose()

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
                new += _insert_record(connection, record)
                for embedding in embeddings:
                    changed += _put_embedding(connection, record.fingerprint, embedding)
            if new or changed:
                schema.write_meta(connection, "stamp", schema.new_stamp())
        return new

    def add_embeddings(self, items: Iterable[tuple[str, Embedding]]) -> None:
        """Add or replace embeddings by fingerprint: all or, on any error, none."""
        with self._database.writing() as connection:
            for fingerprint, embedding in items:
                _put_embedding(connection, fingerprint, embedding)
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
        with _readable(self.name):
            for entry in entries:
                if [type(value) for value in entry] != _ENTRY_TYPES:
                    raise InputError(f"the row of record {entry.id!a} can't be read")
        return entries

    def hardware(self) -> dict[str, HardwareProfile]:
        """All hardware profiles by their id."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(HARDWARE.c.id, HARDWARE.c.body)).all()
        with _readable(self.name):
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
                    found[row.id] = _record(self.name, row)
        return found

    def embeddings(self, fingerprints: Sequence[str], encoder: str) -> dict[str, Embedding]:
        """One encoder's embeddings of these nests; nests without one are left out."""
        query = sa.select(EMBEDDINGS).where(EMBEDDINGS.c.encoder == encoder)
        found: dict[str, Embedding] = {}
        with self._database.reading() as connection:
            for batch in _batches(fingerprints):
                for row in connection.execute(query.where(EMBEDDINGS.c.fingerprint.in_(batch))):
                    found[row.fingerprint] = _embedding(self.name, row)
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
        with _readable(self.name):
            data = b"".join(row.nest for row in rows)
            return (
                stamp,
                [row.fingerprint for row in rows],
                from_bytes(data, len(rows), rows[0].dimension),
            )

    def encoders(self) -> dict[str, int]:
        """How many nests each encoder has embedded, most first."""
        count = sa.func.count()
        query = sa.select(EMBEDDINGS.c.encoder, count).group_by(EMBEDDINGS.c.encoder)
        with self._database.reading() as connection:
            rows = connection.execute(query.order_by(count.desc(), EMBEDDINGS.c.encoder)).all()
        return {row[0]: row[1] for row in rows}

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
        """Write one compact file to ship read-only; see :func:`loopbook.recipes.connect.pack`."""
        pack_database(self._database, Path(target))


class _readable:
    """A row that can't be read back is damage to the book, not bad input."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (InputError, ValueError, TypeError, KeyError, zlib.error)):
            raise BookError(f"book {self.name} is damaged: {error}") from error


def _insert_record(connection: sa.Connection, record: Record) -> bool:
    if connection.execute(sa.select(RECORDS.c.id).where(RECORDS.c.id == record.id)).first():
        return False
    profile = json.dumps(record.hardware.to_json(), sort_keys=True)
    hardware = {"id": _digest(profile), "key": record.hardware.key, "body": profile}
    nest = {
        "id": _digest(record.nest_json),
        "body": zlib.compress(record.nest_json.encode("utf-8"), 9),
    }
    for table, values in ((HARDWARE, hardware), (NESTS, nest)):
        there = sa.select(table.c.id).where(table.c.id == values["id"])
        if not connection.execute(there).first():
            connection.execute(sa.insert(table).values(values))
    connection.execute(
        sa.insert(RECORDS).values(
            id=record.id,
            fingerprint=record.fingerprint,
            nest_id=nest["id"],
            hardware_id=hardware["id"],
            nest=record.nest,
            kernel=record.kernel,
            target=record.target,
            recipe=record.recipe.text(),
            measurements=json.dumps([one.to_json() for one in record.measurements]),
            provenance=json.dumps(record.provenance.to_json()),
            speedup=record.speedup,
        )
    )
    return True


def _put_embedding(connection: sa.Connection, fingerprint: str, embedding: Embedding) -> bool:
    """Write one embedding; False if that very one is there."""
    if not embedding.is_finite():
        raise InputError(f"the embedding of nest {fingerprint} holds NaN or infinity")
    same_encoder = EMBEDDINGS.c.encoder == embedding.encoder
    sizes = sa.select(EMBEDDINGS.c.dimension).where(same_encoder).limit(1)
    dimension = connection.execute(sizes).scalar()
    if dimension not in (None, embedding.dimension):
        raise InputError(
            f"encoder {embedding.encoder} gave vectors of {dimension} numbers before, "
            f"not {embedding.dimension}: give the new encoder another name"
        )
    row = {
        "fingerprint": fingerprint,
        "encoder": embedding.encoder,
        "dimension": embedding.dimension,
        "nest": to_bytes(embedding.nest),
        "loops": to_bytes(embedding.loops),
        "containers": to_bytes(embedding.containers),
        "names": json.dumps([embedding.loop_names, embedding.container_names]),
    }
    where = (EMBEDDINGS.c.fingerprint == fingerprint) & same_encoder
    there = connection.execute(sa.select(EMBEDDINGS).where(where)).first()
    if there is not None and dict(there._mapping) == row:
        return False
    connection.execute(sa.delete(EMBEDDINGS).where(where))
    connection.execute(sa.insert(EMBEDDINGS).values(row))
    return True


def _record(book: str, row: Any) -> Record:
    with _readable(book):
        # A bound, so that a damaged or hostile row can't fill the memory.
        inflate = zlib.decompressobj()
        body = inflate.decompress(row.body, 4 * MAX_NEST)
        if inflate.unconsumed_tail or not inflate.eof:
            raise InputError(f"the nest of record {row.id} can't be unpacked")
        record = Record(
            fingerprint=row.fingerprint,
            nest=row.nest,
            nest_json=body.decode("utf-8"),
            target=row.target,
            hardware=HardwareProfile.from_json(json.loads(row.hardware)),
            recipe=Recipe.parse(row.recipe),
            measurements=tuple(Measurement.from_json(m) for m in json.loads(row.measurements)),
            provenance=Provenance.from_json(json.loads(row.provenance)),
        )
        if record.id != row.id:
            raise InputError(f"record {row.id} differs from what was written")
        return record


def _embedding(book: str, row: Any) -> Embedding:
    with _readable(book):
        loops, containers = json.loads(row.names)
        return Embedding(
            row.encoder,
            from_bytes(row.nest, 1, row.dimension)[0],
            from_bytes(row.loops, len(loops), row.dimension),
            from_bytes(row.containers, len(containers), row.dimension),
            tuple(loops),
            tuple(containers),
        )


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:32]


def _batches(values: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), _BATCH):
        yield list(values[start : start + _BATCH])
