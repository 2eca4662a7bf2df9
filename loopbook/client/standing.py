"""The starter book, left open from one compile to the next.

To open it, to read what it has and to bring its vectors together takes longer than to plan a
program. The user's own books are opened each time: they are written to, and others may put another
file in their place, which SQLite does not bear while a file that is written to is open.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from loopbook.client.damaged import opened
from loopbook.recipes.book import Book

Key = tuple[object, ...]

_lock = threading.Lock()
_held: dict[Key, Book] = {}
_inherited: list[Book] = []
"""Those of the process that this one was forked from: they are not ours to close."""


def standing_book(path: Path) -> Book | None:
    """The book in a file that is only read; opened anew if it is another file, or has changed. It
    is everybody's in this process, and not to be closed.

    Returns:
        None if there is no such book, or it cannot be opened.
    """
    key = _key(path)
    with _lock:
        if key not in _held:
            _held.clear()  # who still uses one has it
            for book in opened((path,), readonly=True):
                _held[key] = book
        return _held.get(key)


def _key(path: Path) -> Key:
    try:
        found = path.stat()
    except OSError:
        return ()
    return str(path), found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may have held it
    _inherited.extend(_held.values())
    _held.clear()


os.register_at_fork(after_in_child=_after_fork)
