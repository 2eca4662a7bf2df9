"""A book's vectors follow the encoder: those of another are made anew, in place or in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from client_kit import encoder, fill, nests_of, product, product_transposed, record, stencil

from loopbook.client import sketch
from loopbook.client.layered import LayeredBook
from loopbook.client.packing import packed
from loopbook.client.reembed import reembed
from loopbook.embed.inference import Encoder
from loopbook.embed.weights import Weights
from loopbook.errors import BookError
from loopbook.recipes.book import Book

RECORDS = (record(product, ""), record(product_transposed, ""), record(stencil, ""))


def older() -> Encoder:
    """Another encoder: all its weights are a little larger."""
    weights = {name: 1.1 * array for name, array in encoder()._weights.items()}
    return Encoder(Weights(weights, {}, "gnn1-00000000"))


@pytest.fixture
def old_book(tmp_path: Path) -> Path:
    with Book.open(tmp_path / "book.db") as book:
        for one, nest in zip(
            RECORDS,
            (nests_of(k)[0] for k in (product, product_transposed, stencil)),
            strict=True,
        ):
            book.add(one, older().encode(nest))
    return tmp_path / "book.db"


def test_a_book_is_embedded_anew_once(old_book: Path):
    with Book.open(old_book) as book:
        assert book.encoders() == ["gnn1-00000000"]
        assert reembed(book, encoder()) == 3
        assert book.encoders() == [encoder().version]
        assert reembed(book, encoder()) == 0
        (nest,) = nests_of(product)
        kept = book.embedding(nest.fingerprint, encoder().version)
        assert kept is not None
        np.testing.assert_allclose(kept.nest, encoder().encode(nest).nest, atol=1e-6)
        assert book.nearest(encoder().encode(nest), 1)[0].record.id == RECORDS[0].id
        assert book.verify() == []


def test_looking_up_embeds_ones_own_book_anew(old_book: Path):
    with LayeredBook([Book.open(old_book)]) as layered:
        assert layered.nearest(nests_of(product)[0], 1)[0].distance == 0.0
        assert layered.books[0].encoders() == [layered.encoder.version]


def test_a_book_that_cannot_be_written_is_embedded_in_memory(old_book: Path):
    with LayeredBook([Book.open(old_book, readonly=True)]) as layered:
        assert layered.nearest(nests_of(product)[0], 1)[0].distance == 0.0
        assert layered.books[0].encoders() == ["gnn1-00000000"]


def test_another_encoder_leaves_the_book_as_it_is(tmp_path: Path):
    path = fill(tmp_path / "book.db", RECORDS)
    with LayeredBook([Book.open(path)], older()) as layered:
        assert len(layered.nearest(nests_of(product)[0], 3)) == 3
        assert layered.books[0].encoders() == [encoder().version]


def test_packing_embeds_anew(old_book: Path, tmp_path: Path):
    with Book.open(old_book, readonly=True) as book:
        packed(book, tmp_path / "packed.book", encoder())
        assert book.encoders() == ["gnn1-00000000"]
    with Book.open(tmp_path / "packed.book", readonly=True) as book:
        assert book.encoders() == [encoder().version]
        assert len(book) == 3
        assert book.verify() == []


def test_a_damaged_nest_is_named(tmp_path: Path):
    from dataclasses import replace

    with Book.open(tmp_path / "book.db") as book:
        book.add(replace(RECORDS[0], nest_json="{}"))
        with pytest.raises(BookError, match=r"nest in book .* is damaged"):
            reembed(book, encoder())


def test_packing_finds_the_fingerprints_anew(tmp_path: Path):
    (nest,) = nests_of(product)
    known = record(product, "interchange L1 L2\n")
    before = replace(known, fingerprint="ab" * 16)
    with Book.open(tmp_path / "book.db") as book:
        book.add(before, encoder().encode(nest))
        packed(book, tmp_path / "packed.book", encoder())
        assert list(book.records()) == [before]
    with Book.open(tmp_path / "packed.book", readonly=True) as book:
        assert list(book.records()) == book.exact(nest.fingerprint, "sequential") == [known]
        assert book.nearest(encoder().encode(nest), 1)[0].record == known
        assert book.embedding(before.fingerprint, encoder().version) is None
        assert book.notes([known.id], sketch.VERSION).keys() == {known.id}
        assert book.verify() == []
