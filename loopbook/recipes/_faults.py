"""Errors of databases and files, told in one line that says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from loopbook.errors import BookError


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


@contextmanager
def explained_os(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise BookError(f"book {path}: {error.filename} is not a folder") from error
    except OSError as error:
        raise BookError(f"book {path}: {error.strerror or error}") from error
