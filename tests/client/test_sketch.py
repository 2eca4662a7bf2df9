"""What planning wants to know of a record's nest is kept beside the record, and worked out anew
where it is not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from client_kit import (
    blocked,
    encoder,
    fill,
    nests_of,
    product,
    product_transposed,
    record,
    stencil,
)
from msgspec import structs

from loopbook.client import sketch as sketches
from loopbook.client.layered import LayeredBook
from loopbook.client.packing import packed
from loopbook.client.places import STARTER
from loopbook.client.sketch import Sketch, featured, kept, nest_of, sketch
from loopbook.errors import BookError
from loopbook.program.trips import iterations
from loopbook.recipes.book import Book
from loopbook.recipes.record import Record

RECORDS = (
    record(product, blocked()),
    record(product_transposed, ""),
    record(stencil, "", target="openmp"),
)

EVERY = 60
"""Of so many of the starter book's records one is looked at."""


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    with Book.open(fill(tmp_path / "book.db", RECORDS)) as book:
        packed(book, tmp_path / "packed.book", encoder())
    return tmp_path / "packed.book"


def forbidden(record: Record) -> None:
    raise AssertionError(f"the nest of {record.nest} was read")


def changed(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement).rowcount == len(RECORDS)


def test_a_sketch_says_what_its_nest_says():
    (nest,) = nests_of(product)
    found = sketch(RECORDS[0], nest)
    assert [found.ancestry(loop.index)[-1].name for loop in found.loops] == ["L0", "L1", "L2"]
    assert len(found.ancestry(2)) == 3
    assert found.ancestry(-1) == ()
    arrays = [(array.name, array.written) for array in nest.arrays]
    assert [(array.name, array.written) for array in found.arrays] == arrays
    trips = {"L0": 3, "L1": 5, "L2": 7}
    assert iterations(found, trips) == iterations(nest, trips) == 105
    assert "register_tiles" in found.rules
    assert found.bodies is None
    told = featured(RECORDS[0], nest)
    assert told.bodies is not None
    assert not np.array_equal(*told.bodies)
    assert structs.replace(told, features=told.features + 1).bodies is None


def test_sketches_that_come_with_a_book_are_used_without_reading_nests(shipped, monkeypatch):
    made = [featured(one, nest_of(one)) for one in RECORDS]
    monkeypatch.setattr(sketches, "nest_of", forbidden)
    with LayeredBook([Book.open(shipped, readonly=True)]) as layered:
        assert layered.sketches(RECORDS) == made
        assert layered.sketches(RECORDS[:1])[0] is layered.sketches(RECORDS)[0]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE notes SET version = 'another'",
        "UPDATE notes SET body = substr(body, 1, length(body) - 1)",
        "UPDATE notes SET body = 'text'",
        "DELETE FROM notes",
    ],
)
def test_sketches_that_are_of_no_use_are_made_anew(shipped, statement):
    changed(shipped, statement)
    made = [sketch(one, nest_of(one)) for one in RECORDS]
    with Book.open(shipped, readonly=True) as book:
        assert kept(book, RECORDS) == {}
        assert book.verify() == []
        with LayeredBook([book]) as layered:
            assert layered.sketches(RECORDS) == made


def test_features_of_another_version_are_made_anew_when_a_book_is_packed(shipped, monkeypatch):
    with Book.open(shipped) as book:
        assert sketches.sketch_all(book) == 0
        monkeypatch.setattr(sketches.features, "VERSION", sketches.features.VERSION + 1)
        assert sketches.sketch_all(book) == len(RECORDS)
        assert all(one.bodies is not None for one in kept(book, RECORDS).values())


def test_a_book_without_notes_serves_as_before(tmp_path):
    path = fill(tmp_path / "book.db", RECORDS)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TABLE notes")
    with LayeredBook([Book.open(path)]) as layered:
        assert all(isinstance(one, Sketch) for one in layered.sketches(RECORDS))
        assert layered.books[0].delete(RECORDS[0].id)


def test_a_record_takes_its_note_with_it(location):
    with Book.open(location) as book:
        for one in RECORDS:
            book.add(one)
        book.keep_notes({one.id: b"first" for one in RECORDS}, "1")
        book.keep_notes({RECORDS[0].id: b"second"}, "1")
        ids = [one.id for one in RECORDS]
        assert book.notes(ids, "1") == dict(zip(ids, (b"second", b"first", b"first"), strict=True))
        assert book.notes(ids, "2") == {}
        book.delete(ids[0])
        assert book.notes(ids, "1").keys() == set(ids[1:])


def test_a_damaged_nest_without_a_sketch_is_told(tmp_path):
    from dataclasses import replace

    broken = replace(RECORDS[0], nest_json="{}")
    with (
        LayeredBook([Book.open(fill(tmp_path / "book.db", []))]) as layered,
        pytest.raises(BookError, match="is damaged"),
    ):
        layered.sketches([broken])


def test_the_starter_book_comes_with_a_sketch_of_each_record_as_it_would_be_made_now():
    """If not: raise the number in `loopbook.client.sketch.VERSION`, and pack the book again."""
    with Book.open(STARTER, readonly=True) as book:
        records = list(book.records())
        found = kept(book, records)
        assert found.keys() == {one.id for one in records}
        for one in records[::EVERY]:
            made = featured(one, nest_of(one))
            assert structs.replace(found[one.id], before=made.before, after=made.after) == made
            assert found[one.id].bodies is not None
            for body, again in zip(found[one.id].bodies or (), made.bodies or (), strict=True):
                np.testing.assert_allclose(body, again, rtol=1e-5)  # another machine's logarithms
