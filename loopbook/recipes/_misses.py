"""Nests that were asked for in vain: counted, and put into the queue of work."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

import sqlalchemy as sa

from loopbook.errors import OverloadError
from loopbook.recipes._rows import Miss
from loopbook.recipes.connect import Database
from loopbook.recipes.queue import Queue
from loopbook.recipes.schema import MISSES
from loopbook.recipes.tasks import Ask


def note_miss(database: Database, queue: Queue, ask: Ask, nest: str) -> None:
    """See :meth:`loopbook.recipes.book.Book.note_miss`."""
    queue.prepare()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    where = (
        (MISSES.c.fingerprint == ask.fingerprint)
        & (MISSES.c.target == ask.target)
        & (MISSES.c.hardware_key == ask.hardware_key)
    )
    with database.writing() as connection:
        changed = {"count": MISSES.c.count + ask.count, "last_seen": now}
        if connection.execute(sa.update(MISSES).where(where).values(changed)).rowcount == 0:
            row = Miss(ask.fingerprint, ask.target, ask.hardware_key, nest, ask.count, now)
            connection.execute(sa.insert(MISSES).values(row._asdict()))
        with suppress(OverloadError):  # with a full queue, it is a miss and no more
            queue.merge(connection, ask)


def misses_of(database: Database) -> list[Miss]:
    """All misses, the most asked for first."""
    columns = [MISSES.c[name] for name in Miss._fields]
    order = (MISSES.c.count.desc(), MISSES.c.fingerprint)
    with database.reading() as connection:
        return [Miss(*row) for row in connection.execute(sa.select(*columns).order_by(*order))]
