"""The index: exact, derived, rebuilt without a word when it is stale or damaged."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from recipes_samples import embedding, record, vector

from loopbook.recipes import index as index_module
from loopbook.recipes.index import VectorIndex, index_of, normalised
from loopbook.recipes.store import Store


@pytest.fixture
def store(tmp_path):
    opened = Store.open(tmp_path / "book.db")
    opened.add((record(n), [embedding(n)]) for n in range(20))
    yield opened
    opened.close()


@pytest.fixture(params=["faiss", "numpy"])
def library(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(index_module, "_faiss", lambda: None)
    return request.param


def test_distances_are_those_between_unit_vectors(library):
    rows = np.stack([vector(n) for n in range(50)])
    index = VectorIndex([str(n) for n in range(50)], normalised(rows))
    query = 7.5 * vector(99)
    names, distances = index.search(query, 10)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    true = np.linalg.norm(unit - query / np.linalg.norm(query), axis=1)
    assert names == [str(n) for n in np.argsort(true)[:10]]
    assert distances == pytest.approx(np.sort(true)[:10].tolist(), abs=1e-5)
    assert index.search(rows[3] * 2, 1)[0] == ["3"]
    assert index.search(rows[3], 1)[1] == pytest.approx([0.0], abs=1e-6)
    assert len(index.search(query, 1000)[0]) == 50


def test_the_index_is_kept_beside_the_book(store, library, monkeypatch):
    index_of(store, "first")
    assert {"book.db.faiss", "book.db.faiss.json"} <= set(os.listdir(store.path.parent))

    def built_anew(self, encoder):
        raise AssertionError("the kept index was not used")

    monkeypatch.setattr(Store, "vectors", built_anew)
    assert index_of(store, "first").search(vector(3), 1)[0] == ["nest3"]


@pytest.mark.parametrize("suffix", [".faiss", ".faiss.json"])
@pytest.mark.parametrize("damage", ["gone", "empty", "cut", "flipped", "garbage", "folder"])
def test_a_damaged_index_is_rebuilt(store, library, suffix, damage):
    index_of(store, "first")
    path = store.path.with_name("book.db" + suffix)
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
    assert index_of(store, "first").search(vector(3), 1)[0] == ["nest3"]
    if damage != "folder":
        assert path.read_bytes() == good


def test_a_stale_index_is_rebuilt(store, library):
    index_of(store, "first")
    store.add([(record(77), [embedding(77)])])
    store.delete(record(3).id)
    index = index_of(store, "first")
    assert index.search(vector(77), 1)[0] == ["nest77"]
    assert "nest3" not in index.fingerprints


def test_each_encoder_has_its_own_vectors(store, library):
    index_of(store, "first")
    store.add_embeddings([("nest1", embedding(5, "second"))])
    assert index_of(store, "second").fingerprints == ["nest1"]
    assert len(index_of(store, "first")) == 20
    assert len(index_of(store, "third")) == 0


def test_an_index_of_either_library_is_read_by_the_other(store, monkeypatch):
    index_of(store, "first")
    about = json.loads(store.path.with_name("book.db.faiss.json").read_bytes())
    assert about["format"] == "faiss"
    monkeypatch.setattr(index_module, "_faiss", lambda: None)
    assert index_of(store, "first").search(vector(3), 1)[0] == ["nest3"]
    about = json.loads(store.path.with_name("book.db.faiss.json").read_bytes())
    assert about["format"] == "rows"
    monkeypatch.undo()
    assert index_of(store, "first").search(vector(3), 1)[0] == ["nest3"]


def test_a_read_only_book_gets_no_index_file(store):
    packed = store.path.with_name("packed.db")
    store.pack(packed)
    assert index_of(Store.open(packed, readonly=True), "first").search(vector(3), 1)[0] == ["nest3"]
    assert not packed.with_name("packed.db.faiss").exists()
