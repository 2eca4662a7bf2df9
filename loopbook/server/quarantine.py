"""Contributed records that wait: nobody is served one before it is promoted.

A record gets out by an administrator's word, or when somebody else, with another token, has
measured the same recipe on the same nest and found it to gain too: then both are promoted.
"""

from __future__ import annotations

import json
import zlib
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from loopbook.errors import BookError, InputError, OverloadError
from loopbook.recipes.book import Book
from loopbook.recipes.connect import Database
from loopbook.recipes.embedding import Embedding
from loopbook.recipes.record import MAX_NEST, Record
from loopbook.server.tables import QUARANTINE

KNOWN, WAITING, PROMOTED = "known", "quarantine", "promoted"
"""What becomes of a contributed record."""

GAINS = 1.02
"""A recipe that is less than this much faster may as well gain nothing."""

MOST = 100_000
"""Records that may wait at the same time."""

MOST_OF_ONE = 10_000
"""Records of one contributor that may."""


class Waiting(NamedTuple):
    """A record in quarantine.

    Attributes:
        contributor: id of the token that it came with.
        received: ISO 8601 in UTC.
    """

    id: str
    fingerprint: str
    target: str
    recipe: str
    speedup: float
    contributor: str
    received: str


class Quarantine:
    """The records that wait in one database, and the book that they get into."""

    def __init__(self, database: Database, book: Book) -> None:
        self._database = database
        self._book = book

    def receive(self, record: Record, embedding: Embedding, contributor: str) -> str:
        """Take a checked record in, for good once this returns.

        Returns:
            `KNOWN` if it is here or in the book already, `WAITING`, or `PROMOTED` if it confirms
            one that waited.

        Raises:
            OverloadError: too many wait already.
        """
        if self._book.record(record.id) is not None:
            return KNOWN
        if self._holds(record.id):
            return KNOWN
        same = self._confirmed_by(record, contributor)
        if same:
            self._book.add(record, embedding)
            for one in same:
                self.promote(one)
            return PROMOTED
        body = json.dumps({"record": record.to_json(), "embedding": embedding.to_json()})
        row = {
            "id": record.id,
            "fingerprint": record.fingerprint,
            "target": record.target,
            "recipe": record.recipe.text(),
            "speedup": record.speedup,
            "contributor": contributor,
            "received": datetime.now(UTC).isoformat(timespec="seconds"),
            "body": zlib.compress(body.encode()),
        }
        there = sa.select(QUARANTINE.c.id).where(QUARANTINE.c.id == record.id)
        count = sa.select(sa.func.count()).select_from(QUARANTINE)
        with self._database.writing() as connection:
            if connection.execute(there).first():
                return KNOWN
            own = count.where(QUARANTINE.c.contributor == contributor)
            if (connection.execute(count).scalar() or 0) >= MOST:
                raise OverloadError("too many records wait for being measured again")
            if (connection.execute(own).scalar() or 0) >= MOST_OF_ONE:
                raise OverloadError("too many records of yours wait for being measured again")
            connection.execute(sa.insert(QUARANTINE).values(row))
        return WAITING

    def all(self, limit: int = 1000) -> list[Waiting]:
        """Records that wait, oldest first."""
        columns = [QUARANTINE.c[name] for name in Waiting._fields]
        query = sa.select(*columns).order_by(QUARANTINE.c.received, QUARANTINE.c.id).limit(limit)
        with self._database.reading() as connection:
            return [Waiting(*row) for row in connection.execute(query)]

    def record(self, record_id: str) -> Record | None:
        """The record of this id, if it waits."""
        found = self._read(record_id)
        return None if found is None else found[0]

    def promote(self, record_id: str) -> bool:
        """Move a record into the book; False if none of that id waits."""
        found = self._read(record_id)
        if found is None:
            return False
        record, embedding = found
        # First in, then out: whatever happens in between, the record is not lost.
        self._book.add(record, embedding)
        self.reject(record_id)
        return True

    def reject(self, record_id: str) -> bool:
        """Throw a record away; False if none of that id waits."""
        with self._database.writing() as connection:
            gone = sa.delete(QUARANTINE).where(QUARANTINE.c.id == record_id)
            return connection.execute(gone).rowcount > 0

    def _read(self, record_id: str) -> tuple[Record, Embedding] | None:
        body = sa.select(QUARANTINE.c.body).where(QUARANTINE.c.id == record_id)
        with self._database.reading() as connection:
            found = connection.execute(body).scalar()
        return None if found is None else _unpacked(record_id, found)

    def _holds(self, record_id: str) -> bool:
        query = sa.select(QUARANTINE.c.id).where(QUARANTINE.c.id == record_id)
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def _confirmed_by(self, record: Record, contributor: str) -> list[str]:
        """Records that wait of which this is a second measurement."""
        if not contributor or record.speedup <= GAINS:
            return []
        query = sa.select(QUARANTINE.c.id).where(
            (QUARANTINE.c.fingerprint == record.fingerprint)
            & (QUARANTINE.c.target == record.target)
            & (QUARANTINE.c.recipe == record.recipe.text())
            & (QUARANTINE.c.speedup > GAINS)
            & (QUARANTINE.c.contributor != contributor)
        )
        with self._database.reading() as connection:
            return [str(row.id) for row in connection.execute(query)]


def _unpacked(record_id: str, body: bytes) -> tuple[Record, Embedding]:
    try:
        inflate = zlib.decompressobj()
        told: dict[str, Any] = json.loads(inflate.decompress(body, 8 * MAX_NEST))
        return Record.from_json(told["record"]), Embedding.from_json(told["embedding"])
    except (zlib.error, ValueError, KeyError, TypeError, InputError) as error:
        raise BookError(f"record {record_id} in quarantine is damaged: {error}") from None
