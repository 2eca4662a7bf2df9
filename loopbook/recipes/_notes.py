"""Notes beside records: what others have worked out from a record and would else work out again.

What a note says is its writer's business. It follows from the record and from the writer's version
alone, so notes of other versions are not read, and those that are damaged, or not there, are no
loss. A book may come without any: their table is not part of the layout's version.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import sqlalchemy as sa

from loopbook.recipes._insert import WANTED, batches
from loopbook.recipes.schema import NOTES

if TYPE_CHECKING:
    from loopbook.recipes.connect import Database

_CHECK = 4

_NOTES_OF = (
    sa.select(NOTES.c.id, NOTES.c.body)
    .where(NOTES.c.version == sa.bindparam("version"))
    .where(NOTES.c.id.in_(WANTED))
)


class Notes:
    """The notes of one book."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._present: bool | None = None

    def read(self, ids: Iterable[str], version: str) -> dict[str, bytes]:
        """The notes of one version about records of these ids.

        Whether the book has notes at all is found out once: they mostly come with it, or never.
        """
        found = {}
        with self._database.reading() as connection:
            if self._present is None:
                self._present = _present(connection)
            for batch in batches(ids if self._present else ()):
                asked = {"version": version, WANTED.key: batch}
                for name, body in connection.execute(_NOTES_OF, asked):
                    # SQLite keeps whatever it was given, damage included.
                    if isinstance(body, bytes) and body[:_CHECK] == _check(body[_CHECK:]):
                        found[name] = body[_CHECK:]
        return found

    def write(self, notes: Mapping[str, bytes], version: str) -> None:
        """Put notes in the place of those that there are about the same records."""
        with self._database.writing() as connection:
            NOTES.create(connection, checkfirst=True)
            for batch in batches(notes):
                connection.execute(sa.delete(NOTES).where(NOTES.c.id.in_(batch)))
                rows = [
                    {"id": name, "version": version, "body": _check(notes[name]) + notes[name]}
                    for name in batch
                ]
                connection.execute(sa.insert(NOTES), rows)
        self._present = True


def remove_note(connection: sa.Connection, name: str) -> None:
    """Drop the note about one record, if there is one."""
    if _present(connection):
        connection.execute(sa.delete(NOTES).where(NOTES.c.id == name))


def _present(connection: sa.Connection) -> bool:
    return sa.inspect(connection).has_table(NOTES.name)


def _check(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_CHECK, "little")
