"""The queue of work: asks are merged, leases end, and every report counts once."""

from __future__ import annotations

import dataclasses
import sqlite3
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from queue_kit import ABLE, KEY, START, Clock, ask, open_queue
from recipes_samples import record

from loopbook.errors import BookError, InputError, LoopbookError, OverloadError
from loopbook.recipes import Book, _demand, queue
from loopbook.recipes._task_rows import MOST_ATTEMPTS, MOST_LOST
from loopbook.recipes.queue import FIRST_PAUSE_S, QUIET_S, Queue
from loopbook.recipes.tasks import (
    CONFIRM,
    DEAD,
    DONE,
    KINDS,
    LEASED,
    MOST_NEST,
    MOST_SIZES,
    REEMBED,
    REMEASURE,
    TUNE,
    WAITING,
    Abilities,
    Ask,
    Lease,
    Wanted,
)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def work(location, clock) -> Queue:
    return open_queue(location, clock)


def test_asks_for_the_same_are_one_task(work, clock):
    first = work.ask(ask(1, sizes={"N": 10}, cost_s=0.5))
    clock.now += 60
    again = work.ask(ask(1, count=3, sizes={"N": 20}, gain=4.0))
    assert (first.new, again.new) == (True, False)
    assert again.task == first.task
    assert work.ask(ask(2)).task != first.task
    task, document = work.show(first.task)
    assert document == '{"nest": 1}'
    assert (task.asked, task.asked_last, task.created) == (4, START + 60, START)
    assert task.sizes == [{"N": 20}, {"N": 10}]
    assert (task.cost_s, task.gain) == (0.5, 4.0)
    assert work.counts() == {WAITING: 2, LEASED: 0, DONE: 0, DEAD: 0}


def test_what_sets_tasks_apart(work):
    asks = [
        Ask(TUNE, "a", "sequential", KEY, wanted=Wanted("{}")),
        Ask(TUNE, "a", "openmp", KEY, wanted=Wanted("{}")),
        Ask(TUNE, "a", "sequential", "other", wanted=Wanted("{}")),
        Ask(CONFIRM, "a", "sequential", KEY, "r1"),
        Ask(CONFIRM, "a", "sequential", KEY, "r2"),
        Ask(REMEASURE, "a", "sequential", KEY, "r1"),
        Ask(REEMBED, "a", subject="encoder 2"),
    ]
    assert len({one.task for one in work.ask_all(asks + asks)}) == len(asks)


def test_only_so_many_sizes_are_kept(work):
    for n in range(MOST_SIZES + 3):
        asked = work.ask(ask(sizes={"N": n}))
    sizes = work.show(asked.task)[0].sizes
    assert [one["N"] for one in sizes] == list(range(MOST_SIZES + 2, 2, -1))


@pytest.mark.parametrize(
    "refused",
    [
        lambda: Ask("guess", "a", "openmp", KEY),
        lambda: Ask(TUNE, "", "openmp", KEY),
        lambda: Ask(TUNE, "a", "gpu", KEY),
        lambda: Ask(TUNE, "a\0", "openmp", KEY),
        lambda: Ask(TUNE, "a", "openmp", "k" * 65),
        lambda: Ask(TUNE, "a", "openmp", KEY, "subject"),
        lambda: Ask(CONFIRM, "a", "openmp", KEY),
        lambda: Ask(REEMBED, "a", "openmp", KEY, "encoder"),
        lambda: Ask(TUNE, "a", "openmp", KEY, count=0),
        lambda: Ask(TUNE, "a", "openmp", KEY, count=10**9),
        lambda: Wanted("x" * (MOST_NEST + 1)),
        lambda: Wanted("\ud800"),
        lambda: Wanted("{\0}"),
        lambda: Wanted(7),  # type: ignore[arg-type]
        lambda: Wanted(sizes={"N": -1}),
        lambda: Wanted(sizes={"N" * 200: 1}),
        lambda: Wanted(sizes={str(n): n for n in range(300)}),
        lambda: Wanted(cost_s=float("nan")),
        lambda: Wanted(cost_s=float("inf")),
        lambda: Wanted(cost_s=1e6),
        lambda: Wanted(gain=-1.0),
        lambda: Wanted(gain=1e9),
    ],
)
def test_what_no_worker_could_do_is_refused(refused):
    with pytest.raises(InputError) as caught:
        refused()
    assert "\n" not in str(caught.value)


def test_a_nest_is_needed_once(work):
    with pytest.raises(InputError, match="needs its nest"):
        work.ask_all([ask(1), ask(2, document="")])
    assert work.counts()[WAITING] == 0  # all or none
    work.ask(ask(2))
    assert not work.ask(ask(2, document="")).new
    with pytest.raises(InputError, match="needs its nest"):
        work.ask(ask(3, document=""))


def test_more_tasks_than_may_be_are_refused(work, monkeypatch):
    monkeypatch.setattr(queue, "MOST_TASKS", 3)
    for n in range(3):
        work.ask(ask(n))
    with pytest.raises(OverloadError, match="3 tasks"):
        work.ask(ask(4))
    assert not work.ask(ask(1)).new  # one that is there counts all the same


def test_more_nests_than_may_be_are_refused(work, monkeypatch):
    monkeypatch.setattr(queue, "MOST_BYTES", 40)
    monkeypatch.setattr(queue, "_COUNT_EVERY", 1)
    for n in range(3):
        work.ask(ask(n))
    with pytest.raises(OverloadError, match="bytes of nests"):
        work.ask(ask(4))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    work.finish(lease)  # its nest is not needed any more
    assert work.ask(ask(4)).new


def leased(work: Queue, able: Abilities = ABLE) -> str | None:
    lease = work.lease("worker", able, 60)
    return None if lease is None else lease.task.fingerprint


def test_the_most_wanted_comes_first(work, clock):
    work.ask(ask(0, count=100))
    clock.now += 3 * _demand.HALF_LIFE_S
    work.ask(ask(1, count=10))
    work.ask(ask(2, count=16))  # more than what has faded to an eighth of 100
    work.ask(ask(3, count=2, cost_s=0.1))  # a hundred times the assumed cost
    work.ask(ask(4, count=2, cost_s=0.1, gain=1.1))
    work.ask(ask(5, count=2, cost_s=0.1, gain=8.0))
    order = ["nest5", "nest3", "nest4", "nest2", "nest0", "nest1"]
    assert [one.fingerprint for one in work.all()[0]] == order
    assert [leased(work) for _ in range(7)] == [*order, None]


@given(st.lists(st.tuples(st.integers(0, 10**7), st.integers(1, 50), st.floats(1e-6, 1e3))))
def test_demand_is_the_sum_of_what_has_faded(asks):
    demand = None
    now = START + 10**7
    for at, times, cost in asks:
        demand = _demand.added(demand, times, cost, START + at)
    faded = (t * c * 2 ** ((START + at - now) / _demand.HALF_LIFE_S) for at, t, c in asks)
    if demand is not None:
        assert _demand.worth(demand, now) == pytest.approx(sum(faded), rel=1e-6)


def test_a_worker_gets_what_it_can_do(work):
    work.ask(ask(1))
    work.ask(ask(2, CONFIRM))
    work.ask(ask(3, REEMBED))
    assert leased(work, Abilities(KINDS, {"sequential": "another machine"})) == "nest3"
    assert leased(work, Abilities([TUNE], {"openmp": KEY})) is None
    assert leased(work, Abilities([], {})) is None
    assert leased(work, Abilities([CONFIRM], {"sequential": KEY})) == "nest2"
    assert leased(work, Abilities([CONFIRM], {"sequential": KEY})) is None
    assert leased(work) == "nest1"


def test_a_lease_brings_all_that_is_needed(work, clock):
    work.ask(ask(1, sizes={"N": 10}))
    lease = work.lease("a worker", ABLE, 60)
    assert lease is not None
    assert (lease.document, lease.deadline) == ('{"nest": 1}', START + 60)
    task = work.show(lease.task.id)[0]
    assert task == lease.task
    assert (task.state, task.worker, task.attempts, task.lease) == (LEASED, "a worker", 1, lease.id)
    for seconds in (0, -1, float("nan"), 1e9):
        with pytest.raises(InputError, match="a lease is for"):
            work.lease("a worker", ABLE, seconds)
    with pytest.raises(InputError, match="worker's name"):
        work.lease("", ABLE, 60)


def test_finishing_counts_once(work):
    asked = work.ask(ask(1))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    assert work.finish(lease, [record().id]) == (True, DONE, "")
    assert work.finish(lease, ["another"]) == (False, DONE, "the lease has ended already")
    assert work.fail(lease, "no") == (False, DONE, "the lease has ended already")
    assert not work.extend(lease, 60)
    task, document = work.show(asked.task)
    assert (task.state, task.records, document) == (DONE, [record().id], "")
    assert leased(work) is None


def test_what_comes_of_a_lost_lease_does_not_get_into_the_book(location):
    with Book.open(location) as book:
        book.queue.ask(ask(1))
        lease = book.queue.lease("a", ABLE, 60)
        assert lease is not None
        book.queue.drop(lease.task.id)
        assert book.conclude(lease, [(record(), [])]) == (False, "", "the task was dropped")
        assert book.count() == 0


def test_a_lease_that_is_taken_over_is_no_longer_for_who_handed_it_on(work, clock):
    work.ask(ask(1))
    first = work.lease("dispatcher", ABLE, 60)
    assert first is not None
    clock.now += 50
    assert work.extend(first, 60)
    clock.now += 50
    begun = work.begin(first, "node", 60)
    assert isinstance(begun, Lease)
    assert (begun.id, begun.deadline) == (first.id, clock.now + 60)
    assert work.show(first.task.id)[0] == dataclasses.replace(begun.task, due=begun.deadline)
    clock.now += 50
    assert not work.extend(first, 60)
    assert work.extend(begun, 60)
    clock.now += 60
    assert work.lease("b", ABLE, 60) is not None
    assert work.begin(begun, "node", 60) == (False, LEASED, "the lease was lost to b")
    with pytest.raises(InputError, match="worker's name"):
        work.begin(begun, "", 60)


def test_a_lease_is_lost_at_its_deadline_and_the_task_is_the_next_workers(work, clock):
    work.ask(ask(1))
    first = work.lease("a", ABLE, 60)
    assert first is not None
    clock.now += 59
    assert work.lease("b", ABLE, 60) is None
    assert work.extend(first, 60)
    clock.now += 59
    assert work.lease("b", ABLE, 60) is None
    clock.now += 1
    second = work.lease("b", ABLE, 60)
    assert second is not None
    assert second.task.id == first.task.id
    assert second.id != first.id
    assert work.finish(first) == (False, LEASED, "the lease was lost to b")
    assert work.fail(first, "no") == (False, LEASED, "the lease was lost to b")
    assert not work.extend(first, 60)
    assert work.show(first.task.id)[0].due == START + 59 + 60 + 60
    assert work.finish(second).changed


def test_late_but_before_anybody_else_counts(work, clock):
    work.ask(ask(1))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    clock.now += 3600
    assert work.finish(lease).changed


def test_a_deadline_that_was_noticed_is_the_leases_end(work, clock):
    work.ask(ask(1))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    clock.now += 3600
    assert leased(work, Abilities([CONFIRM], {"openmp": KEY})) is None
    told = "the lease was lost: its deadline has passed"
    assert work.finish(lease) == (False, WAITING, told)


def test_a_failed_task_comes_again_later_and_at_last_is_dead(work, clock):
    asked = work.ask(ask(1))
    pause = FIRST_PAUSE_S
    for attempt in range(1, MOST_ATTEMPTS + 1):
        lease = work.lease("a", ABLE, 60)
        assert lease is not None
        assert lease.task.attempts == attempt
        ending = work.fail(lease, f"error {attempt}\nmore\x1b[2J")
        assert ending.changed
        assert not work.fail(lease, "again").changed
        clock.now += pause - 1
        assert leased(work) is None
        clock.now += 1
        pause *= 4
    assert ending.state == DEAD
    clock.now += 10 * QUIET_S
    assert leased(work) is None
    task, document = work.show(asked.task)
    assert task.error == f"error {MOST_ATTEMPTS} more\\x1b[2J"
    assert document == '{"nest": 1}'  # for whoever looks into it
    # Asking for it does not revive it: that would kill workers for ever.
    assert work.ask(ask(1)) == (asked.task, DEAD, False)


def test_a_worker_says_how_long_a_failed_task_waits(work, clock):
    work.ask(ask(1))
    for pause in (2.0, 8.0):
        lease = work.lease("a", ABLE, 60)
        assert lease is not None
        work.fail(lease, "no", pause_s=2.0)
        clock.now += pause - 0.5
        assert work.lease("a", ABLE, 60) is None
        clock.now += 0.5
    assert leased(work) == "nest1"


def test_a_failure_may_be_for_good(work):
    work.ask(ask(1))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    assert work.fail(lease, "no SDFG", for_good=True) == (True, DEAD, "")


def test_a_task_that_kills_its_workers_is_dead_at_last(work, clock):
    asked = work.ask(ask(1))
    for lost in range(MOST_LOST):
        assert leased(work) == "nest1"
        assert (work.show(asked.task)[0].attempts, work.show(asked.task)[0].lost) == (1, lost)
        clock.now += 61
    assert leased(work) is None
    task = work.show(asked.task)[0]
    assert (task.state, task.error) == (DEAD, "no word from its worker before the deadline")


def test_lost_leases_do_not_count_as_failures(work, clock):
    work.ask(ask(1))
    for _ in range(MOST_ATTEMPTS + 1):
        assert work.lease("a", ABLE, 60)
        clock.now += 61
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    assert work.fail(lease, "no") == (True, WAITING, "")


def test_a_table_of_before_gets_what_it_lacks(tmp_path):
    path = str(tmp_path / "book.db")
    with Book.open(path) as book:
        book.queue.ask(ask(1))
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("ALTER TABLE tasks DROP COLUMN lost")
    with Book.open(path, readonly=True) as book:
        assert book.queue.all() == ([], 0)
    with Book.open(path) as book:
        assert book.queue.ask(ask(1)).new is False
        assert [task.lost for task in book.queue.all()[0]] == [0]


def test_what_was_done_makes_room(work, monkeypatch):
    monkeypatch.setattr(queue, "MOST_TASKS", 3)
    monkeypatch.setattr(queue, "_COUNT_EVERY", 1)
    for n in range(3):
        work.ask(ask(n))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    work.finish(lease)
    assert work.ask(ask(4)).new
    assert work.counts() == {WAITING: 3, LEASED: 0, DONE: 0, DEAD: 0}


def test_what_is_done_is_done_again_only_after_a_while(work, clock):
    asked = work.ask(ask(1))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    work.finish(lease)
    assert work.ask(ask(1)) == (asked.task, DONE, False)
    assert work.show(asked.task)[0].asked == 2
    clock.now += QUIET_S
    again = work.ask(ask(1))
    assert (again.new, again.state) == (True, WAITING)
    assert work.show(asked.task)[0].state == DONE
    assert work.counts() == {WAITING: 1, LEASED: 0, DONE: 1, DEAD: 0}


def test_raising_and_dropping(work, clock):
    ids = [work.ask(ask(n, count=10 - n)).task for n in range(4)]
    assert work.raise_(ids[3]).state == WAITING
    work.raise_(ids[2])
    assert [one.fingerprint for one in work.all()[0]] == ["nest2", "nest3", "nest0", "nest1"]
    work.ask(ask(2))  # stays raised
    assert leased(work) == "nest2"
    assert work.raise_(ids[2]).state == LEASED
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    assert work.drop(lease.task.id)
    assert not work.drop(lease.task.id)
    assert work.finish(lease) == (False, "", "the task was dropped")
    with pytest.raises(InputError, match="there is no task"):
        work.raise_(lease.task.id)
    with pytest.raises(InputError, match="there is no task"):
        work.show("none")
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    work.fail(lease, "no", for_good=True)
    revived = work.raise_(lease.task.id)
    assert (revived.state, revived.attempts) == (WAITING, 0)
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    assert lease.task.id == revived.id
    work.finish(lease)
    with pytest.raises(InputError, match="is done"):
        work.raise_(revived.id)


def test_raising_ends_a_pause(work):
    asked = work.ask(ask(1))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    work.fail(lease, "no")
    assert leased(work) is None
    work.raise_(asked.task)
    assert leased(work) == "nest1"


def test_the_clock_is_the_databases(location):
    work = open_queue(location)
    work.ask(ask(1))
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    assert lease.deadline == pytest.approx(work.now() + 60, abs=30)


def test_a_miss_with_its_nest_becomes_a_task(location):
    with Book.open(location) as book:
        book.note_miss("a", "openmp", KEY)
        assert book.queue.counts()[WAITING] == 0
        book.note_miss("a", "openmp", KEY, count=2, wanted=Wanted("{}", {"N": 9}))
        book.note_miss("a", "openmp", KEY, count=5)
        (task,), _ = book.queue.all()
        assert (task.kind, task.fingerprint, task.target) == (TUNE, "a", "openmp")
        assert (task.hardware_key, task.asked, task.sizes) == (KEY, 7, [{"N": 9}])
        assert [miss.count for miss in book.misses()] == [8]
        stamp = book.stamp
        assert book.queue.lease("a", ABLE, 60) is not None
        assert book.stamp == stamp  # nothing that is derived from records is stale


def test_a_full_queue_does_not_lose_misses(location, monkeypatch):
    monkeypatch.setattr(queue, "MOST_TASKS", 0)
    with Book.open(location) as book:
        book.note_miss("a", "openmp", KEY, wanted=Wanted("{}"))
        assert len(book.misses()) == 1
        assert book.queue.counts()[WAITING] == 0


def without_tasks(path: Path) -> None:
    """Make a book of one from before there was a queue."""
    with Book.open(path) as book:
        book.add(record())
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE tasks")
    connection.close()


def test_an_older_book_gets_a_queue_when_it_is_written_to(tmp_path):
    path = tmp_path / "book.db"
    without_tasks(path)
    with Book.open(path, readonly=True) as book:
        assert book.queue.all() == ([], 0)
        assert sum(book.queue.counts().values()) == 0
        with pytest.raises(InputError, match="there is no task"):
            book.queue.show("any")
        with pytest.raises(BookError, match="read-only"):
            book.queue.lease("a", ABLE, 60)
        with pytest.raises(BookError, match="read-only"):
            book.queue.ask(ask(1))
    with Book.open(path) as book:
        assert not book.queue.drop("any")
        assert book.queue.ask(ask(1)).new
        assert leased(book.queue) == "nest1"


def test_a_packed_book_has_no_tasks(tmp_path):
    with Book.open(tmp_path / "book.db") as book:
        book.queue.ask(ask(1))
        book.pack(tmp_path / "packed.db")
    with Book.open(tmp_path / "packed.db", readonly=True) as packed:
        assert packed.queue.all() == ([], 0)


def test_a_book_that_another_process_holds_is_one_line(tmp_path):
    path = tmp_path / "book.db"
    with Book.open(path, busy_s=0.05) as book:
        book.queue.ask(ask(1))
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(BookError, match="another process is writing"):
            book.queue.lease("a", ABLE, 60)
        holder.close()
        assert leased(book.queue) == "nest1"


def test_a_damaged_nest_is_dead_and_the_next_task_comes(tmp_path):
    path = tmp_path / "book.db"
    work = open_queue(str(path))
    bad, bomb, good = (work.ask(ask(n, count=100 - n)).task for n in range(3))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE tasks SET nest = x'0102' WHERE id = ?", [bad])
        blown = zlib.compress(b"[" * (64 * MOST_NEST))
        connection.execute("UPDATE tasks SET nest = ? WHERE id = ?", [blown, bomb])
    connection.close()
    with pytest.raises(BookError, match="damaged"):
        work.show(bad)
    lease = work.lease("a", ABLE, 60)
    assert lease is not None
    assert lease.task.id == good
    dead, unreadable = work.all([DEAD])
    assert {one.id for one in dead} == {bad, bomb}
    assert all(one.error for one in dead)
    assert unreadable == 0


ANYTHING = (
    st.none() | st.integers(-5, 2**40) | st.floats() | st.text(max_size=3) | st.binary(max_size=3)
)


@settings(max_examples=25)
@given(st.data())
def test_rows_of_any_content_never_raise_anything_else(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "book.db")
        work = open_queue(str(path), clock := Clock())
        ids = [work.ask(ask(n, count=50 - n)).task for n in range(3)]
        lease = work.lease("a", ABLE, 60)
        assert lease is not None
        with sqlite3.connect(path) as connection:
            columns = [row[1] for row in connection.execute("PRAGMA table_info(tasks)")]
            column = data.draw(st.sampled_from(columns))
            change = f"UPDATE OR IGNORE tasks SET {column} = ? WHERE id = ?"
            spoilt = ids[data.draw(st.integers(0, 1))]
            connection.execute(change, [data.draw(ANYTHING), spoilt])
        connection.close()
        for act in (
            lambda: work.lease("b", ABLE, 60),
            lambda: work.finish(lease),
            lambda: work.fail(lease, "no"),
            lambda: work.raise_(spoilt),
            lambda: work.show(spoilt),
            lambda: work.ask(ask(0)),
            lambda: work.ask(ask(1)),
            work.all,
            work.counts,
            lambda: work.drop(spoilt),
        ):
            try:
                act()
            except LoopbookError as error:
                assert "\n" not in str(error)  # noqa: PT017
        # One row's damage does not keep the others from being done.
        clock.now += 3600
        found = []
        while (got := work.lease("c", ABLE, 60)) is not None:
            found.append(got.task.id)
            assert work.finish(got).changed
        assert work.show(ids[2])[0].state == DONE
        assert len(found) == len(set(found))
