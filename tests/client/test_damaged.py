"""A damaged book of the user's: told once, and what is readable still serves."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from client_kit import SIMPLE, blocked, fill, nests_of, product, record, stencil, text_of

import loopbook
from loopbook.client import damaged
from loopbook.client.opening import open_book
from loopbook.client.plan import make_plan


@pytest.fixture
def books(tmp_path, monkeypatch):
    """The user's own book and a starter book, both with a recipe for `product`."""
    own = fill(tmp_path / "own.db", [record(product, blocked()), record(stencil, "unroll L0\n")])
    starter = fill(tmp_path / "starter.db", [record(product, SIMPLE)])
    monkeypatch.setenv("LOOPBOOK_BOOK", str(own))
    monkeypatch.setenv("LOOPBOOK_STARTER", str(starter))
    monkeypatch.setattr(damaged, "_said", set())
    return own, starter


def spoil_header(path):
    path.write_bytes(b"not a book at all" * 100)


def spoil_pages(path):
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:5000])


def empty(path):
    path.write_bytes(b"")


def drop_table(path):
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE records")
    connection.close()


@pytest.mark.parametrize("spoil", [spoil_header, spoil_pages, cut, empty, drop_table])
def test_an_own_book_that_cannot_be_read_is_told_once_and_the_starter_book_serves(
    books, capfd, spoil
):
    own, _ = books
    for suffix in ("-wal", "-shm", ".faiss"):
        own.with_name(own.name + suffix).unlink(missing_ok=True)
    spoil(own)

    @loopbook.native
    def kernel(A, B, C):
        for i in range(A.shape[0]):
            for j in range(B.shape[1]):
                for k in range(A.shape[1]):
                    C[i, j] += A[i, k] * B[k, j]

    for _ in range(2):
        with open_book() as opened:
            plan = make_plan(text_of(product), "sequential", opened)
            assert plan.nests[0].tier == "exact"
            assert str(plan.recipes[0].text()) == SIMPLE
    if spoil is spoil_pages:  # once is enough: it compiles
        A, B, C = np.ones((4, 4)), np.ones((4, 4)), np.zeros((4, 4))
        kernel(A, B, C)
        assert (C == 4).all()
    said = capfd.readouterr().err
    assert said.count("\n") == 1, said
    assert str(own) in said
    assert "going on without it" in said


def test_a_damaged_record_is_left_out_and_counted_and_the_others_serve(books, capfd):
    own, _ = books
    with sqlite3.connect(own) as connection:
        connection.execute("UPDATE records SET provenance = '{}' WHERE kernel = 'product'")
    connection.close()
    with open_book() as opened:
        (best,) = opened.records_of(nests_of(product)[0], "sequential")
        assert best.recipe.text() == SIMPLE  # the starter book's
        (kept,) = opened.records_of(nests_of(stencil)[0], "sequential")
        assert kept.recipe.text() == "unroll L0\n"
        opened.nearest(text_of(product), 3)
    said = capfd.readouterr().err
    assert said.count("\n") == 1, said
    assert "1 such fault left out" in said
    assert "book verify" in said


def test_a_damaged_starter_book_leaves_the_own_one(books, capfd):
    own, starter = books
    cut(starter)
    with open_book() as opened:
        assert [book.name for book in opened.books] == [str(own)]
    assert str(starter) in capfd.readouterr().err


def test_a_book_that_others_can_change_is_told(books, capfd):
    own, _ = books
    own.chmod(0o666)
    for _ in range(2):
        open_book().close()
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "others can change the book" in said
