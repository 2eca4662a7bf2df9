"""Removes records from the tables of a book."""

from __future__ import annotations

import sqlalchemy as sa

from loopbook.recipes import _digests, _log
from loopbook.recipes._notes import remove_note
from loopbook.recipes.schema import EMBEDDINGS, HARDWARE, NESTS, RECORDS


def delete_record(connection: sa.Connection, record_id: str) -> bool:
    """Remove a record and what only it used; False if there is none of that id."""
    chosen = sa.select(RECORDS).where(RECORDS.c.id == record_id)
    row = connection.execute(chosen).first()
    if row is None:
        return False
    connection.execute(sa.delete(RECORDS).where(RECORDS.c.id == record_id))
    fingerprint = row._mapping["fingerprint"]
    owned = EMBEDDINGS.c.fingerprint == fingerprint
    vectors = connection.execute(
        sa.select(EMBEDDINGS.c.encoder, EMBEDDINGS.c.digest).where(owned)
    ).all()
    for column, own in (
        (RECORDS.c.nest_id, NESTS.c.id),
        (RECORDS.c.hardware_id, HARDWARE.c.id),
        (RECORDS.c.fingerprint, EMBEDDINGS.c.fingerprint),
    ):
        value = row._mapping[column.name]
        if not connection.execute(sa.select(column).where(column == value).limit(1)).all():
            connection.execute(sa.delete(own.table).where(own == value))
            if own.table is EMBEDDINGS:
                for encoder, digest in vectors:
                    _digests.note_vectors(connection, encoder, removed=[digest])
    remove_note(connection, record_id)
    _digests.note_records(connection, removed=[row._mapping["digest"]])
    _log.note(connection, [fingerprint], [fingerprint])
    return True
