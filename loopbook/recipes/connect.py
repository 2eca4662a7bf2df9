"""Opening a book's database safely: a SQLite file, or any other database by URL.

What this module sees to, so that nobody above needs to think of it:

- A new file appears complete or not at all (made under another name, then linked).
- A file that is no book, is cut short, or comes from a newer loopbook is refused untouched.
- A file or folder that can't be written is opened read-only, without side files.
- Every database error becomes one :class:`~loopbook.errors.BookError` line.
"""

from __future__ import annotations

import os
import sqlite3
import struct
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from loopbook.errors import BookError
from loopbook.recipes import schema

APPLICATION_ID = 0x4C50424B  # "LPBK", at offset 68 of the file
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100

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

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that sees one state of the book throughout."""
        with explained(self.name), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that is the only writing one; kept whole or not at all."""
        if self.readonly:
            raise BookError(f"book {self.name} is read-only: open another one to write to")
        with (
            explained(self.name),
            self.engine.connect().execution_options(**WRITE) as connection,
            connection.begin(),
        ):
            schema.read_meta(connection, "stamp", lock=True)
            yield connection


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


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn database errors into BookError, with one line that says what to do."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise BookError(f"book {name}: {_advice(cause)}") from error
    except UnicodeDecodeError as error:
        # What is stored as text is no text any more; SQLite hands it over unchecked.
        raise BookError(f"book {name}: {_advice('database disk image is malformed')}") from error


def _advice(cause: str) -> str:
    lower = cause.lower()
    for signs, advice in (
        (("locked", "busy"), "another process is writing to it; try again later"),
        (("full", "disk i/o error"), "it can't be written, the disk is full or failing; free some"),
        (("malformed", "not a database"), "the file is damaged; restore it from a copy"),
        (("readonly",), "it can't be written; check the permissions"),
        (("unable to open",), "the file can't be opened; check the permissions"),
        (("no such table", "no such column"), "it is not a loopbook book, or a damaged one"),
    ):
        if any(sign in lower for sign in signs):
            return advice + f" ({cause})"
    return cause


def _open_url(url: str, readonly: bool) -> Database:
    try:
        engine = sa.create_engine(url, pool_pre_ping=True)
    except (ArgumentError, ModuleNotFoundError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BookError(f"book URL can't be used: {reason}") from None
    database = Database(engine, engine.url.render_as_string(True), None, readonly)
    with explained(database.name), engine.begin() as connection:
        if schema.version(connection) == 0 and not readonly:
            schema.create(connection)
    _check_version(database)
    return database


def _open_file(path: Path, readonly: bool, busy_s: float) -> Database:
    with _explained_os(path):
        if not path.exists():
            if readonly:
                raise BookError(f"there is no book at {path}")
            path.parent.mkdir(parents=True, exist_ok=True)
            _create_file(path)
        uses_wal = _check_header(path)
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not readonly and writable:
        database = Database(_sqlite_engine(path, "mode=rw", busy_s), str(path), path, False)
        _check_version(database)
        _use_log(database)
        return database
    mode = "mode=ro"
    if uses_wal and not writable:
        # Reading a file in WAL mode takes a shared-memory file beside it, which can't be made
        # here. Nobody is writing either, so the file may be read as it lies, unless its newest
        # transactions are still in the log.
        if _size(_beside(path, "-wal")) > 0:
            raise BookError(f"book {path} was not closed well and can't be written: copy it first")
        mode = "mode=ro&immutable=1"
    database = Database(_sqlite_engine(path, mode, busy_s), str(path), path, True)
    _check_version(database)
    return database


def _use_log(database: Database) -> None:
    """Switch to a write-ahead log, so that readers and the one writer don't wait for each other."""
    with explained(database.name):
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
        with explained(database.name), database.engine.begin() as connection:
            found = schema.version(connection)
        if found <= 0:
            raise BookError(f"{database.name} is not a loopbook book")
        if found > schema.VERSION:
            raise BookError(
                f"book {database.name} was written by a newer loopbook "
                f"(layout {found}, this one knows {schema.VERSION}): upgrade loopbook"
            )
        if found < schema.VERSION:
            if database.readonly:
                raise BookError(
                    f"book {database.name} has an older layout and can't be written: copy it to "
                    "where it can, and open it there once"
                )
            with database.writing() as connection:
                schema.upgrade(connection)
    except BaseException:
        database.engine.dispose()
        raise


def _sqlite_engine(path: Path, mode: str, busy_s: float) -> sa.Engine:
    uri = f"file:{quote(str(path))}?{mode}"

    def connected() -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=busy_s, check_same_thread=False, isolation_level=None
        )
        connection.execute("PRAGMA foreign_keys=ON")
        # A commit that returned survives a power cut, also in WAL mode.
        connection.execute("PRAGMA synchronous=FULL")
        return connection

    engine = sa.create_engine("sqlite://", creator=connected, poolclass=sa.QueuePool)

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # Python's own handling would begin late, after the first read: two processes could then
        # both read, and one of them fail to write instead of waiting for its turn.
        write = connection.get_execution_options().get("loopbook_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _create_file(path: Path) -> None:
    """Make an empty book that appears at ``path`` complete, also when killed on the way."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        draft.touch(exist_ok=False)
        engine = _sqlite_engine(draft, "mode=rw", 1.0)
        with explained(str(path)):
            with engine.begin() as connection:
                schema.create(connection)
                connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
            engine.dispose()
        # Another process may have made the book meanwhile: then that one stands.
        with suppress(FileExistsError):
            os.link(draft, path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def _check_header(path: Path) -> bool:
    """Refuse what is no book before SQLite touches it; tell whether the file is in WAL mode."""
    if not path.is_file():
        raise BookError(f"book {path} is not a file")
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC[: len(header)]):
        raise BookError(f"{path} is not a loopbook book")
    if len(header) < _HEADER_BYTES:
        raise BookError(f"book {path} is cut short: restore it from a copy, or delete it")
    (page_size,) = struct.unpack(">H", header[16:18])
    page_size = 65536 if page_size == 1 else page_size
    (pages,) = struct.unpack(">I", header[28:32])
    (application,) = struct.unpack(">I", header[68:72])
    if application != APPLICATION_ID:
        raise BookError(f"{path} is a SQLite file, but not a loopbook book")
    # While the log holds transactions, a shorter file is what a crash during its transfer leaves.
    if _size(_beside(path, "-wal")) == 0 and path.stat().st_size < pages * page_size:
        raise BookError(f"book {path} is cut short: restore it from a copy, or delete it")
    return header[18] == 2


def pack(database: Database, target: Path) -> None:
    """Write the book as one compact file that is read without side files.

    The file at ``target`` is replaced in one go. Misses are left out.

    Raises:
        BookError: not a SQLite book, or the target can't be written.
    """
    if database.path is None:
        raise BookError(f"book {database.name} is no file: export it and import that into one")
    target = target.absolute()
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        with explained(str(target)), _explained_os(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with database.engine.connect() as connection:
                source = connection.connection.driver_connection
                assert isinstance(source, sqlite3.Connection)
                source.execute("VACUUM INTO ?", (str(draft),))
            copy = sqlite3.connect(draft, isolation_level=None)
            try:
                copy.execute("PRAGMA journal_mode=DELETE")
                copy.execute("DELETE FROM misses")
                copy.execute("VACUUM")
            finally:
                copy.close()
            os.replace(draft, target)
            sync_folder(target.parent)
    finally:
        draft.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a file's new name in the folder survive a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _explained_os(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise BookError(f"book {path}: {error.filename} is not a folder") from error
    except OSError as error:
        raise BookError(f"book {path}: {error.strerror or error}") from error


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
