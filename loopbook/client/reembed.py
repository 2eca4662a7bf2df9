"""Keeps a book's vectors those of the encoder in use."""

from __future__ import annotations

from collections.abc import Iterable

from loopbook.embed.inference import Encoder
from loopbook.errors import BookError, SdfgError
from loopbook.program.nest import Nest
from loopbook.program.nests import read_nests
from loopbook.recipes.book import Book
from loopbook.recipes.embedding import Embedding
from loopbook.sdfg.untrusted import admit

BATCH = 64
"""Nests that are embedded and stored at a time."""


def reembed(book: Book, encoder: Encoder) -> int:
    """Embed all nests that this encoder has not embedded, and forget other encoders' vectors.

    A process that is killed meanwhile leaves a book that the next one goes on with.

    Returns:
        How many nests were embedded.

    Raises:
        BookError: a nest cannot be read, or the book cannot be written.
    """
    missing = list(book.without_embedding(encoder.version))
    for start in range(0, len(missing), BATCH):
        part = missing[start : start + BATCH]
        book.add_embeddings(embedded(part, book.name, encoder))
    for other in book.encoders():
        if other != encoder.version:
            book.forget_encoder(other)
    return len(missing)


def embedded(
    nests: Iterable[tuple[str, str]], book: str, encoder: Encoder
) -> list[tuple[str, Embedding]]:
    """Fingerprint and embedding of nests that a book tells the fingerprint and text of.

    Raises:
        BookError: as `nest_of`.
    """
    given = dict(nests)
    read = [nest_of(text, f"book {book}") for text in given.values()]
    return list(zip(given, encoder.encode_many(read), strict=True))


def nest_of(text: str, where: str) -> Nest:
    """The nest that a book keeps as `text`, whoever wrote it there.

    Raises:
        BookError: it cannot be read, or is not let in (see `loopbook.sdfg.untrusted`).
    """
    try:
        return read_nests(dict(admit(text).document))[0]
    except (SdfgError, IndexError) as error:
        raise BookError(f"the nest in {where} is damaged: {error}") from None
