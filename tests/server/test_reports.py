"""Reports of how recipes did, on a real server: what counts, what is withdrawn, and what no single
caller can do."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from client_kit import blocked, fill, product, product_permuted, record, stencil
from hypothesis import HealthCheck, given, settings
from recipes_samples import json_values
from server_kit import Served, sent, serving, token
from wait_kit import wait_until

from loopbook.recipes import Book, HardwareProfile
from loopbook.recipes.reports import LOST, Report, Voice
from loopbook.recipes.standing import VOICES
from loopbook.recipes.tasks import REMEASURE
from loopbook.server.field import UNKNOWN, WITHDRAWN, FieldReports
from loopbook.server.quarantine import Quarantine
from loopbook.server.tables import open_tables
from loopbook.server.trust import Judgement

pytest_plugins = ["server_fixtures"]

ONE = record(product, blocked(), 1.5)
KEY = ONE.hardware.key
ELSEWHERE = HardwareProfile(isa="neon", vector_bits=128)


@pytest.fixture
def books(tmp_path: Path) -> Iterator[tuple[Book, Book]]:
    """A server's book, which knows one nest, and one that is only read beneath it."""
    below = fill(tmp_path / "below.db", [record(product_permuted, "vectorize L0\n", 2.0)])
    with (
        Book.open(fill(tmp_path / "book.db", [ONE])) as own,
        Book.open(below, readonly=True) as beneath,
    ):
        yield own, beneath


@pytest.fixture
def quarantine(books) -> Iterator[Quarantine]:
    database = open_tables(books[0].name)
    yield Quarantine(database, books[0])
    database.close()


@pytest.fixture
def field(books, quarantine) -> FieldReports:
    return FieldReports(books, quarantine)


def told(speedup: float, about=ONE, key: str = KEY) -> Report:
    return Report(about.id, key, speedup, 1.0)


def say(field: FieldReports, voices: str, speedup: float, **more) -> list[str]:
    return [field.take_all([told(speedup, **more)], Voice(one))[0] for one in voices]


def test_what_loses_goes_back_to_quarantine_and_is_to_be_measured(field, books, quarantine):
    own, _ = books
    assert say(field, "abc", 0.6) == ["counted", "counted", WITHDRAWN]
    assert own.count() == 0
    (waiting,) = quarantine.all()
    assert (waiting.id, waiting.contributor) == (ONE.id, "")
    assert waiting.why == f"3 voices: 0.63× where it ran, on {KEY}"
    ((task,), _) = own.queue.all()
    assert (task.kind, task.subject, task.hardware_key) == (REMEASURE, ONE.id, KEY)
    assert say(field, "d", 0.6) == [UNKNOWN]
    assert own.reports.opinions(ONE.id) == {}
    assert quarantine.receive(ONE, own_vectors(books), "token") == "known"


def own_vectors(books):
    return books[1].page()[0][1][0]


def test_one_voice_changes_nothing_and_hides_nothing(field, books):
    own, _ = books
    stamp = own.stamp
    for _ in range(30):
        assert say(field, "l", 0.01) == ["counted"]
    assert say(field, "abc", 1.5) == ["counted"] * 3
    assert (own.stamp, own.count()) == (stamp, 1)
    assert say(field, "efgh", 0.5)[-1] == "counted"  # three say that it gains
    assert WITHDRAWN in say(field, "ijklmno", 0.5)


def test_a_machine_of_the_owners_needs_nobody_else(field, books):
    mine = [field.take_all([told(0.6)], Voice("mine", trusted=True))[0] for _ in range(VOICES)]
    assert mine == ["counted", "counted", WITHDRAWN]


def test_what_loses_elsewhere_is_served_here(field, books, quarantine):
    own, _ = books
    assert say(field, "abc", 0.5, key=ELSEWHERE.key)[-1] == WITHDRAWN
    assert own.count() == 1
    assert quarantine.all() == []
    assert own.shifts(ELSEWHERE.key) == {ONE.id: LOST}
    assert own.shifts(KEY) == {}
    assert say(field, "d", 0.5, key=ELSEWHERE.key) == [UNKNOWN]
    assert say(field, "d", 1.5) == ["counted"]


def test_what_lies_in_a_book_that_is_only_read_is_passed_over(field, books):
    own, beneath = books
    (other,) = beneath.records()
    key = other.hardware.key
    assert say(field, "abc", 0.5, about=other)[-1] == WITHDRAWN
    assert own.shifts(key) == {other.id: LOST}
    assert say(field, "d", 0.5, about=other) == [UNKNOWN]
    ((task,), _) = own.queue.all()
    assert task.subject == other.id


def test_reports_that_were_refuted_take_twice_as_many_voices(field, books, quarantine):
    own, _ = books
    say(field, "abc", 0.5)
    again = replace(ONE.measurements[0], baseline_s=1.6)
    judged = quarantine.judge(ONE.id, Judgement("ok", ONE.hardware, again))
    assert judged is not None
    (served,) = own.records()
    assert served.id == judged.id != ONE.id
    assert quarantine.withdrawn_before(served.id) == 1
    assert say(field, "abcde", 0.5, about=served) == ["counted"] * 5
    assert say(field, "f", 0.5, about=served) == [WITHDRAWN]


def test_a_withdrawal_that_was_cut_short_is_finished(field, books, quarantine):
    own, _ = books
    for one in "abc":
        own.reports.take(told(0.5), ONE, Voice(one))
    assert own.count() == 1
    assert own.shifts(KEY) == {ONE.id: LOST}
    assert say(field, "d", 0.5) == [UNKNOWN]
    assert own.count() == 0
    assert [one.id for one in quarantine.all()] == [ONE.id]


def test_docc_own_schedule_has_nothing_to_lose(field, books):
    own, _ = books
    bare = record(stencil, "", 1.0)
    own.add(bare)
    assert say(field, "abc", 0.5, about=bare) == [UNKNOWN] * 3


# A real server


@pytest.fixture
def lone(tmp_path: Path) -> Iterator[tuple[Served, str]]:
    """A server with a book of its own, since a test takes records out of it."""
    store = str(fill(tmp_path / "served.db", [ONE]))
    with serving(store, "--workers", 1, "--deadline", 600, "--anonymous") as one:
        yield one, store
        assert "Traceback" not in one.log


def body(speedup: float, about: str = ONE.id, count: int = 1) -> dict:
    one = {"record": about, "hardware_key": KEY, "reference_s": speedup, "time_s": 1.0}
    return {"reports": [one] * count}


def statuses(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [one["status"] for one in answer.json()["reports"]]


def served_record(client: httpx.Client) -> list[str]:
    answer = client.post("/docc/transfertune_sdfg", content=sent(product)).json()
    return [one["metadata"]["region_id"] for one in answer.get("results", [])]


def test_a_loser_is_not_served_any_more_and_a_liar_changes_nothing(lone):
    server, store = lone
    with server.client(token(store, "lookup", name="liar")) as liar:
        assert served_record(liar) == [ONE.id]
        for _ in range(20):
            assert statuses(liar.post("/v1/reports", json=body(0.01, count=32))) == ["counted"] * 32
        assert served_record(liar) == [ONE.id]
    with server.client() as nobody:  # whoever has no token is one voice with all who have none
        assert statuses(nobody.post("/v1/reports", json=body(0.01))) == ["counted"]
        assert statuses(nobody.post("/v1/reports", json=body(0.01))) == ["counted"]
        assert served_record(nobody) == [ONE.id]
    last: list[str] = []
    for number in range(3):
        with server.client(token(store, "lookup", name=f"user{number}")) as user:
            last = statuses(user.post("/v1/reports", json=body(0.6)))
            if last == [WITHDRAWN]:
                break
    assert last == [WITHDRAWN]
    with server.client() as nobody:
        assert wait_until(lambda: served_record(nobody) == [])
        assert nobody.get(f"/v1/records/{ONE.id}").status_code == 404
        assert statuses(nobody.post("/v1/reports", json=body(1.0))) == [UNKNOWN]
    with server.client(token(store, "admin")) as ruler:
        (waiting,) = ruler.get("/v1/quarantine").json()["records"]
        assert waiting["id"] == ONE.id
        assert "where it ran" in waiting["why"]
    assert server.figure("loopbook_reported_total") > 640


def test_who_may_report(server, store):
    for secret, status in (
        (None, 401),
        (token(store, "contribute"), 403),
        (token(store, "lookup"), 200),
    ):
        with server.client(secret) as client:
            answer = client.post("/v1/reports", json=body(1.0, "0" * 32))
            assert answer.status_code == status


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"reports": []},
        {"reports": body(1.0, count=33)["reports"]},
        {"reports": [body(1.0)["reports"][0] | {"voice": "another"}]},
        {"reports": [body(1.0)["reports"][0] | {"time_s": 0}]},
        {"reports": [body(1.0)["reports"][0] | {"time_s": 1e300}]},
        {"reports": [body(1.0)["reports"][0] | {"hardware_key": "'; DROP TABLE reports"}]},
        {"reports": [body(1.0)["reports"][0] | {"hardware_key": "avx2-1t-zzzzzzzz"}]},
        {"reports": [body(1.0)["reports"][0] | {"record": "../" * 10}]},
        {**body(1.0), "more": 1},
    ],
)
def test_what_is_no_report_is_refused(reader, bad):
    answer = reader.post("/v1/reports", json=bad)
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}


def test_a_large_body_is_refused(reader):
    answer = reader.post("/v1/reports", json=body(1.0) | {"more": "x" * (1 << 17)})
    assert answer.status_code == 413


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(told=json_values)
def test_any_json_is_answered_or_refused(reader, told):
    numbers = random.Random(json.dumps(told, default=str))
    document = body(1.0, "0" * 32)
    place = numbers.choice([document, document["reports"][0]])
    place[numbers.choice(sorted(place))] = told
    try:
        content = json.dumps(document).encode()
    except (UnicodeError, ValueError):
        return
    answer = reader.post("/v1/reports", content=content)
    assert answer.status_code in (200, 400, 422), content[:300]
