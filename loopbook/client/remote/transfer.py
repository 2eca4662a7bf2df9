"""Brings a server's records into a book, and a book's to a server; both can be stopped and go on
where they were."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loopbook import private
from loopbook.client.incoming import check_record
from loopbook.client.remote.calls import state_of
from loopbook.client.remote.client import Client
from loopbook.errors import AccessError, InputError, OfflineError, RemoteError
from loopbook.recipes.book import Book
from loopbook.recipes.record import Record

BATCH = 64

Progress = Callable[[int, int], None]
"""Told how many records are done, and of how many; 0 where that is not known."""


@dataclass(frozen=True)
class Pulled:
    """What `pull` did.

    Attributes:
        received: records that came.
        new: those of them that the book did not have.
        unchanged: the server's book is as it was at the last whole pull: nothing was asked for.
        refused: those that were not taken (see `loopbook.client.incoming`).
    """

    received: int
    new: int
    unchanged: bool = False
    refused: int = 0


@dataclass(frozen=True)
class Pushed:
    """What `push` did.

    Attributes:
        given: records that the server took or knew already.
        refused: those that it did not want, with its words.
    """

    given: int
    refused: tuple[tuple[str, str], ...]


def pull(client: Client, book: Book, notes: Path, progress: Progress | None = None) -> Pulled:
    """Add all of a server's records to a book.

    Args:
        notes: a file that remembers how far it got.

    Raises:
        RemoteError: the server could not be asked to the end; what came is in the book.
        BookError: the book cannot be written.
    """
    known = _read(notes)
    noted = known.get(client.url)
    state = noted if isinstance(noted, dict) else {}
    stamp, total = state_of(client.info(), client.url)
    if stamp and state.get("whole") == stamp:
        return Pulled(0, 0, unchanged=True)
    after = str(state.get("after", "")) if state.get("stamp") == stamp else ""
    received = new = refused = 0
    batch = []

    def keep() -> None:
        nonlocal new, refused, batch
        good = [item for item in batch if _taken(item[0])]
        refused += len(batch) - len(good)
        new += book.add_many(good)
        if batch:
            _write(notes, known | {client.url: {"stamp": stamp, "after": batch[-1][0].id}})
        batch = []

    try:
        for item in client.export(after):
            batch.append(item)
            received += 1
            if len(batch) >= BATCH:
                keep()
                if progress is not None:
                    progress(received, total)
    finally:
        keep()
    _write(notes, known | {client.url: {"whole": stamp}})
    return Pulled(received, new, refused=refused)


def _taken(record: Record) -> bool:
    try:
        check_record(record)
    except InputError:
        return False
    return True


def push(client: Client, book: Book, notes: Path, progress: Progress | None = None) -> Pushed:
    """Offer all records of a book that gain something to a server.

    Args:
        notes: a file that remembers what was given.

    Raises:
        OfflineError, AccessError: the server could not be asked to the end.
    """
    known = _read(notes)
    before = known.get(client.url, [])
    given = {str(one) for one in before} if isinstance(before, list) else set()
    refused: list[tuple[str, str]] = []
    done = 0
    total = len(book)
    try:
        for record in book.records():
            done += 1
            if len(record.recipe) and record.id not in given:
                try:
                    client.contribute(record)
                    given.add(record.id)
                except (OfflineError, AccessError):
                    raise
                except RemoteError as error:
                    refused.append((record.id, str(error)))
            if progress is not None:
                progress(done, total)
    finally:
        _write(notes, known | {client.url: sorted(given)})
    return Pushed(len(given), tuple(refused))


def _read(notes: Path) -> dict[str, Any]:
    try:
        found = json.loads(notes.read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(notes: Path, told: dict[str, Any]) -> None:
    partial = notes.with_name(f".{notes.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        partial.unlink(missing_ok=True)
        with private.new_file(partial) as opened:
            opened.write(json.dumps(told).encode())
        partial.replace(notes)
