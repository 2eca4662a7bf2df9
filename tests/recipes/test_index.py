"""A book's index: derived, kept up to date, rebuilt without a word when it is stale or damaged."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recipes_samples import AVX2, AVX512, DIMENSION, embedding, record, vector

from loopbook.recipes import Book, Embedding, Recipe, _indexes, _log
from loopbook.recipes._indexes import Indexes, index_of
from loopbook.recipes.index import VectorIndex, normalised
from loopbook.recipes.indexes import choice
from loopbook.recipes.store import Store


@pytest.fixture
def store(tmp_path):
    opened = Store.open(tmp_path / "book.db")
    opened.add((record(n), [embedding(n)]) for n in range(20))
    yield opened
    opened.close()


@pytest.fixture
def built(monkeypatch):
    """How often an index was built from scratch."""
    calls = []
    build = VectorIndex.build

    def counted(*given):
        calls.append(1)
        return build(*given)

    monkeypatch.setattr(VectorIndex, "build", counted)
    return calls


def nearest(index: VectorIndex, number: int) -> str:
    return index.search(vector(number), 1)[0][0]


def file_of(store: Store):
    assert store.path is not None
    return store.path.with_name("book.db.faiss")


def test_distances_are_those_between_unit_vectors():
    rows = np.stack([vector(n) for n in range(50)])
    index = VectorIndex.of([str(n) for n in range(50)], rows)
    query = 7.5 * vector(99)
    names, distances = index.search(query, 10)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    true = np.linalg.norm(unit - query / np.linalg.norm(query), axis=1)
    assert names == [str(n) for n in np.argsort(true)[:10]]
    assert distances == pytest.approx(np.sort(true)[:10].tolist(), abs=1e-5)
    assert index.search(rows[3] * 2, 1)[0] == ["3"]
    assert index.search(rows[3], 1)[1] == pytest.approx([0.0], abs=1e-6)
    assert len(index.search(query, 1000)[0]) == 50


def test_the_index_is_kept_beside_the_book(store, built):
    index_of(store, "first")
    assert "book.db.faiss" in os.listdir(store.path.parent)
    assert nearest(index_of(store, "first"), 3) == "nest3"
    assert len(built) == 1


@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "flipped", "garbage", "folder"])
@pytest.mark.parametrize("limit", [10, 1000])
def test_a_damaged_index_is_rebuilt(store, built, monkeypatch, damage, limit):
    monkeypatch.setattr(choice, "FLAT_LIMIT", limit)
    index_of(store, "first")
    path = file_of(store)
    good = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "gone":
        flipped = bytearray(good)
        flipped[len(good) // 2] ^= 1
        path.write_bytes(
            {"empty": b"", "cut": good[:-9], "flipped": bytes(flipped), "garbage": b"[1]"}[damage]
        )
    assert nearest(index_of(store, "first"), 3) == "nest3"
    assert len(built) == 2
    if damage != "folder":
        assert path.read_bytes() == good


@settings(max_examples=50)
@given(place=st.floats(0, 1, exclude_max=True), value=st.integers(1, 255))
def test_any_flipped_byte_shows(tmp_path_factory, place, value):
    path = tmp_path_factory.mktemp("flip") / "index"
    VectorIndex.of([f"nest{n}" for n in range(9)], np.eye(9)).save(path, "first")
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= value
    path.write_bytes(content)
    assert VectorIndex.load(path, "first") is None


def test_an_index_catches_up_with_the_book(store, built):
    held = index_of(store, "first")
    with closing(Store.open(store.path)) as other:
        other.add([(record(77), [embedding(77)])])
        other.delete(record(3).id)
        other.add_embeddings([("nest4", embedding(44))])
    for index in (index_of(store, "first", held), index_of(store, "first")):
        assert nearest(index, 77) == "nest77"
        assert nearest(index, 44) == "nest4"
        assert sorted(index.fingerprints()) == sorted(
            [f"nest{n}" for n in range(20) if n != 3] + ["nest77"]
        )
    assert len(built) == 1


def test_a_change_that_the_log_lost_is_not_missed(store, built):
    index_of(store, "first")
    for loss in ("DELETE FROM changes", "DROP TABLE changes", "UPDATE changes SET nests = '['"):
        store.add([(record(50 + len(built)), [embedding(50 + len(built))])])
        with sqlite3.connect(store.path) as connection:
            connection.execute(loss)
        connection.close()
        assert nearest(index_of(store, "first"), 50 + len(built) - 1) == f"nest{49 + len(built)}"
    assert len(built) == 4


def test_a_change_by_a_loopbook_without_a_log_is_not_missed(store, built):
    index_of(store, "first")
    with sqlite3.connect(store.path) as connection:
        connection.execute("DELETE FROM embeddings WHERE fingerprint = 'nest5'")
        connection.execute("UPDATE meta SET value = 'unheard of' WHERE key = 'stamp'")
    connection.close()
    store.add([(record(78), [embedding(78)])])
    index = index_of(store, "first")
    assert "nest5" not in index.fingerprints()
    assert nearest(index, 78) == "nest78"
    assert len(built) == 2


def test_the_log_stays_short(store, built, monkeypatch):
    monkeypatch.setattr(_log, "_MAX_ROWS", 8)
    monkeypatch.setattr(_log, "_PRUNE_EVERY", 4)
    monkeypatch.setattr(_log, "_MAX_NESTS", 30)
    stamp = store.stamp()
    for n in range(30):
        store.add([(record(100 + n), [embedding(100 + n)])])
        if n == 24:
            late = store.stamp()
    assert store.changes_since(stamp) is None
    assert store.changes_since(late).embedded == {f"nest{n}" for n in range(125, 130)}
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("SELECT count(*) FROM changes").fetchone()[0] <= 12
    connection.close()
    store.add((record(200 + n), [embedding(200 + n)]) for n in range(31))
    assert store.changes_since(late) is None
    store.add([(record(300), [embedding(300)])])
    assert store.changes_since(late) is None
    assert len(index_of(store, "first")) == 82


def test_each_encoder_has_its_own_vectors(store):
    index_of(store, "first")
    store.add_embeddings([("nest1", embedding(5, "second"))])
    assert index_of(store, "second").fingerprints() == ["nest1"]
    assert len(index_of(store, "first")) == 20
    assert len(index_of(store, "third")) == 0


def test_the_index_of_a_database_on_a_server_is_kept_on_this_machine(
    postgres, tmp_path, monkeypatch, built
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(_indexes, "_MOST_KEPT", 2)
    folder = tmp_path / "cache" / "loopbook" / "indexes"
    urls = [postgres.database() for _ in range(3)]
    for url in urls:
        with closing(Store.open(url)) as store:
            store.add((record(n), [embedding(n)]) for n in range(20))
            index_of(store, "first")
            assert [nearest(index_of(store, "first"), n) for n in (3, 7)] == ["nest3", "nest7"]
    assert len(built) == 3
    assert len(list(folder.iterdir())) == 2
    with closing(Store.open(urls[-1])) as store:
        store.add([(record(30), [embedding(30)])])
        assert nearest(index_of(store, "first"), 30) == "nest30"
        assert len(built) == 3
    # The index of another book, which was at this address before, is of no use.
    with closing(Store.open(urls[0])) as store:
        next(folder.iterdir()).replace(_indexes._path(store))
        assert nearest(index_of(store, "first"), 3) == "nest3"
        assert len(built) == 4


def test_the_index_of_a_read_only_book_is_kept_on_this_machine(store, tmp_path, monkeypatch, built):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    packed = store.path.with_name("packed.db")
    store.pack(packed)
    for _ in range(2):
        with closing(Store.open(packed, readonly=True)) as starter:
            assert nearest(index_of(starter, "first"), 3) == "nest3"
    assert len(built) == 1
    assert not packed.with_name("packed.db.faiss").exists()
    # Another book in its place.
    store.add([(record(30), [embedding(30)])])
    packed.unlink()
    store.pack(packed)
    with closing(Store.open(packed, readonly=True)) as starter:
        assert nearest(index_of(starter, "first"), 30) == "nest30"


def test_kinds_follow_the_size_while_records_come_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(choice, "FLAT_LIMIT", 30)
    kinds = []
    with Book.open(tmp_path / "book.db") as book:
        for n in range(70):
            book.add(record(n), embedding(n))
            assert book.nearest(vector(n), 1)[0].record == record(n)
            assert book.nearest(vector(n // 2), 1)[0].record == record(n // 2)
            book._indexes.close()
            kinds.append(book._indexes.of("first", book._store.stamp()).kind)
        assert kinds[29] == "flat"
        assert kinds[31] == "ivf"
        assert kinds == sorted(kinds, key=["flat", "ivf"].index)
        for n in range(70):
            if n % 10:
                assert book.delete(record(n).id)
                assert record(n) not in [one.record for one in book.nearest(vector(n), 3)]
        book._indexes.close()
        book._indexes.of("first", "")
        assert len(book._indexes.of("first", book._store.stamp()).fingerprints()) == 7
    with Book.open(tmp_path / "book.db") as book:
        found = {one.record.id for one in book.nearest(vector(0), 99)}
        assert found == {one.id for one in book.records()}


def test_a_search_waits_for_no_successor_until_it_must(store, monkeypatch, built):
    going_on = threading.Event()
    first = index_of(store, "first")
    monkeypatch.setattr(choice, "FLAT_LIMIT", 15)
    make = _indexes._built

    def slowly(*given):
        if threading.current_thread().name == "loopbook index":
            assert going_on.wait(600)
        return make(*given)

    monkeypatch.setattr(_indexes, "_built", slowly)
    indexes = Indexes(store)
    indexes._held["first"] = first
    store.add([(record(30), [embedding(30)])])
    for n in range(31, 35):
        index = indexes.of("first", store.stamp())
        assert index.kind == "flat"
        store.add([(record(n), [embedding(n)])])
    going_on.set()
    indexes.close()
    index = indexes.of("first", store.stamp())
    assert index.kind == "ivf"
    assert nearest(index, 34) == "nest34"
    assert len(index) == 25


@pytest.mark.parametrize("limit", [0, 10_000])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_after_any_changes_the_book_finds_what_a_full_comparison_does(
    tmp_path_factory, limit, data
):
    machines = [AVX2, AVX512]
    targets = ["sequential", "openmp"]
    numbers = st.integers(0, 11)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choice, "FLAT_LIMIT", limit)
        with Book.open(tmp_path_factory.mktemp("changes") / "book.db") as book:
            for _ in range(data.draw(st.integers(1, 12))):
                n = data.draw(numbers)
                match data.draw(st.sampled_from(["add", "delete", "embed", "restart"])):
                    case "add":
                        machine = data.draw(st.sampled_from(machines))
                        target = data.draw(st.sampled_from(targets))
                        # Of equal recipes only the best is offered.
                        recipe = Recipe.parse(f"tile L0 {2 + machines.index(machine)}")
                        made = record(n, target=target, hardware=machine, recipe=recipe)
                        book.add(made, embedding(n))
                    case "delete":
                        for one in [r for r in book.records() if r.fingerprint == f"nest{n}"][:1]:
                            book.delete(one.id)
                    case "embed":
                        if any(one.fingerprint == f"nest{n}" for one in book.records()):
                            other = data.draw(st.integers(12, 20))
                            rows = np.zeros((0, DIMENSION))
                            made = Embedding("first", vector(other), rows, rows, (), ())
                            book.add_embeddings([(f"nest{n}", made)])
                    case "restart":
                        book._indexes.close()
                        book._indexes = Indexes(book._store)
                        book._loaded.snapshot = None
                target = data.draw(st.sampled_from([None, *targets]))
                query, k = data.draw(st.integers(0, 20)), data.draw(st.integers(1, 8))
                found = book.nearest(vector(query), k, target=target, per_nest=9)
                true = []
                for one in book.records():
                    if target in (None, one.target):
                        stored = book.embedding(one.fingerprint, "first")
                        assert stored is not None
                        unit = normalised(np.stack([stored.nest, vector(query)]))
                        true.append(float(np.linalg.norm(unit[0] - unit[1])))
                assert [one.distance for one in found] == pytest.approx(sorted(true)[:k], abs=2e-3)
