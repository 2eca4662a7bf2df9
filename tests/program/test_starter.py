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
"""Of so many records one is looked at."""


@pytest.fixture(scope="module")
def records() -> Iterator[list[Record]]:
    with closing(Book.open(STARTER, readonly=True)) as book:
        yield [record for number, record in enumerate(book.records()) if number % EVERY == 0]


def test_nests_are_written_as_they_were_read_and_keep_their_fingerprints(records: list[Record]):
    assert len(records) > 100
    for record in records:
        document = json.loads(record.nest_json)
        program = read(document)
        assert write(program) == document
        (nest,) = nests(program)
        assert nest.fingerprint == record.fingerprint
