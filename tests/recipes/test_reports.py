"""Reports in a book's database: what counts, what room they take, what follows."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queue_kit import Clock
from recipes_samples import AVX2, AVX512, faster, record

from loopbook.errors import InputError, OverloadError
from loopbook.recipes import Book, reports
from loopbook.recipes.reports import COUNTED, FULL, LOST, Report, Taken, Voice

ONE = record(0, measurements=faster(1.5))


@pytest.fixture
def book(tmp_path) -> Iterator[Book]:
    with Book.open(tmp_path / "book.db") as one:
        one.add(ONE)
        yield one


@pytest.fixture
def any_book(location) -> Iterator[Book]:
    """In a file, and on a server."""
    with Book.open(location) as one:
        one.add(ONE)
        yield one


def told(speedup: float, key: str = AVX2.key, about: str = ONE.id) -> Report:
    return Report(about, key, speedup, 1.0)


def take(book: Book, voice: str, speedup: float, **more) -> Taken:
    return book.reports.take(told(speedup, **more), ONE, Voice(voice))


def rows(book: Book) -> int:
    with sqlite3.connect(book.name) as database:
        return database.execute("SELECT COUNT(*) FROM reports").fetchone()[0]


def test_a_flood_is_one_row_and_one_voice(book):
    stamp = book.stamp
    for _ in range(50):
        taken = take(book, "liar", 1e-3)
        assert (taken.status, taken.lost, taken.standing.shift) == (COUNTED, False, 0.0)
    assert rows(book) == 1
    assert book.stamp == stamp
    assert book.shifts(AVX2.key) == {}
    ((said,),) = book.reports.opinions(ONE.id).values()
    assert said == (pytest.approx(math.log(0.5)), 50, False)


def test_what_enough_voices_see_lose_is_lost_there_and_only_there(any_book):
    book = any_book
    stamp = book.stamp
    assert [take(book, voice, 0.6).lost for voice in "abc"] == [False, False, True]
    assert book.stamp != stamp
    assert book.shifts(AVX2.key) == {ONE.id: LOST}
    assert book.shifts(AVX512.key) == {}
    take(book, "d", 3.0)
    assert book.shifts(AVX2.key) == {ONE.id: LOST}  # until somebody measures it
    assert book.reports.forget(ONE.id) == 4
    assert book.shifts(AVX2.key) == {}


def test_it_takes_as_many_voices_as_are_asked_for(book):
    for voice in "abcde":
        taken = book.reports.take(told(0.5), ONE, Voice(voice), lambda: 6)
        assert taken.standing.loses == (voice > "b")
        assert not taken.lost
    assert book.reports.take(told(0.5), ONE, Voice("f"), lambda: 6).lost


def test_evidence_moves_a_record_and_not_too_often(tmp_path, monkeypatch):
    clock = Clock()
    with Book.open(tmp_path / "book.db") as book:
        book.add(ONE)
        book.reports._clock = clock
        for voice in "abc":
            take(book, voice, 3.0)
        moved = book.shifts(AVX2.key)[ONE.id]
        assert 0.2 < moved < math.log(2.0)
        for voice in "defg":
            take(book, voice, 1.2)
        assert book.shifts(AVX2.key)[ONE.id] == moved
        clock.now += reports.CALM_S
        take(book, "h", 1.2)
        assert book.shifts(AVX2.key)[ONE.id] < moved


speakers = st.lists(
    st.tuples(st.sampled_from("abcd"), st.floats(0.01, 100.0)), min_size=1, max_size=12
)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(speakers, st.randoms(use_true_random=False))
def test_the_order_of_reports_does_not_matter(book, said, numbers):
    found = []
    for _ in range(2):
        book.reports.forget(ONE.id)
        for voice, speedup in said:
            take(book, voice, speedup)
        opinions = book.reports.opinions(ONE.id)[AVX2.key]
        assert len(opinions) == len({voice for voice, _ in said})
        found.append(sorted(opinions))
        numbers.shuffle(said)
    assert found[0] == found[1]


def test_room_is_limited(book, monkeypatch):
    monkeypatch.setattr(reports, "MOST_VOICES", 3)
    for voice in "abcd":
        take(book, voice, 1.5)
    assert rows(book) == 3
    monkeypatch.setattr(reports, "MOST_COUNT", 2)
    assert [take(book, "d", 1.5).status for _ in range(2)] == [COUNTED, FULL]
    monkeypatch.setattr(reports, "MOST_OF_ONE", 1)
    other = "sse2-1t-00000000"
    with pytest.raises(OverloadError):
        take(book, "d", 1.5, key=other)
    monkeypatch.setattr(reports, "MOST", 3)
    with pytest.raises(OverloadError):
        take(book, "new", 1.5, key=other)


@pytest.mark.parametrize(
    "changes",
    [
        {"reference_s": 0.0},
        {"time_s": float("nan")},
        {"time_s": float("inf")},
        {"time_s": -1.0},
        {"time_s": 1e6},
        {"hardware_key": "avx2-1t-3f9a02c"},
        {"hardware_key": "avx2-1t-3f9a02c1\n"},
        {"hardware_key": "x" * 200},
        {"record": "no id"},
        {"other": 1},
    ],
)
def test_what_is_no_report_is_refused(changes):
    good = {"record": ONE.id, "hardware_key": AVX2.key, "reference_s": 1.0, "time_s": 1.0}
    assert Report.from_json(good).log_speedup == 0.0
    with pytest.raises(InputError):
        Report.from_json(good | changes)


def test_a_report_about_another_record_is_refused(book):
    with pytest.raises(InputError):
        book.reports.take(told(1.0, about="0" * 32), ONE, Voice("a"))


def test_a_book_of_before_gets_the_tables_when_it_is_written_to(book):
    path = book.name
    with sqlite3.connect(path) as database:
        database.executescript("DROP TABLE reports; DROP TABLE standings")
    with Book.open(path, readonly=True) as reader:
        assert reader.shifts(AVX2.key) == {}
        assert reader.reports.opinions(ONE.id) == {}
    with Book.open(path) as older:
        assert older.reports.forget(ONE.id) == 0
        assert take(older, "a", 1.0).status == COUNTED


def test_packing_leaves_reports_out(book, tmp_path):
    for voice in "abc":
        take(book, voice, 0.5)
    book.pack(tmp_path / "packed.book")
    with Book.open(tmp_path / "packed.book", readonly=True) as packed:
        assert packed.shifts(AVX2.key) == {}
        assert packed.count() == 1


def test_many_report_at_once_and_all_of_it_counts(location):
    with Book.open(location) as one, Book.open(location) as other:
        one.add(ONE)

        def report(number: int) -> None:
            take((one, other)[number % 2], f"voice {number % 5}", 1.5)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(report, range(60)))
        ((*said,),) = one.reports.opinions(ONE.id).values()
        assert [opinion.count for opinion in said] == [12] * 5
