"""Books as they are shipped."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from loopbook.client.reembed import nest_of, reembed
from loopbook.client.sketch import sketch_all
from loopbook.embed.inference import Encoder
from loopbook.recipes.book import Book
from loopbook.toolchain import scratch


def packed(book: Book, out: Path, encoder: Encoder) -> None:
    """Write a book as one compact file to ship read-only, with the fingerprints that its nests have
    today, this encoder's vectors only, and a sketch of every record.

    Raises:
        BookError: the book is no file, a nest cannot be read, or `out` cannot be written.
    """
    with scratch.folder() as folder:
        copy = folder / "copy.book"
        book.pack(copy)
        with Book.open(copy) as writable:
            refingerprint(writable)
            reembed(writable, encoder)
            sketch_all(writable)
            writable.pack(out)


def refingerprint(book: Book) -> int:
    """Write records anew whose nests have another fingerprint today than when they were measured,
    such as after a change to the order of what looks the same: nobody would find them. They get
    other ids, and their nests have to be embedded.

    Returns:
        How many records were written anew.

    Raises:
        BookError: a nest cannot be read, or the book cannot be written.
    """
    count = 0
    for record in list(book.records()):
        today = nest_of(record.nest_json, f"book {book.name}").fingerprint
        if today != record.fingerprint:
            book.add(replace(record, fingerprint=today))
            book.delete(record.id)
            count += 1
    return count
