"""The queue of work in a book's own database: what to tune, to confirm, to re-measure, to re-embed.

Asks for the same are one task. A task is leased to a worker until a deadline; a worker that is gone
by then loses it, and the next one gets it. Every lease has an id, under which one report counts, so
that each task ends once: done, or dead after too many attempts.

On PostgreSQL, workers lock the rows that they take and pass over those that others have locked; in
a file one transaction writes at a time. The clock is the database's.
"""

from __future__ import annotations

import json
import uuid
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from loopbook.errors import BookError, InputError, OverloadError
from loopbook.printable import one_line
from loopbook.recipes import _fields
from loopbook.recipes._queue_reading import SPARSE, Reading, there
from loopbook.recipes._task_rows import (
    MOST_ATTEMPTS,
    SILENT,
    add_missing,
    attempts_of,
    change,
    count,
    first,
    look,
    new_row,
    wake,
)
from loopbook.recipes.schema import TASKS
from loopbook.recipes.tasks import (
    DEAD,
    DONE,
    LEASED,
    MOST_RECORDS,
    TUNE,
    WAITING,
    Abilities,
    Ask,
    Asked,
    Ending,
    Lease,
    Task,
    lane_of,
    unpacked,
)

FIRST_PAUSE_S = 30.0
"""After a failure, where nothing else is said."""

QUIET_S = 30 * 86400.0
"""How long a task that is done is not done again, however often it is asked for."""

MOST_TASKS = 1_000_000
MOST_BYTES = 4 << 30
"""Of all nests together, compressed."""

MOST_LEASE_S = 86400.0

_COUNT_EVERY = 1000


class Queue(Reading):
    """The tasks of one book. Safe to share between threads and with other processes.

    Errors of the database are `BookError`; the methods name only what comes on top.

    Args:
        clock: seconds since 1970; default the database's own.
    """

    # Asking

    def ask(self, ask: Ask) -> Asked:
        """Ask for a task, or once more for one that there is.

        One that was done lately, or that is dead, only counts how often it was asked for.

        Raises:
            InputError: there is no such task, and the ask has no nest to make one of.
            OverloadError: there are too many tasks already.
        """
        (asked,) = self.ask_all([ask])
        return asked

    def ask_all(self, asks: Iterable[Ask]) -> list[Asked]:
        """`ask` for many: all or, on any error, none."""
        self.prepare()
        with self._database.writing() as connection:
            found = [self.merge(connection, ask) for ask in asks]
            if None in found:
                raise InputError("a task to tune needs its nest")
        return [one for one in found if one is not None]

    def merge(self, connection: sa.Connection, ask: Ask) -> Asked | None:
        """`ask` in a transaction that writes alone and was begun after `prepare`; None if there is
        no such task, and no nest to make one of."""
        now = self.time(connection)
        key = ask.key
        row = connection.execute(sa.select(TASKS).where(TASKS.c.key == key)).first()
        if row is not None:
            task = self._task(row)
            if task.state != DONE or now - task.changed < QUIET_S:
                count(connection, task, ask, now)
                return Asked(task.id, task.state, False)
        if ask.kind == TUNE and not ask.wanted.document:
            return None
        self._make_room(connection, now)
        if row is not None:  # it stays what it was: the new one is another
            change(connection, row.id, key=row.id)
        new = new_row(ask, now)
        connection.execute(sa.insert(TASKS).values(new))
        return Asked(new["id"], WAITING, True)

    def prepare(self) -> None:
        """Make the table, where the book comes from a loopbook that had none."""
        if not self._present:
            with self._database.writing() as connection:
                TASKS.create(connection, checkfirst=True)
                add_missing(connection)
            self._present = True

    # Working

    def lease(self, worker: str, abilities: Abilities, seconds: float) -> Lease | None:
        """The most wanted task that a worker can do, for so many seconds; None if there is none.

        Args:
            worker: its name, for people.

        Raises:
            InputError: the name or the time is none.
        """
        _check_worker(worker)
        _check_seconds(seconds)
        self.prepare()
        lanes = abilities.lanes
        with self._database.writing(alone=False) as connection:
            seen = look(connection, lanes, self._own_clock())
            if seen.due:
                wake(connection, seen.now)
                seen = look(connection, lanes, self._own_clock())
            for lane in seen.lanes:
                while (row := first(connection, lane)) is not None:
                    leased = self._leased(connection, row, worker, seen.now, seconds)
                    if leased is not None:
                        return leased
        return None

    def begin(self, lease: Lease, worker: str, seconds: float) -> Lease | Ending:
        """Take over a lease that somebody has handed on: its deadline is so many seconds from now,
        and who had it before extends it no more. Why not, if the lease is lost.

        Args:
            worker: the name of who works on it, for people.

        Raises:
            InputError: the name or the time is none.
        """
        _check_worker(worker)
        _check_seconds(seconds)
        with self._changing() as (connection, now):
            taken = sa.update(TASKS).where(_holds(lease)).values(worker=worker, due=now + seconds)
            if connection.execute(taken).rowcount != 1:
                return self._why_not(connection, lease)
        return lease._replace(task=replace(lease.task, worker=worker), deadline=now + seconds)

    def extend(self, lease: Lease, seconds: float) -> bool:
        """Move the deadline to so many seconds from now; False if the lease is lost, or another
        worker has taken it over."""
        _check_seconds(seconds)
        own = _holds(lease) & (TASKS.c.worker == lease.task.worker)
        with self._changing() as (connection, now):
            query = sa.update(TASKS).where(own).values(due=now + seconds)
            return connection.execute(query).rowcount == 1

    def finish(self, lease: Lease, records: Sequence[str] = ()) -> Ending:
        """The task is done. Counts if the lease still holds. What adds records to the book does so
        with `Book.conclude`, which is both or neither.

        Args:
            records: ids of those that came of it, if any did.
        """
        with self._changing() as (connection, now):
            return self.close(connection, lease, records, now)

    def close(
        self, connection: sa.Connection, lease: Lease, records: Sequence[str], now: float
    ) -> Ending:
        """`finish` in a transaction that writes and was begun after `prepare`."""
        kept = json.dumps([one[:128] for one in records[:MOST_RECORDS]])
        end = {"state": DONE, "due": None, "changed": now, "records": kept}
        end |= {"nest": b"", "nest_bytes": 0}
        done = sa.update(TASKS).where(_holds(lease)).values(end)
        if connection.execute(done).rowcount == 1:
            return Ending(True, DONE)
        return self._why_not(connection, lease)

    def fail(
        self,
        lease: Lease,
        error: str,
        *,
        for_good: bool = False,
        pause_s: float = FIRST_PAUSE_S,
    ) -> Ending:
        """The task could not be done: it waits for another attempt, later, or is dead. Counts if
        the lease still holds.

        Args:
            for_good: no attempt could succeed.
            pause_s: before the next attempt, after the first failure; four times as long after each
                further one.
        """
        held = sa.select(TASKS.c.attempts).where(_holds(lease)).with_for_update()
        with self._changing() as (connection, now):
            attempts = connection.execute(held).scalar()
            if attempts is None:
                return self._why_not(connection, lease)
            last = for_good or attempts_of(attempts) >= MOST_ATTEMPTS
            state = DEAD if last else WAITING
            pause = pause_s * 4 ** (attempts_of(attempts) - 1)
            due = now + pause if state == WAITING else None
            end = {"state": state, "due": due, "changed": now, "error": one_line(error, 500)}
            change(connection, lease.task.id, **end)
            return Ending(True, state)

    # Looking after it

    def raise_(self, task_id: str) -> Task:
        """Put a task before all others, and give one that is dead new attempts.

        Raises:
            InputError: there is none of that id, or it is done.
        """
        self.prepare()
        top = sa.select(sa.func.max(TASKS.c.priority)).where(TASKS.c.lane.is_not(None))
        with self._database.writing() as connection:
            task = self._task(there(connection, task_id, lock=True))
            if task.state == DONE:
                raise InputError(f"task {task_id} is done")
            highest = connection.execute(top).scalar()
            higher = max(highest if isinstance(highest, float) else 0.0, task.priority) + 1.0
            raised = {"priority": higher, "raised": task.raised + higher - task.priority}
            if task.state != LEASED:
                now = self.time(connection)
                changed = now if task.state == DEAD else task.changed
                dead = task.state == DEAD
                attempts, lost = (0, 0) if dead else (task.attempts, task.lost)
                lane = lane_of(task.kind, task.target, task.hardware_key)
                raised |= {"state": WAITING, "lane": lane, "due": None}
                raised |= {"changed": changed, "attempts": attempts, "lost": lost}
            change(connection, task.id, **raised)
            return self._task(there(connection, task_id))

    def give_up(self, lanes: Collection[str], seconds: float) -> list[str]:
        """End tasks that have waited for so long, and that nobody can take who can do `lanes`
        (`Abilities.lanes`); returns their ids."""
        error = "no machine of the farm could take it"
        with self._changing() as (connection, now):
            old = (TASKS.c.state == WAITING) & (TASKS.c.changed < now - seconds)
            query = sa.select(TASKS.c.id).where(old & TASKS.c.lane.not_in(sorted(lanes)))
            found = [str(row.id) for row in connection.execute(query.limit(1000))]
            for one in found:
                end = {"state": DEAD, "lane": None, "due": None, "changed": now}
                still = (TASKS.c.id == one) & (TASKS.c.state == WAITING)
                connection.execute(sa.update(TASKS).where(still).values(end | {"error": error}))
        return found

    def drop(self, task_id: str) -> bool:
        """Remove a task, whatever its state; False if there is none of that id. Whoever has it
        leased is told when he reports."""
        if not self._there_are():
            return False
        with self._changing() as (connection, _):
            gone = sa.delete(TASKS).where(TASKS.c.id == task_id)
            return connection.execute(gone).rowcount == 1

    @contextmanager
    def _changing(self) -> Iterator[tuple[sa.Connection, float]]:
        self.prepare()
        with self._database.writing(alone=False) as connection:
            yield connection, self.time(connection)

    def _make_room(self, connection: sa.Connection, now: float) -> None:
        """Forget tasks that were done long ago, and refuse more tasks, or nests, than may be; they
        are counted now and then only."""
        if self._room <= 0:
            over = (TASKS.c.state == DONE) & (TASKS.c.changed < now - QUIET_S)
            connection.execute(sa.delete(TASKS).where(over))
            there, held = _held(connection)
            if there >= MOST_TASKS:  # ended ones make room, the oldest first
                ended = sa.select(TASKS.c.id).where(TASKS.c.state.in_((DONE, DEAD)))
                oldest = ended.order_by(TASKS.c.changed).limit(there - MOST_TASKS + _COUNT_EVERY)
                connection.execute(sa.delete(TASKS).where(TASKS.c.id.in_(oldest)))
                there, held = _held(connection)
            self._room = min(MOST_TASKS - there, _COUNT_EVERY) if held < MOST_BYTES else 0
            if self._room <= 0:
                raise OverloadError(
                    f"the queue of work has {there} tasks with {held} bytes of nests: drop some"
                )
        self._room -= 1

    def _leased(
        self, connection: sa.Connection, row: sa.Row[Any], worker: str, now: float, seconds: float
    ) -> Lease | None:
        """A lease of the task of a row; None if that is damaged, which is its end."""
        changes = {
            "state": LEASED,
            "lane": None,
            "due": now + seconds,
            "lease": uuid.uuid4().hex,
            "worker": worker,
            "changed": now,
        }
        try:
            before = self._task(row)
            if before.state != WAITING:
                raise InputError("a task can be leased that does not wait")
            changes["attempts"] = before.attempts + 1
            task = Task.of({**row._mapping, **changes})
            document = unpacked(row.nest)
        except (BookError, InputError, ValueError, zlib.error) as error:
            end = {"state": DEAD, "lane": None, "due": None, "changed": now}
            if not change(connection, row.id, **end, error=one_line(error, 500)):
                raise BookError(f"book {self._database.name} is damaged: {error}") from error
            return None
        change(connection, row.id, **changes)
        return Lease(task.lease, task, now + seconds, document)

    def _why_not(self, connection: sa.Connection, lease: Lease) -> Ending:
        """What to tell somebody whose report does not count."""
        query = sa.select(*SPARSE).where(TASKS.c.id == lease.task.id)
        row = connection.execute(query).first()
        if row is None:
            return Ending(False, "", "the task was dropped")
        task = self._task(row)
        if task.lease != lease.id:
            return Ending(False, task.state, f"the lease was lost to {task.worker}")
        if task.state == WAITING and task.error == SILENT:
            return Ending(False, task.state, "the lease was lost: its deadline has passed")
        return Ending(False, task.state, "the lease has ended already")


def _held(connection: sa.Connection) -> tuple[int, int]:
    """How many tasks there are, and bytes of their nests."""
    size = sa.func.coalesce(sa.func.sum(TASKS.c.nest_bytes), 0)
    there, held = connection.execute(sa.select(sa.func.count(), size)).one()
    return int(there), int(held)


def _holds(lease: Lease) -> sa.ColumnElement[bool]:
    t = TASKS.c
    return (t.id == lease.task.id) & (t.lease == lease.id) & (t.state == LEASED)


def _check_worker(name: str) -> None:
    _fields.check_text(name, "a worker's name", limit=256, empty=False)


def _check_seconds(value: float) -> None:
    if not 0 < value <= MOST_LEASE_S:
        raise InputError(f"a lease is for more than 0 and at most {MOST_LEASE_S:g} seconds")
