"""Opening a book's database: a SQLite file, or any other database by URL.

A new file appears complete or not at all. A file that is no book, is cut short, or comes from a
newer loopbook is refused untouched; one that can't be written is opened read-only. Every database
error becomes one :class:`~loopbook.errors.BookError` line.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, IntegrityError, ProgrammingError

from loopbook import private
from loopbook.errors import BookError
from loopbook.recipes import schema
from loopbook.recipes._faults import explained, explained_os
from loopbook.recipes._rows import readable
from loopbook.recipes.sqlite_file import Hold, create_file, log_size, memory_copy, sqlite_engine

_LIBPQ = ("postgresql+psycopg", "postgresql+psycopg2")

_PATIENCE = {"connect_timeout": 10, "tcp_user_timeout": 20_000}
"""Seconds to wait for a connection, and milliseconds for a server that falls silent; libpq by
itself waits for ever, and a quarter of an hour. A URL may say otherwise."""

WRITE = {"loopbook_write": True}
"""Execution options of a connection that is going to write."""


@dataclass
class Database:
    """An open database.

    Attributes:
        name: path or URL for messages, without any password.
        path: the SQLite file, or None.
        readonly: whether writes are refused.
    """

    engine: sa.Engine
    name: str
    path: Path | None
    readonly: bool
    hold: Hold | None = None
    closed: bool = False

    def close(self) -> None:
        """Close the connections; the database can't be used any more."""
        self.closed = True
        self.engine.dispose()
        if self.hold is not None:
            self.hold.release()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one state of the book throughout."""
        self._check_open()
        with (
            explained(self.name, self.engine),
            self.engine.connect().execution_options(**self._snapshot) as connection,
            connection.begin(),
        ):
            yield connection

    def peek(self, statement: str) -> object:
        """The one value that a statement without parameters gives, at a third of what a
        transaction of `reading` takes; of a file, at a tenth."""
        self._check_open()
        with explained(self.name, self.engine):
            if self.path is None:
                with self.engine.connect() as connection:
                    return connection.exec_driver_sql(statement).scalar()
            with closing(self.engine.raw_connection()) as file:
                cursor = file.cursor()
                cursor.execute(statement)
                row = cursor.fetchone()
                return None if row is None else row[0]

    @property
    def _snapshot(self) -> dict[str, str]:
        """What makes a transaction see one state: a server's own default lets others in between."""
        return {} if self.path is not None else {"isolation_level": "REPEATABLE READ"}

    @contextmanager
    def writing(self, *, alone: bool = True) -> Iterator[sa.Connection]:
        """A transaction that writes; kept whole or not at all.

        Args:
            alone: it is the only one. Else a server lets others write at the same time, and who
                writes has to lock the rows that matter; a file knows one writer only.
        """
        self._check_open()
        if self.readonly:
            raise BookError(f"book {self.name} is read-only: open another one to write to")
        with (
            explained(self.name, self.engine),
            self.engine.connect().execution_options(**WRITE) as connection,
            connection.begin(),
        ):
            if alone:
                schema.read_meta(connection, "stamp", lock=True)
            yield connection

    def _check_open(self) -> None:
        if self.closed:
            raise BookError(f"book {self.name} has been closed: open it again")


def open_database(location: str | Path, *, readonly: bool, busy_s: float) -> Database:
    """Open the book at a path or URL; a missing file is created unless ``readonly``.

    Raises:
        BookError: it can't be opened, and why.
    """
    text = os.fspath(location)
    if text.startswith("sqlite:///"):
        text = text.removeprefix("sqlite:///")
    if "://" in text:
        return _open_url(text, readonly)
    if "\0" in text or not text:
        raise BookError(f"book path {text[:80]!a} is no path: name a file")
    return _open_file(Path(text).absolute(), readonly, busy_s)


def _open_url(url: str, readonly: bool) -> Database:
    try:
        target = sa.make_url(with_driver(url))
        patience = {name: _PATIENCE[name] for name in _PATIENCE.keys() - target.query.keys()}
        arguments = patience if target.drivername in _LIBPQ else {}
        engine = sa.create_engine(target, pool_pre_ping=True, connect_args=arguments)
    except ModuleNotFoundError as error:
        advice = "install it with 'pip install loopbook[server]'"
        raise BookError(f"book URL can't be used: it needs {error.name}; {advice}") from None
    except (ArgumentError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BookError(f"book URL can't be used: {reason}") from None
    database = Database(engine, engine.url.render_as_string(True), None, readonly)
    if not readonly:
        _create_once(database)
    _check_version(database)
    return database


def with_driver(url: str) -> str:
    """A PostgreSQL URL with the driver that loopbook brings, where the URL names none."""
    scheme, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if scheme in ("postgres", "postgresql") else url


def _create_once(database: Database) -> None:
    """Make the tables where there are none yet; of several processes that do so at once, one
    wins and the others find its tables."""
    with explained(database.name, database.engine):
        for last in (False, True):
            try:
                with database.engine.begin() as connection:
                    if schema.version(connection) == 0:
                        schema.create(connection)
                return
            except (IntegrityError, ProgrammingError):
                if last:
                    raise


def _open_file(path: Path, readonly: bool, busy_s: float) -> Database:
    with explained_os(path):
        if not path.exists():
            if readonly:
                raise BookError(f"there is no book at {path}")
            private.make_folders(path.parent)
            create_file(path)
    hold = Hold(path)
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not readonly and writable:
        engine = sqlite_engine(path, "mode=rw", busy_s)
        database = Database(engine, str(path), path, False, hold)
        _check_version(database)
        _use_log(database)
        return database
    mode = "mode=ro"
    if not writable and log_size(path) == 0:
        # Reading beside a writer takes a shared-memory file, which can't be made here. Nobody is
        # writing, so the file may be read as it lies.
        mode = "mode=ro&immutable=1"
    database = Database(sqlite_engine(path, mode, busy_s), str(path), path, True, hold)
    _check_version(database)
    return database


def _use_log(database: Database) -> None:
    """Switch to a write-ahead log, so that readers and the one writer don't wait for each other."""
    with explained(database.name, database.engine):
        connection = database.engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            # Others read the file in its old mode just now: as safe, only slower.
            if "locked" not in str(error):
                raise
        finally:
            connection.close()


def _check_version(database: Database) -> None:
    """Refuse a newer book, upgrade an older one."""
    try:
        with explained(database.name, database.engine), database.engine.begin() as connection:
            found = schema.version(connection)
        if found <= 0:
            raise BookError(f"{database.name} is not a loopbook book")
        if found > schema.VERSION:
            raise BookError(
                f"book {database.name} was written by a newer loopbook "
                f"(layout {found}, this one knows {schema.VERSION}): upgrade loopbook"
            )
        if found < schema.VERSION:
            if database.readonly and database.path is None:
                raise BookError(
                    f"book {database.name} has an older layout: open it once to write to it"
                )
            readonly, database.readonly = database.readonly, False
            if readonly:  # the file stays as it is
                with explained(database.name, database.engine):
                    database.engine = memory_copy(database.engine)
            with database.writing() as connection, readable(database.name):
                schema.upgrade(connection)
            database.readonly = readonly
    except BaseException:
        database.close()
        raise
