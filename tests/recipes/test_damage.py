"""Damage to a book's file: what is read is what was written, or it is told; and who may read it."""

from __future__ import annotations

import os
import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from recipes_samples import AVX2, AVX512, embedding, record

from loopbook import private
from loopbook.errors import BookError
from loopbook.recipes import Book

NESTS = 6


def filled(path: Path) -> Path:
    with Book.open(path) as book:
        book.add_many((record(n), [embedding(n)]) for n in range(NESTS))
        book.add_many((record(n, hardware=AVX512), []) for n in range(3))
        book.pack(path.with_name("packed.db"))
    return path.with_name("packed.db")


def everything(path: Path) -> tuple[list[Any], tuple[str, ...]]:
    """All that look-ups find in a book, and the damage that they met."""
    with Book.open(path, readonly=True) as book:
        found: list[Any] = [book.exact(f"nest{n}", "sequential") for n in range(NESTS)]
        for number in range(NESTS):
            near = book.nearest(embedding(number), 4, hardware=AVX2)
            found += [(one.record, one.embedding, one.distance) for one in near]
        return found, book.damage


def test_a_flipped_bit_shows_or_changes_nothing(tmp_path):
    path = filled(tmp_path / "book.db")
    good = path.read_bytes()
    wanted, damage = everything(path)
    assert damage == ()
    chance = random.Random(7)
    outcomes = Counter()
    for _ in range(120):
        spoilt = bytearray(good)
        spoilt[chance.randrange(len(good))] ^= 1 << chance.randrange(8)
        path.write_bytes(spoilt)
        try:
            found, damage = everything(path)
        except BookError:
            outcomes["refused"] += 1
        else:
            outcomes["told" if damage else "same" if found == wanted else "wrong"] += 1
    assert outcomes["wrong"] == 0
    assert min(outcomes[one] for one in ("refused", "told", "same")) > 0, outcomes


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE records SET speedup = 99 WHERE fingerprint = 'nest1'", "differs"),
        ("UPDATE records SET provenance = '{}' WHERE fingerprint = 'nest1'", "no kernel"),
        ("UPDATE embeddings SET nest = zeroblob(64) WHERE fingerprint = 'nest1'", "can't be read"),
        ("UPDATE embeddings SET names = '[]' WHERE fingerprint = 'nest1'", "differs"),
        ("DELETE FROM records WHERE fingerprint = 'nest1'", "missing or doubled"),
        ("DELETE FROM embeddings WHERE fingerprint = 'nest1'", "missing or doubled"),
        ("DELETE FROM nests", "not there"),
        ("UPDATE hardware SET body = replace(body, 'avx2', 'sse2')", "machine"),
    ],
)
def test_what_is_damaged_is_left_out_and_told_and_the_rest_is_read(tmp_path, change, told):
    path = filled(tmp_path / "book.db")
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()
    found, damage = everything(path)
    assert any(told in line for line in damage), damage
    if "nest1" in change:
        (kept,) = [one for one in found[5] if one.hardware == AVX2]
        assert kept == record(5)
        with Book.open(path) as book:
            assert book.nearest(embedding(5), 1)[0].record.fingerprint == "nest5"
            assert book.verify() != []


def test_writing_keeps_the_hashes_and_the_totals(tmp_path):
    with Book.open(tmp_path / "book.db") as book:
        book.add(record(0), embedding(0))
        book.add(record(1), embedding(1, "second"))
        book.add_embeddings([("nest0", embedding(7))])
        book.add(record(0, hardware=AVX512))
        assert book.delete(record(1).id)
        assert book.delete(record(0).id)
        assert book.forget_encoder("first") == 1
        book.add(record(3), embedding(3))
        assert book.verify() == []
        assert len(book.nearest(embedding(3), 5)) == 1
        assert book.damage == ()


def test_files_are_their_owners_only_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        path = tmp_path / "some" / "where" / "book.db"
        with Book.open(path) as book:
            book.add(record(0), embedding(0))
            book.nearest(embedding(0))
            beside = sorted(one.name for one in path.parent.iterdir())
            assert {"book.db", "book.db-wal", "book.db-shm", "book.db.faiss"} <= set(beside)
            modes = {one.name: one.stat().st_mode & 0o777 for one in path.parent.iterdir()}
            book.export(path.with_name("lines.jsonl"))
            book.export(path.with_name("lines.jsonl.gz"))
            book.pack(tmp_path / "packed" / "book.db")
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(modes, 0o600)
    made = [*path.parent.iterdir(), tmp_path / "packed" / "book.db"]
    assert {one.stat().st_mode & 0o777 for one in made} == {0o600}
    folders = [path.parent, path.parent.parent, tmp_path / "packed"]
    assert {one.stat().st_mode & 0o777 for one in folders} == {0o700}


def test_a_book_that_others_can_change_is_not_ours(tmp_path):
    path = filled(tmp_path / "book.db")
    assert private.is_ours(path)
    with Book.open(path) as book:
        assert not book.foreign
    link = tmp_path / "link.db"
    link.symlink_to(path)
    assert private.is_ours(link)
    path.chmod(0o666)
    assert not private.is_ours(path)
    assert not private.is_ours(link)
    with Book.open(path) as book:
        assert book.foreign
    path.chmod(0o600)
    tmp_path.chmod(0o777)
    try:
        assert not private.is_ours(path)
    finally:
        tmp_path.chmod(0o700)
    assert not private.is_ours(tmp_path / "none.db")
