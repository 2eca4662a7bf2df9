"""Where books lie: the user's own, the downloaded one, the one that comes with loopbook; and which
variable names a server's."""

from __future__ import annotations

import os
from pathlib import Path

STARTER = Path(__file__).resolve().parent.parent / "data" / "starter.book"
"""The book that comes with loopbook."""

SERVER_VARIABLE = "LOOPBOOK_SERVER"
"""Names the address of a server to look nests up at, besides the books at hand."""


def own_path() -> Path:
    """Where the user's own book is, or will be: ``$LOOPBOOK_BOOK``, else
    ``$XDG_DATA_HOME/loopbook/book.db``."""
    named = os.environ.get("LOOPBOOK_BOOK")
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "loopbook" / "book.db"


def downloaded_path() -> Path:
    """Where `loopbook book pull` puts a server's records: beside the user's own book."""
    return own_path().with_name("downloaded.db")


def starter_path() -> Path | None:
    """Where the starter book is: ``$LOOPBOOK_STARTER`` if set (None if empty), else `STARTER`."""
    named = os.environ.get("LOOPBOOK_STARTER")
    if named is None:
        return STARTER
    return Path(named) if named else None
