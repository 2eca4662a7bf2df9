"""The book: what is found, in which order, after which changes; merging and exchange."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from recipes_samples import (
    AVX2,
    AVX512,
    DIMENSION,
    damaged,
    embedding,
    faster,
    json_values,
    record,
    vector,
)

from loopbook.errors import BookError, InputError, LoopbookError
from loopbook.recipes import Book, Provenance, Recipe, schema
from loopbook.recipes.connect import open_database
from loopbook.recipes.ranking import HARDWARE_WEIGHT


@pytest.fixture
def book(location):
    with Book.open(location) as opened:
        yield opened


def recipe(size: int) -> Recipe:
    return Recipe.parse(f"tile L0 {size}")


def unit(number: int) -> np.ndarray:
    return vector(number) / np.linalg.norm(vector(number))


def test_finds_the_very_nest_first(book):
    book.add_many((record(n), [embedding(n)]) for n in range(30))
    found = book.nearest(embedding(7), 4)
    assert found[0].record == record(7)
    assert found[0].embedding == embedding(7)
    assert found[0].distance == pytest.approx(0, abs=1e-6)
    distances = sorted((float(np.linalg.norm(unit(n) - unit(7))), n) for n in range(30))[:4]
    assert [one.record.fingerprint for one in found] == [f"nest{n}" for _, n in distances]
    assert [one.distance for one in found] == pytest.approx([d for d, _ in distances], abs=1e-5)


def test_filters_lose_nothing(book):
    book.add_many(
        (record(n, target="openmp" if n == 299 else "sequential"), [embedding(n)])
        for n in range(300)
    )
    far = max(range(300), key=lambda n: float(np.linalg.norm(unit(n) - unit(299))))
    found = book.nearest(vector(far), 5, target="openmp")
    assert [one.record.fingerprint for one in found] == ["nest299"]
    without = {f"kernel{n}" for n in range(300)} - {"kernel17", "kernel18"}
    for exclude in (without, lambda kernel: kernel in without):
        found = book.nearest(vector(0), 5, exclude=exclude)
        assert {one.record.kernel for one in found} == {"kernel17", "kernel18"}
    assert book.nearest(vector(17), 1, exclude="kernel17")[0].record.kernel != "kernel17"


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_order_is_that_of_a_full_comparison(tmp_path_factory, data):
    count = data.draw(st.integers(1, 40))
    machines = [AVX2, AVX512]
    made = [
        record(
            data.draw(st.integers(0, 15)),
            target=data.draw(st.sampled_from(["sequential", "openmp"])),
            hardware=data.draw(st.sampled_from(machines)),
            measurements=faster(data.draw(st.integers(1, 50))),
            recipe=recipe(2 + number),
        )
        for number in range(count)
    ]
    k = data.draw(st.integers(1, 12))
    query = data.draw(st.integers(0, 20))
    number_of = {f"nest{n}": n for n in range(16)}

    def place(one):
        apart = np.linalg.norm(unit(number_of[one.fingerprint]) - unit(query))
        return apart + HARDWARE_WEIGHT * AVX2.distance(one.hardware), -one.speedup

    with Book.open(tmp_path_factory.mktemp("order") / "book.db") as book:
        book.add_many((one, [embedding(number_of[one.fingerprint])]) for one in made)
        found = book.nearest(vector(query), k, target="openmp", hardware=AVX2, per_nest=count)
    fitting = [place(one) for one in made if one.target == "openmp"]
    got = [place(one.record) for one in found]
    assert np.allclose(np.array(got), np.array(sorted(fitting)[:k]), atol=1e-5)
    for one in found:
        assert one.hardware_distance == AVX2.distance(one.record.hardware)


def test_the_same_hardware_comes_first_among_equal_nests(book):
    elsewhere = record(1, hardware=AVX512, measurements=faster(50), recipe=recipe(8))
    here = record(1, measurements=faster(2), recipe=recipe(16))
    book.add_many([(elsewhere, [embedding(1)]), (here, [])])
    assert [one.record for one in book.nearest(vector(1), hardware=AVX2)] == [here, elsewhere]
    assert [one.record for one in book.nearest(vector(1), hardware=AVX512)] == [elsewhere, here]
    assert [one.record for one in book.nearest(vector(1))] == [elsewhere, here]


def test_one_nest_does_not_fill_the_answer(book):
    many = [record(1, measurements=faster(n + 2), recipe=recipe(n + 2)) for n in range(9)]
    again = record(1, measurements=faster(40), recipe=recipe(10))
    book.add_many([(one, [embedding(1)]) for one in [*many, again]] + [(record(2), [embedding(2)])])
    found = [one.record for one in book.nearest(vector(1), 5, per_nest=2)]
    # The recipe of size 10 was measured twice: it is offered once, as it did best.
    assert found == [again, many[7], record(2)]


def test_exact_and_best_are_ordered_by_speedup(book):
    made = [record(1, measurements=faster(s), recipe=recipe(s)) for s in (3, 9, 5)]
    other = record(1, hardware=AVX512, measurements=faster(7), recipe=recipe(7))
    parallel = record(1, target="openmp")
    book.add_many((one, []) for one in [*made, other, parallel, record(2)])
    assert [one.speedup for one in book.exact("nest1", "sequential")] == pytest.approx([9, 7, 5, 3])
    assert book.exact("nest1", "sequential", AVX512.key) == [other]
    assert book.best("nest1", "sequential", 2) == [made[1], other]
    assert book.best("nest1", "openmp") == [parallel]
    assert book.exact("nobody", "openmp") == []
    assert len(book) == 6


def test_changes_show_at_once_whoever_made_them(book, location):
    with Book.open(location) as other:
        assert book.nearest(vector(1)) == []
        other.add(record(1), embedding(1))
        assert [one.record for one in book.nearest(vector(1))] == [record(1)]
        assert other.delete(record(1).id)
        assert book.nearest(vector(1)) == []
        assert book.exact("nest1", "sequential") == []
        assert book.record(record(1).id) is None


def test_a_vector_that_fits_no_encoder_is_refused(book):
    book.add(record(1), embedding(1))
    for wrong in (np.zeros(DIMENSION + 1), np.full(DIMENSION, np.nan), np.zeros((1, DIMENSION))):
        with pytest.raises(InputError, match="not a finite vector of 16 numbers"):
            book.nearest(wrong)
    assert book.nearest(embedding(1, "unknown")) == []
    book.add_embeddings([("nest1", embedding(1, "second"))])
    with pytest.raises(InputError, match="first, second: name the encoder"):
        book.nearest(vector(1))
    assert len(book.nearest(vector(1), encoder="second")) == 1


def test_encoders_that_come_and_go_are_noticed(book):
    book.add(record(1), embedding(1))
    assert len(book.nearest(vector(1))) == 1
    book.add(record(2), embedding(2, "second"))
    with pytest.raises(InputError, match="first, second: name the encoder"):
        book.nearest(vector(1))
    book.delete(record(1).id)
    assert [one.record for one in book.nearest(vector(2))] == [record(2)]
    book.delete(record(2).id)
    assert book.nearest(vector(2)) == []


def test_nests_to_embed_anew_are_listed(book):
    book.add(record(1), embedding(1))
    book.add(record(2))
    assert list(book.without_embedding("first")) == [("nest2", record(2).nest_json)]
    book.add_embeddings([("nest2", embedding(2))])
    assert list(book.without_embedding("first")) == []
    assert book.embedding("nest2", "first") == embedding(2)


def test_info_counts(book):
    book.add(record(1), embedding(1))
    book.add(record(1, target="openmp", provenance=Provenance("gemm")))
    book.note_miss("nest9", "openmp", AVX2.key)
    info = book.info()
    assert json.loads(json.dumps(info)) == info
    assert info["records"] == 2
    assert info["nests"] == 1
    assert info["targets"] == {"openmp": 1, "sequential": 1}
    assert info["kernels"] == {"gemm": 1, "kernel1": 1}
    assert info["encoders"] == {"first": 1}
    assert info["hardware"] == {AVX2.key: 2}
    assert info["misses"] == 1
    assert info["schema"] == 3
    assert info["bytes"] is None if "://" in book.name else info["bytes"] > 4096
    assert [one.kernel for one in book.records(kernel="gemm")] == ["gemm"]
    assert [one.target for one in book.records(target="sequential")] == ["sequential"]


@pytest.mark.parametrize("name", ["lines.json", "lines.json.gz"])
def test_export_and_import_lose_nothing(book, tmp_path, name):
    book.add_many((record(n), [embedding(n), embedding(n, "second")]) for n in range(5))
    assert book.export(tmp_path / name) == 5
    with Book.open(tmp_path / "copy.db") as copy:
        assert copy.import_(tmp_path / name) == 5
        assert copy.import_(tmp_path / name) == 0
        assert list(copy.records()) == list(book.records())
        assert copy.embedding("nest3", "second") == embedding(3, "second")
        assert copy.export(tmp_path / ("again" + name)) == 5
        opened = gzip.open if name.endswith(".gz") else open
        with opened(tmp_path / name) as one, opened(tmp_path / ("again" + name)) as two:
            assert one.read() == two.read()


def test_a_broken_line_adds_nothing(book, tmp_path):
    lines = tmp_path / "lines.json"
    book.add_many((record(n), [embedding(n)]) for n in range(3))
    book.export(lines)
    text = lines.read_bytes()
    with Book.open(tmp_path / "copy.db") as copy:
        for broken, message in (
            (text[:-20], "line 4: it is cut short"),
            (text.replace(b"tile", b"tilt", 1), "line 2: step 1: unknown step tilt"),
            (text + b"{}\n", "line 5: there is no record"),
            (text + b"[" * 10**5 + b"\n", "line 5: it is not JSON"),
            (b"", "line 1: it is cut short"),
            (b"{}\n" + text, "no export of a book"),
        ):
            lines.write_bytes(broken)
            with pytest.raises(InputError, match=message):
                copy.import_(lines)
            assert len(copy) == 0
        cut = tmp_path / "cut.json.gz"
        cut.write_bytes(gzip.compress(text)[:-30])
        with pytest.raises(InputError, match="cut short"):
            copy.import_(cut)
        cut.write_bytes(text)
        with pytest.raises(InputError, match="damaged"):
            copy.import_(cut)
        with pytest.raises(BookError, match="can't be read: No such file"):
            copy.import_(tmp_path / "none.json")
        assert len(copy) == 0
    with pytest.raises(BookError, match="can't be written: No such file"):
        book.export(tmp_path / "none" / "lines.json")


_item = {"record": record().to_json(), "embeddings": [embedding().to_json()]}


@settings(max_examples=40, deadline=None)
@given(json_values | damaged(_item))
def test_imports_of_any_json_raise_nothing_else(tmp_path_factory, item):
    folder = tmp_path_factory.mktemp("import")
    header = '{"loopbook": "book", "version": 1}\n'
    (folder / "lines.json").write_text(header + json.dumps(item) + "\n")
    with Book.open(folder / "book.db") as book:
        try:
            book.import_(folder / "lines.json")
        except LoopbookError as error:
            assert "\n" not in str(error)  # noqa: PT017
            assert len(book) == 0
        assert book.verify() == []


def test_merging_adds_what_is_new(book, tmp_path):
    book.add_many((record(n), [embedding(n)]) for n in range(3))
    with Book.open(tmp_path / "other.db") as other:
        other.add_many((record(n), [embedding(n)]) for n in range(2, 6))
        assert book.merge(other) == 3
        assert book.merge(other) == 0
    assert {one.fingerprint for one in book.records()} == {f"nest{n}" for n in range(6)}
    assert book.nearest(vector(5), 1)[0].record == record(5)


def test_verify_names_what_is_wrong(book, location):
    book.add_many((record(n), [embedding(n)]) for n in range(3))
    assert book.verify() == []
    with open_database(location, readonly=False, busy_s=1).writing() as connection:
        for table, column, value, number in (
            (schema.RECORDS, "recipe", "tile L0 0", 0),
            (schema.RECORDS, "nest", "other", 1),
            (schema.EMBEDDINGS, "nest", np.full(DIMENSION, np.nan, "<f4").tobytes(), 2),
        ):
            where = table.c.fingerprint == f"nest{number}"
            connection.execute(sa.update(table).where(where).values({column: value}))
    faults = "\n".join(book.verify())
    assert len(book.verify()) == 3
    assert "line 1: tile needs a size of 2 or more" in faults
    assert f"record {record(1).id} differs from what was written" in faults
    assert "embedding of nest nest2 by first differs from what was written" in faults


def test_threads_share_a_book(book):
    failures = []

    def work(start):
        try:
            for n in range(start, start + 10):
                book.add(record(n), embedding(n))
                assert book.nearest(embedding(n), 1, hardware=AVX2)[0].record == record(n)
                assert book.exact(f"nest{n}", "sequential") == [record(n)]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(book) == 60
    assert book.verify() == []


def test_reading_a_recipe_loads_no_database():
    code = (
        "import sys\nfrom loopbook.recipes import Recipe, Record\n"
        "Recipe.parse('unroll L0')\n"
        "heavy = {'sqlalchemy', 'faiss', 'torch', 'docc'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "from loopbook.recipes import Book\n"
        "assert 'faiss' not in sys.modules and 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
