"""The program tree on what the starter book holds: hundreds of nests as docc wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from loopbook.client.places import STARTER
from loopbook.program.nests import nests
from loopbook.program.read import read
from loopbook.program.write import write
from loopbook.recipes import Book, Record

EVERY = 9
"""Of so many records one is written."""


@pytest.fixture(scope="module")
def records() -> Iterator[list[Record]]:
    with closing(Book.open(STARTER, readonly=True)) as book:
        yield list(book.records())


def test_nests_are_written_as_they_were_read(records: list[Record]):
    assert len(records[::EVERY]) > 100
    for record in records[::EVERY]:
        document = json.loads(record.nest_json)
        assert write(read(document)) == document


def test_nests_are_found_by_what_they_are_read_as(records: list[Record]):
    """If not: pack the book again (`loopbook.client.packing`)."""
    strays = []
    for record in records:
        (nest,) = nests(read(json.loads(record.nest_json)))
        if nest.fingerprint != record.fingerprint:
            strays.append(f"{record.id} {record.nest}")
    assert strays == []
