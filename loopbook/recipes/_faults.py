"""Errors of databases and files, told in one line that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from loopbook.errors import BookError, UnavailableError


@contextmanager
def explained(name: str, engine: sa.Engine | None = None) -> Iterator[None]:
    """Turn database errors into BookError, with one line that says what to do.

    Args:
        engine: its driver's own errors are turned too: SQLAlchemy does not wrap those that come
            while it sets a connection up or takes it back.

    Raises:
        UnavailableError: the database is gone, does not take connections, or ended this one.
    """
    driver = sqlite3.Error if engine is None else engine.dialect.loaded_dbapi.Error
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, driver) as error:
        lines = str(getattr(error, "orig", None) or error).splitlines()
        cause = lines[0] if lines else type(error).__name__
        kind = UnavailableError if _is_passing(error, engine) else BookError
        raise kind(f"book {name}: {_advice(cause)}") from error
    except UnicodeDecodeError as error:
        # What is stored as text is no text any more; SQLite hands it over unchecked.
        raise BookError(f"book {name}: {_advice('database disk image is malformed')}") from error


def _is_passing(error: Exception, engine: sa.Engine | None) -> bool:
    """Whether the same may work later. SQLite says of a damaged file that it does not operate; a
    server's driver says so of its connection to the server only."""
    if isinstance(error, PoolTimeoutError):
        return True
    if engine is None or engine.dialect.name == "sqlite":
        return any(sign in str(error).lower() for sign in ("locked", "busy"))
    own = engine.dialect.loaded_dbapi
    lost = isinstance(error, DBAPIError) and error.connection_invalidated
    kinds = (OperationalError, InterfaceError, own.OperationalError, own.InterfaceError)
    return lost or isinstance(error, kinds)


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


@contextmanager
def explained_os(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise BookError(f"book {path}: {error.filename} is not a folder") from error
    except OSError as error:
        raise BookError(f"book {path}: {error.strerror or error}") from error
