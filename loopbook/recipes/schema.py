"""The tables of a book, and how books of older versions become new ones.

The SQL is plain enough for SQLite and PostgreSQL alike. To change the layout: change the tables
below, append a function to :data:`MIGRATIONS` that brings a book of the layout before to the new
one, and add a test that starts from the old layout written out as SQL.
"""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Callable

import sqlalchemy as sa

TABLES = sa.MetaData()

META = sa.Table(
    "meta",
    TABLES,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
"""``schema``: version of the layout. ``stamp``: a random word that each change of the records or
embeddings replaces, so that whoever keeps something derived can tell that it is stale.
``total …``: see :mod:`loopbook.recipes._digests`."""

NESTS = sa.Table(
    "nests",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""Nests as zlib-compressed SDFG JSON, by a hash of the text; many records share one."""

HARDWARE = sa.Table(
    "hardware",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)
"""Hardware profiles as JSON, by a hash of that."""

RECORDS = sa.Table(
    "records",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("fingerprint", sa.String(128), nullable=False, index=True),
    sa.Column("nest_id", sa.ForeignKey("nests.id"), nullable=False, index=True),
    sa.Column("hardware_id", sa.ForeignKey("hardware.id"), nullable=False, index=True),
    sa.Column("nest", sa.Text, nullable=False),
    sa.Column("kernel", sa.Text, nullable=False),
    sa.Column("target", sa.String(16), nullable=False),
    sa.Column("recipe", sa.Text, nullable=False),
    sa.Column("measurements", sa.Text, nullable=False),
    sa.Column("provenance", sa.Text, nullable=False),
    sa.Column("speedup", sa.Float(53), nullable=False, server_default=sa.text("1")),
    sa.Column("digest", sa.String(32), nullable=False),
)
"""``digest``: see :mod:`loopbook.recipes._digests`, here and below."""

EMBEDDINGS = sa.Table(
    "embeddings",
    TABLES,
    sa.Column("fingerprint", sa.String(128), primary_key=True),
    sa.Column("encoder", sa.String(128), primary_key=True),
    sa.Column("digest", sa.String(32), nullable=False),
    sa.Column("dimension", sa.Integer, nullable=False),
    sa.Column("nest", sa.LargeBinary, nullable=False),
    sa.Column("loops", sa.LargeBinary, nullable=False),
    sa.Column("containers", sa.LargeBinary, nullable=False),
    sa.Column("names", sa.Text, nullable=False),
)
"""Vectors as little-endian float32. ``names``: JSON ``[loop names, container names]``."""

MISSES = sa.Table(
    "misses",
    TABLES,
    sa.Column("fingerprint", sa.String(128), primary_key=True),
    sa.Column("target", sa.String(16), primary_key=True),
    sa.Column("hardware_key", sa.String(64), primary_key=True),
    sa.Column("nest", sa.Text, nullable=False),
    sa.Column("count", sa.Integer, nullable=False),
    sa.Column("last_seen", sa.String(32), nullable=False),
)
"""Nests that were asked for and not found: what to tune next."""

CHANGES = sa.Table(
    "changes",
    TABLES,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("before", sa.String(32), nullable=False, index=True),
    sa.Column("stamp", sa.String(32), nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("nests", sa.Text, nullable=False),
)
"""The latest changes: stamps before and after, and JSON ``[fingerprints whose embeddings changed,
fingerprints whose records changed]``. Not part of the layout's version: a book may come without,
gets it when it is next written to, and a loopbook that doesn't know it does no harm; see
:mod:`loopbook.recipes._log`."""

NOTES = sa.Table(
    "notes",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("version", sa.String(32), nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""What others have worked out from records, by the records' ids. Like `CHANGES` not part of the
layout's version; see :mod:`loopbook.recipes._notes`."""

TASKS = sa.Table(
    "tasks",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("key", sa.String(32), nullable=False, unique=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("fingerprint", sa.String(128), nullable=False),
    sa.Column("target", sa.String(16), nullable=False),
    sa.Column("hardware_key", sa.String(64), nullable=False),
    sa.Column("subject", sa.String(128), nullable=False),
    sa.Column("sizes", sa.Text, nullable=False),
    sa.Column("nest", sa.LargeBinary, nullable=False),
    sa.Column("nest_bytes", sa.Integer, nullable=False, index=True),
    sa.Column("asked", sa.BigInteger, nullable=False),
    sa.Column("asked_last", sa.Float(53), nullable=False),
    sa.Column("cost_s", sa.Float(53), nullable=False),
    sa.Column("gain", sa.Float(53), nullable=False),
    sa.Column("demand", sa.Float(53), nullable=False),
    sa.Column("raised", sa.Float(53), nullable=False),
    sa.Column("priority", sa.Float(53), nullable=False),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("lane", sa.String(128)),
    sa.Column("due", sa.Float(53), index=True),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("lost", sa.Integer, nullable=False, server_default="0"),
    sa.Column("lease", sa.String(32), nullable=False),
    sa.Column("worker", sa.Text, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("records", sa.Text, nullable=False),
    sa.Column("created", sa.Float(53), nullable=False),
    sa.Column("changed", sa.Float(53), nullable=False),
    sa.Index("ix_tasks_lane", "lane", "priority"),
)
"""The queue of work; see :mod:`loopbook.recipes.queue`. ``key``: hash of what is merged into one
task. ``nest``: zlib-compressed SDFG JSON, empty where none is needed any more. ``lane``: what a
worker has to be able to do, NULL while the task can't be leased. ``due``: when something happens by
itself: the end of a lease or of a pause; else NULL. Times are seconds since 1970. Like `CHANGES`
not part of the layout's version."""

REPORTS = sa.Table(
    "reports",
    TABLES,
    sa.Column("record", sa.String(32), primary_key=True),
    sa.Column("hardware_key", sa.String(64), primary_key=True),
    sa.Column("voice", sa.String(64), primary_key=True, index=True),
    sa.Column("trusted", sa.Integer, nullable=False),
    sa.Column("total", sa.BigInteger, nullable=False),
    sa.Column("times", sa.Integer, nullable=False),
    sa.Column("changed", sa.Float(53), nullable=False),
)
"""What one voice reports of one record on one class of hardware; see
:mod:`loopbook.recipes.reports`. ``times``: how often it reported. ``total``: of the log speedups,
in millionths, as whole numbers, whose sum is the same in any order. ``changed``: seconds since
1970. Like `CHANGES` not part of the layout's version."""

STANDINGS = sa.Table(
    "standings",
    TABLES,
    sa.Column("record", sa.String(32), primary_key=True),
    sa.Column("hardware_key", sa.String(64), primary_key=True),
    sa.Column("shift", sa.Float(53), nullable=False),
    sa.Column("lost", sa.Integer, nullable=False),
    sa.Column("changed", sa.Float(53), nullable=False),
)
"""What follows from reports: ``shift`` to add to a record's log speedup on such hardware, and
whether it is ``lost`` there, and not served. Like `CHANGES` not part of the layout's version."""


def _add_speedup_and_misses(connection: sa.Connection) -> None:
    """Version 1 kept the speedup only inside the measurements, and no misses."""
    connection.exec_driver_sql(
        "ALTER TABLE records ADD COLUMN speedup DOUBLE PRECISION DEFAULT 1 NOT NULL"
    )
    rows = connection.execute(sa.text("SELECT id, measurements FROM records")).all()
    for record_id, measurements in rows:
        ratios = [one["baseline_s"] / one["tuned_s"] for one in json.loads(measurements)]
        speedup = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 1.0
        connection.execute(
            sa.text("UPDATE records SET speedup = :speedup WHERE id = :id"),
            {"speedup": speedup, "id": record_id},
        )
    connection.exec_driver_sql(
        "CREATE TABLE misses (fingerprint VARCHAR(128) NOT NULL, target VARCHAR(16) NOT NULL,"
        " hardware_key VARCHAR(64) NOT NULL, nest TEXT NOT NULL, count INTEGER NOT NULL,"
        " last_seen VARCHAR(32) NOT NULL, PRIMARY KEY (fingerprint, target, hardware_key))"
    )


def _add_digests(connection: sa.Connection) -> None:
    """Version 2 had no hashes of rows, and no totals of them."""
    from loopbook.recipes import _digests

    for table in ("records", "embeddings"):
        connection.exec_driver_sql(
            f"ALTER TABLE {table} ADD COLUMN digest VARCHAR(32) DEFAULT '' NOT NULL"
        )
    _digests.fill(connection)


MIGRATIONS: list[Callable[[sa.Connection], None]] = [_add_speedup_and_misses, _add_digests]
"""Entry i brings a book of version i + 1 to version i + 2."""

VERSION = len(MIGRATIONS) + 1


def create(connection: sa.Connection) -> None:
    """Make the tables of an empty book."""
    TABLES.create_all(connection)
    rows = [{"key": "schema", "value": str(VERSION)}, {"key": "stamp", "value": new_stamp()}]
    connection.execute(sa.insert(META), rows)


def version(connection: sa.Connection) -> int:
    """The layout's version; 0 where there are no tables yet, -1 where there are foreign ones."""
    inspector = sa.inspect(connection)
    if not inspector.has_table("meta"):
        return -1 if inspector.has_table("records") else 0
    value = read_meta(connection, "schema")
    return int(value) if value is not None and value.isdecimal() else -1


def upgrade(connection: sa.Connection) -> None:
    """Bring an older book to :data:`VERSION`, inside the transaction that the caller opened."""
    for migrate in MIGRATIONS[version(connection) - 1 :]:
        migrate(connection)
    CHANGES.create(connection, checkfirst=True)
    NOTES.create(connection, checkfirst=True)
    TASKS.create(connection, checkfirst=True)
    REPORTS.create(connection, checkfirst=True)
    STANDINGS.create(connection, checkfirst=True)
    write_meta(connection, "schema", str(VERSION))
    write_meta(connection, "stamp", new_stamp())


def read_meta(connection: sa.Connection, key: str, *, lock: bool = False) -> str | None:
    """A value of the meta table; with ``lock``, other writers wait until the transaction ends."""
    query = sa.select(META.c.value).where(META.c.key == key)
    value = connection.execute(query.with_for_update() if lock else query).scalar()
    # SQLite keeps whatever type it was given, and a damaged file may hold any.
    return value if isinstance(value, str) else None


STAMP = "SELECT value FROM meta WHERE key = 'stamp'"
"""`read_meta` for the stamp, which is asked for at every look-up."""


def write_meta(connection: sa.Connection, key: str, value: str) -> None:
    connection.execute(sa.update(META).where(META.c.key == key).values(value=value))


def new_stamp() -> str:
    return uuid.uuid4().hex
