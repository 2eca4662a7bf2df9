"""Asks for the vectors that a book lacks: other encoders made those that it has."""

from __future__ import annotations

from loopbook.recipes.book import Book
from loopbook.recipes.tasks import REEMBED, Ask

BATCH = 500
"""Asks in one transaction, while which nobody else writes."""


def ask_for_vectors(book: Book, encoder: str) -> int:
    """Ask for the vectors of all nests that an encoder has not embedded; returns of how many. Other
    encoders' vectors stay: whoever still uses one finds them.

    Args:
        encoder: version of the one in use.

    Raises:
        BookError: the book cannot be read or written.
    """
    missing = [fingerprint for fingerprint, _ in book.without_embedding(encoder)]
    for start in range(0, len(missing), BATCH):
        part = missing[start : start + BATCH]
        book.queue.ask_all(Ask(REEMBED, one, subject=encoder) for one in part)
    return len(missing)
