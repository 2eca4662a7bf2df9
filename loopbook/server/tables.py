"""The server's own tables, beside those of the book in the same database.

They come with the first server or token of a book, and are no part of the book's layout: a
loopbook that does not know them does no harm.
"""

from __future__ import annotations

import sqlalchemy as sa

from loopbook.recipes.connect import Database, open_database

TABLES = sa.MetaData()

TOKENS = sa.Table(
    "tokens",
    TABLES,
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("id", sa.String(16), nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("scopes", sa.Text, nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("expires", sa.String(32), nullable=False),
    sa.Column("revoked", sa.String(32), nullable=False),
)
"""Who may do what. ``digest``: SHA-256 of the token, which is kept nowhere. ``scopes``: words with
spaces between. Times are ISO 8601 in UTC, empty for never."""

QUARANTINE = sa.Table(
    "quarantine",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("fingerprint", sa.String(128), nullable=False),
    sa.Column("target", sa.String(16), nullable=False),
    sa.Column("recipe", sa.Text, nullable=False),
    sa.Column("speedup", sa.Float(53), nullable=False),
    sa.Column("contributor", sa.String(16), nullable=False),
    sa.Column("received", sa.String(32), nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
"""Contributed records that are not served yet. ``body``: zlib-compressed JSON of the record and its
embedding. ``contributor``: id of the token it came with."""

JUDGEMENTS = sa.Table(
    "judgements",
    TABLES,
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("record", sa.String(32), nullable=False, index=True),
    sa.Column("decision", sa.String(16), nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("speedup", sa.Float(53), nullable=False),
    sa.Column("hardware", sa.String(64), nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("by", sa.String(16), nullable=False),
    sa.Column("at", sa.String(32), nullable=False),
    sa.Column("became", sa.String(32), nullable=False),
)
"""What was decided about records, and why; nothing is ever taken out. ``status``, ``speedup``,
``hardware``: what a trusted machine measured; empty for an administrator's word. ``by``: id of a
token. ``became``: the record that is served in place of this one."""


def open_tables(location: str) -> Database:
    """The database of a book, with the server's tables in it; made where they are missing.

    Raises:
        BookError: it cannot be opened or written.
    """
    database = open_database(location, readonly=False, busy_s=10.0)
    with database.writing() as connection:
        TABLES.create_all(connection)
    return database
