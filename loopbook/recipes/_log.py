"""The book's log of changes: lets what is derived from the book catch up instead of starting anew.

A row for each transaction, from the stamp before it to the stamp after it. Rows form a chain; one
that doesn't lead from a reader's stamp to the book's tells nothing. So a loopbook that knows no
log may write to the book, and the log may be shortened at any time, and no change is ever missed.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import NamedTuple

import sqlalchemy as sa

from loopbook.recipes import schema
from loopbook.recipes.schema import CHANGES

_MAX_NESTS = 20_000
_MAX_TOTAL = 50_000
_MAX_ROWS = 4096
_PRUNE_EVERY = 64


class Changes(NamedTuple):
    """What changed up to a stamp, as fingerprints.

    Attributes:
        embedded: nests whose vectors are new, others or gone.
        recorded: nests with other records than before.
    """

    stamp: str
    embedded: set[str]
    recorded: set[str]


def note(connection: sa.Connection, embedded: Collection[str], recorded: Collection[str]) -> None:
    """Give the book a new stamp, and say what changed."""
    before = schema.read_meta(connection, "stamp") or ""
    stamp = schema.new_stamp()
    schema.write_meta(connection, "stamp", stamp)
    CHANGES.create(connection, checkfirst=True)
    count = len(embedded) + len(recorded)
    if count > _MAX_NESTS:
        # As good as everything. The chain breaks here, and readers start anew.
        connection.execute(sa.delete(CHANGES))
        return
    nests = json.dumps([sorted(embedded), sorted(recorded)])
    row = {"before": before, "stamp": stamp, "size": count, "nests": nests}
    done = connection.execute(sa.insert(CHANGES).values(row))
    key = done.inserted_primary_key
    if key is not None and key[0] % _PRUNE_EVERY == 0:
        _prune(connection)


def since(connection: sa.Connection, stamp: str) -> Changes | None:
    """What changed since a stamp; None if the log can't tell."""
    now = schema.read_meta(connection, "stamp") or ""
    changes = Changes(now, set(), set())
    if now == stamp:
        return changes
    if not sa.inspect(connection).has_table(CHANGES.name):
        return None
    first = connection.execute(
        sa.select(sa.func.max(CHANGES.c.seq)).where(CHANGES.c.before == stamp)
    ).scalar()
    if first is None:
        return None
    rows = sa.select(CHANGES).where(CHANGES.c.seq >= first).order_by(CHANGES.c.seq)
    for row in connection.execute(rows):
        try:
            embedded, recorded = json.loads(row.nests)
            changes.embedded.update(map(str, embedded))
            changes.recorded.update(map(str, recorded))
        except (ValueError, TypeError, RecursionError):
            return None
        if row.before != stamp:
            return None
        stamp = row.stamp
    return changes if stamp == now else None


def _prune(connection: sa.Connection) -> None:
    rows = sa.select(CHANGES.c.seq, CHANGES.c.size).order_by(CHANGES.c.seq.desc())
    total = 0
    for place, row in enumerate(connection.execute(rows).all()):
        # SQLite keeps whatever it was given, damage included.
        total += row.size if isinstance(row.size, int) else _MAX_TOTAL
        if place >= _MAX_ROWS or total > _MAX_TOTAL:
            connection.execute(sa.delete(CHANGES).where(CHANGES.c.seq <= row.seq))
            return
