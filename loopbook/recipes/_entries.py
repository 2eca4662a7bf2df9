"""Reading all records, or those of some nests, shortly, with a look at what is damaged of them."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from loopbook.recipes import _digests
from loopbook.recipes._damage import Damage
from loopbook.recipes._digests import Total
from loopbook.recipes._insert import batches
from loopbook.recipes._rows import ENTRY_TYPES, Entry
from loopbook.recipes.connect import Database
from loopbook.recipes.schema import RECORDS


def entries_of(
    database: Database, damage: Damage, fingerprints: Sequence[str] | None, *, strict: bool
) -> list[Entry]:
    """See `loopbook.recipes.store.Store.entries`."""
    query = sa.select(*(RECORDS.c[name] for name in Entry._fields), RECORDS.c.digest)
    total = None
    with database.reading() as connection:
        if fingerprints is None:
            rows = connection.execute(query.order_by(RECORDS.c.id)).all()
            total = _digests.total(connection, _digests.RECORDS_KEY) or Total(0, 0)
        else:
            found = (
                connection.execute(query.where(RECORDS.c.fingerprint.in_(batch))).all()
                for batch in batches(fingerprints)
            )
            rows = sorted((row for part in found for row in part), key=lambda row: str(row[0]))
    entries = []
    for *values, digest in rows:
        if [type(value) for value in values] != ENTRY_TYPES:
            told = f"the row of record {values[0]!a} can't be read"
            damage.met(str(values[0]), told, strict=strict)
        elif _digests.of_entry(values) != digest:
            told = f"the row of record {values[0]!a} differs from what was written"
            damage.met(values[0], told, strict=strict)
        else:
            entries.append(Entry(*values))
    if total is not None:
        try:
            there = Total.of(row.digest for row in rows)
        except (ValueError, TypeError):
            there = None
        if there != total:
            told = f"records are missing or doubled: there should be {total.count}"
            damage.met("records", told, strict=strict)
    return entries
