"""The book that a server, a queue or a farm works on: a file or a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopbook.errors import BookError

if TYPE_CHECKING:
    from loopbook.recipes.book import Book

Store = Annotated[
    str | None, typer.Option("--store", help="the book: a path or a database URL; default yours")
]


def location_of(store: str | None) -> str:
    """The path or URL."""
    from loopbook.client.places import own_path

    return store or str(own_path())


def none_yet(store: str | None) -> bool:
    """Whether the user's own book is meant and there is none yet: nothing is wrong then."""
    from loopbook.client.places import own_path

    return not store and not own_path().exists()


def existing(store: str | None, *, write: bool = False) -> Book:
    """The book of a store.

    Raises:
        BookError: there is none; none is made.
    """
    from loopbook.recipes.book import Book

    location = location_of(store)
    if "://" not in location and not Path(location).exists():
        raise BookError(f"there is no book at {location}")
    return Book.open(location, readonly=not write)
