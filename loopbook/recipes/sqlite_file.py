"""A book as a SQLite file: checked before it is touched, and never there by half."""

from __future__ import annotations

import os
import sqlite3
import struct
import threading
import uuid
import weakref
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import event

from loopbook import private
from loopbook.errors import BookError
from loopbook.recipes import schema
from loopbook.recipes._faults import explained, explained_os

APPLICATION_ID = 0x4C50424B  # "LPBK", at offset 68 of the file
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100

_lock = threading.Lock()
_in_use: Counter[tuple[int, int]] = Counter()


class Hold:
    """Checks a file and keeps it marked as in use by this process.

    Reading the file by other means than SQLite's would, when it is closed again, drop the locks
    that SQLite holds on it for this process: so POSIX wants it. Hence a file that is in use is not
    looked into a second time.

    Raises:
        BookError: the file is no book, or is cut short.
    """

    def __init__(self, path: Path) -> None:
        with _lock, explained_os(path):
            if not path.is_file():
                raise BookError(f"book {path} is not a file")
            status = path.stat()
            identity = (status.st_dev, status.st_ino)
            if not _in_use[identity]:
                check_header(path)
            _in_use[identity] += 1
        self.release = weakref.finalize(self, _released, identity)
        """Ends the hold; a second call does nothing."""


def _released(identity: tuple[int, int]) -> None:
    with _lock:
        _in_use[identity] -= 1


def sqlite_engine(path: Path, mode: str, busy_s: float) -> sa.Engine:
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


def memory_copy(engine: sa.Engine) -> sa.Engine:
    """A book's file in memory, to be changed without changing the file."""
    copy = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    with closing(engine.raw_connection()) as connection:
        source = connection.driver_connection
        assert isinstance(source, sqlite3.Connection)
        source.backup(copy)
    engine.dispose()
    # One connection is all of it: those who read take turns.
    return sa.create_engine(
        "sqlite://", creator=lambda: copy, poolclass=sa.QueuePool, pool_size=1, max_overflow=0
    )


def create_file(path: Path) -> None:
    """Make an empty book that appears at ``path`` complete, also when killed on the way."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        private.new_file(draft).close()  # what SQLite puts beside it is as closed as it is
        engine = sqlite_engine(draft, "mode=rw", 1.0)
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


def check_header(path: Path) -> None:
    """Refuse what is no book before SQLite touches it.

    Raises:
        BookError: the file is no book, or is cut short.
    """
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
    if log_size(path) == 0 and path.stat().st_size < pages * page_size:
        raise BookError(f"book {path} is cut short: restore it from a copy, or delete it")


def pack(engine: sa.Engine, target: Path) -> None:
    """Write the book as one compact file that is read without side files.

    The file at ``target`` is replaced in one go. Misses, tasks and reports are left out.

    Raises:
        BookError: the target can't be written.
    """
    target = target.absolute()
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.new")
    try:
        with explained(str(target)), explained_os(target):
            private.make_folders(target.parent)
            private.new_file(draft).close()
            with engine.connect() as connection:
                source = connection.connection.driver_connection
                assert isinstance(source, sqlite3.Connection)
                source.execute("VACUUM INTO ?", (str(draft),))
            copy = sqlite3.connect(draft, isolation_level=None)
            try:
                copy.execute("PRAGMA journal_mode=DELETE")
                copy.execute("DELETE FROM misses")
                for table in ("changes", "tasks", "reports", "standings"):
                    copy.execute(f"DROP TABLE IF EXISTS {table}")
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


def log_size(path: Path) -> int:
    """Bytes of the write-ahead log beside a book; 0 where there is none."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except OSError:
        return 0
