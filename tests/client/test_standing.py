"""The starter book stays open from one compile to the next, as long as it is the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from client_kit import fill, nests_of, product, record

from loopbook.client.opening import open_book
from loopbook.client.standing import standing_book
from loopbook.recipes.book import Book


@pytest.fixture
def starter(tmp_path: Path, monkeypatch) -> Path:
    """Where a starter book is."""
    path = fill(tmp_path / "starter.db", [record(product, "", name="first")])
    monkeypatch.setenv("LOOPBOOK_STARTER", str(path))
    monkeypatch.setenv("LOOPBOOK_BOOK", str(tmp_path / "book.db"))
    monkeypatch.delenv("LOOPBOOK_SERVER", raising=False)
    return path


def kernels() -> set[str]:
    with open_book(standing=True) as books:
        return {near.record.kernel for near in books.nearest(nests_of(product)[0])}


def test_the_starter_book_is_left_open(starter):
    assert kernels() == {"first"}
    before = standing_book(starter)
    assert kernels() == {"first"}
    assert standing_book(starter) is before
    with open_book(standing=True) as books:
        assert books.layers == (before,)


def test_the_own_book_is_opened_each_time(starter, tmp_path):
    assert kernels() == {"first"}
    fill(tmp_path / "book.db", [record(product, "", name="own")])
    assert kernels() == {"first", "own"}
    assert not (tmp_path / "book.db-wal").exists()
    (tmp_path / "book.db").unlink()
    assert kernels() == {"first"}


def test_a_book_in_the_place_of_another_is_seen(starter, tmp_path):
    assert kernels() == {"first"}
    os.replace(fill(tmp_path / "other.db", [record(product, "", name="other")]), starter)
    assert kernels() == {"other"}
    starter.unlink()
    assert standing_book(starter) is None
    assert kernels() == set()


def test_a_child_process_opens_a_book_of_its_own(starter):
    assert kernels() == {"first"}
    before = standing_book(starter)
    child = os.fork()
    if not child:
        os._exit(0 if standing_book(starter) is not before and kernels() == {"first"} else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert standing_book(starter) is before


def test_those_who_open_a_book_to_close_it_do(starter):
    with open_book() as books:
        (own,) = books.layers
        assert isinstance(own, Book)
        assert own is not standing_book(starter)
