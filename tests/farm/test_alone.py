"""One machine that works off a queue: real searches in real jails, and what goes wrong."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from client_kit import (
    blocked,
    encoder,
    nests_of,
    product,
    record,
    stencil,
    undefined,
)
from farm_kit import to_embed, to_tune
from wait_kit import wait_until

from loopbook.cli.app import run
from loopbook.embed.inference import Encoder
from loopbook.farm.alone import work
from loopbook.farm.carry import Carrier, extended
from loopbook.farm.machine import Machine
from loopbook.farm.settings import FarmSettings
from loopbook.recipes._task_rows import SILENT
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import (
    CONFIRM,
    DEAD,
    DONE,
    LEASED,
    REEMBED,
    STATES,
    TUNE,
    WAITING,
    Ask,
    Lease,
    Wanted,
)
from loopbook.server.quarantine import Quarantine
from loopbook.server.tables import open_tables
from loopbook.toolchain.jail import watch
from loopbook.toolchain.sandbox import run_limited

QUICK = FarmSettings(trials=2, lease_s=60.0, poll_s=0.05)


@pytest.fixture(scope="module")
def machine() -> Machine:
    here = Machine.here()
    assert here.jail, here.why_not
    return here


@pytest.fixture
def store(tmp_path) -> str:
    return str(tmp_path / "book.db")


def ask_for(store: str, *asks: Ask) -> None:
    with Book.open(store) as book:
        book.queue.ask_all(asks)


def tasks_of(store: str):
    with Book.open(store, readonly=True) as book:
        return book.queue.all(STATES)[0]


def assert_found(store: str, machine: Machine, wanted: Ask) -> None:
    """What was asked for is in the book, with its vectors."""
    (task,) = tasks_of(store)
    with Book.open(store, readonly=True) as book:
        found = book.exact(wanted.fingerprint, "sequential")
        assert found
        assert sorted(one.id for one in found) == sorted(task.records)
        assert sorted(one.id for one in book.records()) == sorted(task.records)
        for one in found:
            assert one.hardware == machine.profiles["sequential"]
            assert one.nest_json == wanted.wanted.document
            assert one.measurements[0].runs > 0
        encoder = Encoder.load()
        assert book.embedding(wanted.fingerprint, encoder.version) is not None
        assert book.nearest(encoder.encode(_nest(wanted)), 1)[0].distance == pytest.approx(0)


def _nest(ask: Ask):
    from loopbook.farm.carry import read

    return read(ask.wanted.document)


@pytest.mark.parametrize("document", ["{}", "[1, 2", '{"nest": 1}', "\\" * 50])
def test_what_is_no_nest_goes_to_the_dead_letter(store, machine, document):
    key = machine.profiles["sequential"].key
    ask_for(store, Ask(TUNE, "ab" * 16, "sequential", key, "", 1, Wanted(document)))
    work(store, machine, QUICK, until_empty=True)
    (task,) = tasks_of(store)
    assert task.state == DEAD
    assert task.error
    assert "\n" not in task.error


def test_another_nest_than_was_asked_for_is_not_tuned(store, machine):
    wanted = dataclasses.replace(to_tune(product, machine), fingerprint="ab" * 16)
    ask_for(store, wanted)
    work(store, machine, QUICK, until_empty=True)
    (task,) = tasks_of(store)
    assert (task.state, task.records) == (DEAD, [])
    assert "another" in task.error


def test_a_nest_that_no_data_fit_is_not_tried_again(store, machine):
    ask_for(store, to_tune(undefined, machine))
    work(store, machine, QUICK, until_empty=True)
    (task,) = tasks_of(store)
    assert (task.state, task.attempts) == (DEAD, 1)
    assert "no data were found" in task.error


def test_a_record_that_cannot_be_measured_is_said_to_be_so_once(store, machine):
    given = record(product, blocked(), hardware=machine.profiles["sequential"])
    other = dataclasses.replace(given, fingerprint="ab" * 16)
    ask = Ask(CONFIRM, other.fingerprint, other.target, other.hardware.key, other.id)
    with closing(open_tables(store)) as database, Book.open(store) as book:
        quarantine = Quarantine(database, book)
        quarantine.receive(other, encoder().encode(nests_of(product)[0]), "someone")
        book.queue.ask(ask)
        work(store, machine, QUICK, until_empty=True)
        (task,) = tasks_of(store)
        assert (task.state, task.attempts) == (DONE, 1)
        (waiting,) = quarantine.all()
        assert "fingerprint" in str(waiting)


def test_a_search_that_takes_too_long_waits_for_another_try(store, machine):
    ask_for(store, to_tune(product, machine))
    work(store, machine, dataclasses.replace(QUICK, search_s=0.3), until_empty=True)
    (task,) = tasks_of(store)
    assert (task.state, task.attempts) == (WAITING, 1)
    assert "did not end within" in task.error


def test_without_a_jail_nothing_of_a_stranger_is_run(store, machine):
    open_one = dataclasses.replace(machine, jail=False, why_not="there is none")
    encoder = Encoder.load()
    known = record(stencil, "")
    with Book.open(store) as book:
        book.add(known)
    ask_for(store, to_tune(product, machine), to_embed(known.fingerprint, encoder.version))
    assert work(store, open_one, QUICK, until_empty=True) == 1
    assert sorted(task.state for task in tasks_of(store)) == [DONE, WAITING]
    with Book.open(store, readonly=True) as book:
        assert book.embedding(known.fingerprint, encoder.version) is not None


def test_a_machine_of_another_class_than_its_labels_say_times_nothing(store, machine):
    profile = machine.profiles["sequential"]
    other = dataclasses.replace(profile, threads=profile.threads + 1)
    mislabelled = dataclasses.replace(machine, profiles={**machine.profiles, "sequential": other})
    ask_for(store, to_tune(product, machine))
    with Carrier(store, mislabelled, QUICK) as carrier:
        lease = carrier.book.queue.lease("by its labels", machine.abilities, 60.0)
        assert lease is not None
        ending = carrier.carry_out(lease)
        assert ending.state == WAITING
        assert carrier.book.count() == 0
    (task,) = tasks_of(store)
    assert f"is {other.key} for sequential, not {profile.key}" in task.error


@pytest.mark.long
def test_what_was_contributed_is_measured_and_served(store, machine):
    given = dataclasses.replace(record(product, blocked()), hardware=machine.profiles["sequential"])
    with closing(open_tables(store)) as database, Book.open(store) as book:
        quarantine = Quarantine(database, book)
        embedding = Encoder.load().encode(_nest(to_tune(product, machine)))
        assert quarantine.receive(given, embedding, "someone") == "quarantine"
        key = given.hardware.key
        book.queue.ask(Ask(CONFIRM, given.fingerprint, given.target, key, given.id))
        work(store, machine, QUICK, until_empty=True)
        (task,) = tasks_of(store)
        assert (task.state, task.error) == (DONE, "")
        assert quarantine.all() == []
        (served,) = book.exact(given.fingerprint, given.target)
        assert served.recipe == given.recipe
        assert served.measurements != given.measurements


def test_vectors_of_an_encoder_that_is_not_here_are_left_to_other_machines(store, machine):
    ask_for(store, to_embed("ab" * 16, "another"))
    work(store, machine, QUICK, until_empty=True)
    (task,) = tasks_of(store)
    assert (task.state, task.attempts) == (WAITING, 1)


def test_a_new_encoder_makes_the_vectors_of_a_book_anew(store, machine):
    before = dataclasses.replace(encoder().encode(nests_of(product)[0]), encoder="an older one")
    known, whole = record(product, ""), record(stencil, "")
    now = encoder().version
    with Book.open(store) as book:
        book.add(known, before)
        book.add(whole, encoder().encode(nests_of(stencil)[0]))
    assert work(store, machine, QUICK, until_empty=True) == 1
    with Book.open(store, readonly=True) as book:
        assert list(book.without_embedding(now)) == []
        assert book.embedding(known.fingerprint, "an older one") is not None
        found = book.nearest(encoder().encode(nests_of(product)[0]), 1)
        assert [one.record.id for one in found] == [known.id]
    (task,) = tasks_of(store)
    assert (task.kind, task.fingerprint, task.subject) == (REEMBED, known.fingerprint, now)
    assert work(store, machine, QUICK, until_empty=True) == 0


def test_what_was_lost_before_it_began_is_not_done(store, machine):
    ask_for(store, to_tune(product, machine))
    with Carrier(store, machine, QUICK) as carrier:
        queue = carrier.book.queue
        lease = queue.lease("first", machine.abilities, 60.0)
        assert lease is not None
        queue.drop(lease.task.id)
        assert carrier.carry_out(lease) == (False, "", "the task was dropped")
        assert carrier.book.count() == 0


@pytest.mark.long
def test_what_a_killed_worker_had_is_tuned_by_the_next_and_found(store, machine):
    wanted = to_tune(product, machine)
    ask_for(store, wanted)
    command = [sys.executable, "-m", "loopbook", "farm", "start", "--store", store]
    command += ["--trials", "2", "--lease-time", "2"]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        assert wait_until(lambda: [one for one in tasks_of(store) if one.state == LEASED])
        os.killpg(first.pid, signal.SIGKILL)
    finally:
        first.kill()
        first.wait()
    stop = threading.Event()
    work(store, machine, QUICK, stop=stop, told=lambda task, ending: stop.set())
    (task,) = tasks_of(store)
    assert (task.state, task.attempts, task.lost, task.error) == (DONE, 1, 1, SILENT)
    assert_found(store, machine, wanted)


class Slow:
    """In the place of a queue, for who extends a lease: the real one is too fast to be met."""

    def __init__(self) -> None:
        self.asked, self.answered = threading.Event(), threading.Event()

    def extend(self, lease: Any, seconds: float) -> bool:
        self.asked.set()
        time.sleep(0.2)
        self.answered.set()
        return False


def test_no_child_is_forked_while_a_thread_talks_to_the_database():
    queue: Any = Slow()
    with extended(queue, Lease("", None, 0.0, ""), 0.01):  # pyright: ignore[reportArgumentType]
        assert queue.asked.wait(60)
        assert run_limited(queue.answered.is_set)


@pytest.mark.long
def test_a_database_that_is_away_when_a_search_ends_does_not_cost_the_search(postgres, machine):
    store = postgres.database()
    ask_for(store, to_tune(product, machine))
    endings = []
    with Carrier(store, machine, QUICK) as carrier:
        lease = carrier.book.queue.lease("first", machine.abilities, 60.0)
        assert lease is not None
        thread = threading.Thread(target=lambda: endings.append(carrier.carry_out(lease)))
        thread.start()
        assert wait_until(searching)
        postgres.stop()
        try:
            assert wait_until(lambda: not searching())
            thread.join(3.0)
            assert not endings  # asked here: once the server is back, an answer takes no time
        finally:
            postgres.start()
        thread.join()
        assert [ending.state for ending in endings] == [DONE]
        assert carrier.book.count() > 0
    (task,) = tasks_of(store)
    assert (task.state, task.attempts) == (DONE, 1)


def searching() -> bool:
    """Whether a process of ours runs a search in a jail."""
    told = [Path(f"/proc/{pid}/cmdline") for pid in watch.children(os.getpid())]
    with contextlib.suppress(OSError):  # one has ended
        return any(b"jail.inmate" in one.read_bytes() for one in told)
    return True


def test_a_book_that_cannot_be_written_is_said_at_once(tmp_path, capsys):
    with ThreadPoolExecutor() as pool:  # signals stay the tests' own
        assert pool.submit(run, ["farm", "start", "--store", str(tmp_path)]).result() == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_nothing_runs_here_that_could_be_stopped(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    from loopbook.farm.running import noted, stop_here

    assert stop_here() == 0
    stale = Path(tmp_path) / "loopbook" / "farms" / "999999999"
    with noted():
        pass
    stale.write_text("1")
    assert stop_here() == 0
    assert not stale.exists()
