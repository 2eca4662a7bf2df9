"""Opens the books that nests are looked up in: ``loopbook.open``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from loopbook.client.damaged import opened
from loopbook.client.layered import LayeredBook
from loopbook.client.places import SERVER_VARIABLE, downloaded_path, own_path, starter_path
from loopbook.errors import BookError

if TYPE_CHECKING:
    from loopbook.embed.inference import Encoder
    from loopbook.recipes.layer import Layer


def open_book(
    path: str | Path | None = None,
    *,
    starter: bool = True,
    encoder: Encoder | None = None,
    standing: bool = False,
) -> LayeredBook:
    """The user's book over the downloaded one, over the starter book, over that of the server which
    ``$LOOPBOOK_SERVER`` names. A book that is given by path takes the place of the user's and the
    downloaded one, and no server is asked.

    ::

        with loopbook.open() as book:
            book.nearest(kernel)

    Args:
        path: the user's book, a file or database URL; default `own_path`, which need not exist.
        starter: False leaves the starter book out.
        encoder: see `LayeredBook`.
        standing: take the starter book that this process has left open, and leave it open.

    What is damaged in a book is left out, and told once in a process on stderr.

    Raises:
        BookError: if `path` is given and there is no such book, or it cannot be opened.
    """
    from loopbook.recipes.book import Book

    layers: list[Layer] = []
    if path is not None:
        if "://" not in str(path) and not Path(path).exists():
            raise BookError(f"there is no book at {path}")
        layers.append(Book.open(path))
    else:
        layers += opened((own_path(), downloaded_path()))
    shipped = starter_path() if starter else None
    lent: list[Layer] = []
    if shipped is not None and standing:
        from loopbook.client.standing import standing_book

        lent += [book for book in (standing_book(shipped),) if book is not None]
        layers += lent
    elif shipped is not None:
        layers += opened((shipped,), readonly=True)
    if path is None and os.environ.get(SERVER_VARIABLE):
        from loopbook.client.remote.layer import RemoteBook

        layers.append(RemoteBook())
    return LayeredBook(layers, encoder, lent=lent)
