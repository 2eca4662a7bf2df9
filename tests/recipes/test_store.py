"""The store: what is written stays whole, whatever happens to the process or the file."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from recipes_samples import AVX2, DIMENSION, embedding, faster, record

from loopbook.errors import BookError, InputError, LoopbookError
from loopbook.recipes import Book, Embedding, schema
from loopbook.recipes.connect import open_database
from loopbook.recipes.sqlite_file import APPLICATION_ID
from loopbook.recipes.store import Store

ROOT = Path(__file__).parents[2]

FORKS = get_context("fork")
"""For writers of a book that is not open here, so that they inherit nothing of it. To load all
anew takes a process a second."""


def filled(path: Path, count: int = 5) -> Path:
    store = Store.open(path)
    store.add((record(n), [embedding(n)]) for n in range(count))
    store.close()
    return path


def child(code: str, *args: object, **options) -> subprocess.Popen[str]:
    """A Python process that has the samples at hand."""
    prelude = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from recipes_samples import embedding, record\n"
        "from loopbook.errors import LoopbookError\n"
        "from loopbook.recipes.book import Book\n"
    )
    paths = [str(ROOT / "tests" / "kits"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-c", prelude + code, *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        **options,
    )


def test_a_missing_file_and_its_folders_are_made(tmp_path):
    path = tmp_path / "some" / "where" / "book.db"
    store = Store.open(path)
    store.add([(record(), [embedding()])])
    assert store.records([record().id]) == {record().id: record()}
    assert store.embeddings(["nest0"], "first") == {"nest0": embedding()}
    store.close()
    assert os.listdir(path.parent) == ["book.db"]


def test_adding_again_changes_nothing(location):
    store = Store.open(location)
    assert store.add([(record(), [embedding()])]) == 1
    stamp = store.stamp()
    assert store.add([(record(), [embedding()])]) == 0
    assert store.stamp() == stamp
    assert len(store.entries()) == 1


def test_all_of_a_batch_or_nothing(location):
    store = Store.open(location)

    def batch():
        yield record(1), [embedding(1)]
        raise InputError("line 2 is broken")

    with pytest.raises(InputError, match="line 2"):
        store.add(batch())
    assert store.entries() == []
    assert store.encoders() == {}


def test_vectors_that_make_no_sense_are_refused(location):
    store = Store.open(location)
    bad = embedding(1)
    bad.loops[0, 0] = float("nan")
    with pytest.raises(InputError, match="NaN"):
        store.add([(record(1), [bad])])
    store.add([(record(2), [embedding(2)])])
    none = np.zeros((0, 2 * DIMENSION))
    wide = Embedding("first", np.ones(2 * DIMENSION), none, none, (), ())
    with pytest.raises(InputError, match="give the new encoder another name"):
        store.add([(record(3), [wide])])
    assert [entry.id for entry in store.entries()] == [record(2).id]


def test_deleting_leaves_nothing_behind(location):
    store = Store.open(location)
    twin = record(0, measurements=faster(9))
    store.add([(record(0), [embedding(0)]), (twin, []), (record(1), [embedding(1)])])
    assert store.delete(twin.id)
    assert not store.delete(twin.id)
    assert store.records([record(0).id]) == {record(0).id: record(0)}
    assert store.delete(record(0).id)
    assert store.encoders() == {"first": 1}
    store.close()
    with open_database(location, readonly=True, busy_s=1).reading() as connection:
        for table in (schema.NESTS, schema.HARDWARE, schema.RECORDS, schema.EMBEDDINGS):
            assert connection.execute(sa.select(sa.func.count()).select_from(table)).scalar() == 1


def test_misses_are_counted(location):
    store = Store.open(location)
    for fingerprint in ("a", "b", "b"):
        store.note_miss(fingerprint, "openmp", AVX2.key, "mine:0")
    assert [(miss.fingerprint, miss.count) for miss in store.misses()] == [("b", 2), ("a", 1)]
    assert store.misses()[0].last_seen.endswith("+00:00")


@pytest.mark.parametrize("keep", [0, 10, 99, 100, 4096, 20000])
def test_a_file_cut_short_is_refused_untouched(tmp_path, keep):
    path = filled(tmp_path / "book.db")
    data = path.read_bytes()[:keep]
    path.write_bytes(data)
    for readonly in (False, True):
        with pytest.raises(BookError, match="cut short"):
            Store.open(path, readonly=readonly)
    assert path.read_bytes() == data
    assert os.listdir(tmp_path) == ["book.db"]


def test_what_is_no_book_is_refused_untouched(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, and longer than the header of one. " * 10)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE records (id)")
    connection.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(BookError, match="not a loopbook book"):
            Store.open(path)
        assert path.read_bytes() == before
    with pytest.raises(BookError, match="is not a file"):
        Store.open(tmp_path)
    with pytest.raises(BookError, match="there is no book"):
        Store.open(tmp_path / "none.db", readonly=True)
    with pytest.raises(BookError, match=r"notes\.txt is not a folder"):
        Store.open(text / "book.db")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return filled(tmp_path_factory.mktemp("good") / "book.db", 2)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_damaged_file_never_raises_anything_else(good, data):
    content = bytearray(good.read_bytes())
    for _ in range(data.draw(st.integers(1, 40))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "book.db")
        path.write_bytes(content)
        try:
            with Book.open(path) as book:
                book.verify()
                book.info()
                list(book.records())
                book.nearest(embedding(0), hardware=AVX2)
                book.export(Path(folder, "lines.json"))
                book.add(record(3), embedding(3))
        except LoopbookError as error:
            assert "\n" not in str(error)  # noqa: PT017


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_rows_of_any_content_never_raise_anything_else(good, data):
    anything = st.none() | st.integers(-5, 5) | st.floats() | st.text(max_size=3) | st.binary()
    table = data.draw(
        st.sampled_from(["meta", "records", "hardware", "embeddings", "nests", "changes"])
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "book.db")
        path.write_bytes(good.read_bytes())
        with sqlite3.connect(path) as connection:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            # SQLite itself takes nothing but integers there.
            columns = [name for name in columns if name != "seq"]
            column = data.draw(st.sampled_from(columns))
            connection.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", [data.draw(anything)])
        connection.close()
        try:
            with Book.open(path) as book:
                book.verify()
                book.info()
                list(book.records())
                book.nearest(embedding(0), hardware=AVX2)
        except LoopbookError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_a_newer_book_is_refused_untouched(tmp_path):
    path = filled(tmp_path / "book.db")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    connection.close()
    before = path.read_bytes()
    for readonly in (False, True):
        with pytest.raises(BookError, match="written by a newer loopbook"):
            Store.open(path, readonly=readonly)
    assert path.read_bytes() == before


def version_1(path: Path) -> None:
    """A book of the first layout, as its SQL was."""
    connection = sqlite3.connect(path)
    connection.executescript(
        f"""
        PRAGMA application_id = {APPLICATION_ID};
        CREATE TABLE meta (key VARCHAR(64) NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE nests (id VARCHAR(32) NOT NULL PRIMARY KEY, body BLOB NOT NULL);
        CREATE TABLE hardware (id VARCHAR(32) NOT NULL PRIMARY KEY,
            key VARCHAR(64) NOT NULL, body TEXT NOT NULL);
        CREATE TABLE records (id VARCHAR(32) NOT NULL PRIMARY KEY,
            fingerprint VARCHAR(128) NOT NULL,
            nest_id VARCHAR(32) NOT NULL REFERENCES nests (id),
            hardware_id VARCHAR(32) NOT NULL REFERENCES hardware (id),
            nest TEXT NOT NULL, kernel TEXT NOT NULL, target VARCHAR(16) NOT NULL,
            recipe TEXT NOT NULL, measurements TEXT NOT NULL, provenance TEXT NOT NULL);
        CREATE INDEX ix_records_fingerprint ON records (fingerprint);
        CREATE INDEX ix_records_nest_id ON records (nest_id);
        CREATE INDEX ix_records_hardware_id ON records (hardware_id);
        CREATE TABLE embeddings (fingerprint VARCHAR(128) NOT NULL,
            encoder VARCHAR(128) NOT NULL, dimension INTEGER NOT NULL, nest BLOB NOT NULL,
            loops BLOB NOT NULL, containers BLOB NOT NULL, names TEXT NOT NULL,
            PRIMARY KEY (fingerprint, encoder));
        INSERT INTO meta VALUES ('schema', '1'), ('stamp', 'old');
        """
    )
    old = record(measurements=faster(2) + faster(8))
    connection.execute("INSERT INTO nests VALUES ('n', ?)", [zlib.compress(b'{"nest": 0}')])
    connection.execute(
        "INSERT INTO hardware VALUES ('h', ?, ?)", [AVX2.key, json.dumps(AVX2.to_json())]
    )
    connection.execute(
        "INSERT INTO records VALUES (?, ?, 'n', 'h', ?, ?, ?, ?, ?, ?)",
        [
            old.id,
            old.fingerprint,
            old.nest,
            old.kernel,
            old.target,
            old.recipe.text(),
            json.dumps([one.to_json() for one in old.measurements]),
            json.dumps(old.provenance.to_json()),
        ],
    )
    connection.commit()
    connection.close()


def layout(path: Path) -> dict[str, list[tuple]]:
    engine = sa.create_engine(f"sqlite:///{path}")
    inspector = sa.inspect(engine)
    found = {
        table: sorted(
            (column["name"], str(column["type"].as_generic()), column["nullable"], key)
            for column in inspector.get_columns(table)
            for key in [column["name"] in inspector.get_pk_constraint(table)["constrained_columns"]]
        )
        for table in inspector.get_table_names()
    }
    engine.dispose()
    return found


def test_an_older_book_is_upgraded(tmp_path):
    old = record(measurements=faster(2) + faster(8))
    version_1(tmp_path / "old.db")
    before = (tmp_path / "old.db").read_bytes()
    reader = Store.open(tmp_path / "old.db", readonly=True)
    assert reader.records([old.id]) == {old.id: old}
    assert [one.id for one in reader.entries()] == [old.id]
    with pytest.raises(BookError, match="read-only"):
        reader.add([(record(5), [])])
    reader.close()
    assert (tmp_path / "old.db").read_bytes() == before
    store = Store.open(tmp_path / "old.db")
    assert store.records([old.id]) == {old.id: old}
    assert store.entries()[0].speedup == pytest.approx(4)
    store.note_miss("a", "openmp", AVX2.key)
    assert store.stamp() != "old"
    assert store.faults() == []
    store.close()
    Store.open(tmp_path / "new.db").close()
    assert layout(tmp_path / "old.db") == layout(tmp_path / "new.db")
    assert schema.VERSION == 3


def test_an_upgrade_that_fails_leaves_the_old_book(tmp_path, monkeypatch):
    version_1(tmp_path / "old.db")
    before = layout(tmp_path / "old.db")

    def fails(connection):
        raise BookError("out of luck")

    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, fails])
    monkeypatch.setattr(schema, "VERSION", 4)
    with pytest.raises(BookError, match="out of luck"):
        Store.open(tmp_path / "old.db")
    assert layout(tmp_path / "old.db") == before


def test_a_packed_book_is_read_without_side_files(tmp_path):
    store = Store.open(filled(tmp_path / "book.db"))
    store.note_miss("a", "openmp", AVX2.key)
    packed = tmp_path / "share" / "starter.db"
    store.pack(packed)
    store.close()
    assert packed.read_bytes()[18] == 1
    starter = Store.open(packed, readonly=True)
    assert len(starter.records([record(n).id for n in range(5)])) == 5
    assert starter.misses() == []
    assert os.listdir(packed.parent) == ["starter.db"]
    with pytest.raises(BookError, match="read-only"):
        starter.add([(record(9), [])])


# Root may write anywhere, so that such a process gives that up, once all is loaded that only root
# may be able to read.
AS_NOBODY = """
import tempfile
with tempfile.TemporaryDirectory() as folder:
    with Book.open(folder + "/warm.db") as book:
        book.add(record(), embedding())
        book.nearest(embedding())
if os.getuid() == 0:
    os.setuid(65534)
"""


@pytest.mark.parametrize("in_log_mode", [True, False])
def test_a_read_only_place_is_read_and_never_written(in_log_mode):
    folder = Path(tempfile.mkdtemp(prefix="loopbook-readonly-"))
    try:
        path = filled(folder / "book.db")
        if not in_log_mode:
            store = Store.open(path)
            store.pack(path)
            store.close()
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
        before = path.read_bytes()
        path.chmod(0o444)
        folder.chmod(0o555)
        process = child(
            AS_NOBODY + "book = Book.open(sys.argv[1])\n"
            "print(book.readonly, len(book), len(book.nearest(embedding(2), 3)))\n"
            "try: book.add(record(99))\n"
            "except LoopbookError as error: print(error)\n"
            "try: Book.open(Path(sys.argv[1]).with_name('new.db'))\n"
            "except LoopbookError as error: print(error)\n",
            path,
        )
        output = process.communicate(timeout=600)[0].splitlines()
        assert output[0] == "True 5 3"
        assert output[1] == f"book {path} is read-only: open another one to write to"
        assert output[2] == f"book {folder / 'new.db'}: Permission denied"
        assert path.read_bytes() == before
        assert os.listdir(folder) == ["book.db"]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_full_disk_is_one_line_and_the_book_as_it_was(tmp_path):
    path = filled(tmp_path / "book.db")
    # A limit on the size of files does what a full disk does: writes fail half way.
    process = child(
        "import resource\n"
        "book = Book.open(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "big = [(record(n, nest_json=os.urandom(5000).hex()), []) for n in range(100, 200)]\n"
        "try: book.add_many(big)\n"
        "except LoopbookError as error: print(type(error).__name__, error)\n"
        "print(len(book))\n",
        path,
    )
    lines = process.communicate(timeout=600)[0].splitlines()
    assert lines[0].startswith(f"BookError book {path}: it can't be written, the disk is full")
    assert lines[1:] == ["5"]
    store = Store.open(path)
    assert store.faults() == []
    assert len(store.entries()) == 5


def test_a_full_disk_at_creation_leaves_nothing(tmp_path):
    process = child(
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        "try: Book.open(sys.argv[1])\n"
        "except LoopbookError as error: print(type(error).__name__)\n",
        tmp_path / "book.db",
    )
    assert process.communicate(timeout=600)[0] == "BookError\n"
    assert os.listdir(tmp_path) == []


def test_a_book_that_another_process_holds_is_one_line(tmp_path):
    path = filled(tmp_path / "book.db")
    store = Store.open(path, busy_s=0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(BookError, match="another process is writing"):
        store.add([(record(9), [])])
    assert len(store.entries()) == 5
    holder.execute("ROLLBACK")
    holder.close()
    assert store.add([(record(9), [])]) == 1


def test_writers_take_turns_also_at_creation(location):
    def write(start: int) -> None:
        book = Book.open(location)
        for n in range(start, start + 30):
            book.add(record(n), embedding(n))
        book.add(record(1000), embedding(1000))

    processes = [FORKS.Process(target=write, args=(start,), daemon=True) for start in (0, 100)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(600)
        assert process.exitcode == 0
    store = Store.open(location)
    assert len(store.entries()) == 61
    assert store.encoders() == {"first": 61}
    assert store.faults() == []


@pytest.mark.parametrize("moment", [0.0, 0.02, 0.07, 0.15])
def test_killed_while_adding_the_book_holds_all_that_was_reported(location, moment):
    def write(lines: int) -> None:
        book = Book.open(location)
        for n in range(100_000):
            book.add(record(n), embedding(n))
            os.write(lines, f"{record(n).id}\n".encode())  # all of it or nothing

    reading, writing = os.pipe()
    process = FORKS.Process(target=write, args=(writing,), daemon=True)
    process.start()
    os.close(writing)
    with os.fdopen(reading) as lines:
        reported = [lines.readline().strip()]
        time.sleep(moment)
        process.kill()
        reported += [line.strip() for line in lines]
    process.join()
    assert process.exitcode == -signal.SIGKILL
    store = Store.open(location)
    assert store.faults() == []
    there = store.records(reported)
    assert set(there) == set(reported)
    assert len(store.entries()) <= len(reported) + 1
    assert store.add([(record(10**6), [])]) == 1


def test_opening_a_book_twice_does_not_drop_the_locks_of_the_first(tmp_path):
    path = filled(tmp_path / "book.db")
    first = Store.open(path)
    locked = inode_locks(path)
    assert first.stamp()
    assert inode_locks(path)
    second = Store.open(path)
    assert inode_locks(path)
    second.close()
    assert first.stamp()
    assert inode_locks(path)
    first.close()
    assert not inode_locks(path)
    assert locked
    with pytest.raises(BookError, match="has been closed"):
        first.stamp()


def inode_locks(path: Path) -> list[str]:
    """The locks that this process holds on a file, as the kernel knows them."""
    inode = f":{path.stat().st_ino} "
    lines = Path("/proc/locks").read_text().splitlines()
    return [line for line in lines if inode in line and f" {os.getpid()} " in line]


def test_a_book_being_written_to_can_be_read_only(tmp_path):
    path = filled(tmp_path / "book.db")
    writer = Store.open(path)
    reader = Store.open(path, readonly=True)
    assert reader.readonly
    writer.add([(record(50), [])])
    assert len(reader.entries()) == 6
    with pytest.raises(BookError, match="read-only"):
        reader.add([(record(51), [])])
    writer.close()
    assert len(reader.entries()) == 6
    reader.close()
    alone = Store.open(path, readonly=True)
    assert len(alone.entries()) == 6
