"""Opens what there is to adopt, and says whose nests may be run outside of jails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from loopbook.client.hardware import local_profile
from loopbook.client.opening import open_book
from loopbook.client.places import own_path, starter_path
from loopbook.errors import JailError
from loopbook.farm.adopt.adoption import Adoption, Settings
from loopbook.farm.adopt.journal import Journal, journal_of
from loopbook.recipes.book import Book
from loopbook.targets import runnable
from loopbook.toolchain import jail
from loopbook.tuner.search import versions


@contextmanager
def adoption(
    path: Path | None,
    targets: Sequence[str],
    settings: Settings | None = None,
    *,
    readonly: bool = False,
) -> Iterator[Adoption]:
    """What a user's book can adopt from itself and from the books below it. Nests of the own book
    and of the starter book are trusted.

    Args:
        path: the user's book; default `loopbook.client.places.own_path`. It is made if need be.
        readonly: nothing is to be measured: books may be in use, and none is made.

    Raises:
        BookError: a book can't be read.
        InputError: there is no such target, or the book is being filled already.
    """
    hardware = {
        name: local_profile(runnable(name).threads, measured=not readonly) for name in targets
    }
    own = path or own_path()
    if not readonly:
        with Book.open(own) as book:  # it may be new; another process can't have half of it
            book.count()
    journal = Journal(journal_of(own), versions()["loopbook"])
    with open_book(path) as layered:
        trusted = [str(one) for one in (own, starter_path()) if one is not None]
        given = (layered, trusted, hardware, journal, settings)
        if readonly:
            yield Adoption(*given)
            return
        with journal.alone():
            yield Adoption(*given, jails=_jails())


def _jails() -> bool:
    try:
        jail.check()
    except JailError:
        return False
    return True
