"""What can be read of the queue of work."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from loopbook.errors import BookError, InputError
from loopbook.printable import one_line
from loopbook.recipes._rows import readable
from loopbook.recipes._task_rows import CLOCK, is_whole
from loopbook.recipes.schema import TASKS
from loopbook.recipes.tasks import COLUMNS, STATES, Task, unpacked

if TYPE_CHECKING:
    from loopbook.recipes.connect import Database

SPARSE = [TASKS.c[name] for name in COLUMNS]
"""Without the nest."""


class Reading:
    """The tasks of one book, for who looks at them; `loopbook.recipes.queue.Queue` changes them."""

    def __init__(self, database: Database, clock: Callable[[], float] | None = None) -> None:
        self._database = database
        self._clock = clock
        self._present = False
        self._room = 0

    def all(
        self,
        states: Collection[str] = STATES,
        kinds: Collection[str] | None = None,
        limit: int = 100,
    ) -> tuple[list[Task], int]:
        """Tasks, the most wanted first, and how many of them can't be read."""
        if not self._there_are():
            return [], 0
        query = sa.select(*SPARSE).where(TASKS.c.state.in_(states))
        if kinds is not None:
            query = query.where(TASKS.c.kind.in_(kinds))
        query = query.order_by(TASKS.c.priority.desc(), TASKS.c.id).limit(limit)
        found, damaged = [], 0
        with self._database.reading() as connection:
            for row in connection.execute(query):
                try:
                    found.append(self._task(row))
                except BookError:
                    damaged += 1
        return found, damaged

    def latest(self, limit: int = 100, kind: str | None = None) -> list[Task]:
        """The tasks whose state changed last, the latest first; those that can't be read are left
        out."""
        if not self._there_are():
            return []
        query = sa.select(*SPARSE).order_by(TASKS.c.changed.desc(), TASKS.c.id).limit(limit)
        if kind is not None:
            query = query.where(TASKS.c.kind == kind)
        found = []
        with self._database.reading() as connection:
            for row in connection.execute(query):
                with suppress(BookError):
                    found.append(self._task(row))
        return found

    def counts(self) -> dict[str, int]:
        """How many tasks there are in each state."""
        found: dict[str, int] = dict.fromkeys(STATES, 0)
        if self._there_are():
            query = sa.select(TASKS.c.state, sa.func.count()).group_by(TASKS.c.state)
            with self._database.reading() as connection:
                found |= {s: n for s, n in connection.execute(query) if s in found}
        return found

    def find(self, key: str) -> Task | None:
        """The task of a key (`Ask.key`), if there is one."""
        if not self._there_are():
            return None
        with self._database.reading() as connection:
            row = connection.execute(sa.select(*SPARSE).where(TASKS.c.key == key)).first()
        return None if row is None else self._task(row)

    def changed_since(self, state: str, moment: float) -> int:
        """How many tasks got a state since then (seconds since 1970 on the queue's clock)."""
        if not self._there_are():
            return 0
        got = (TASKS.c.state == state) & (TASKS.c.changed >= moment)
        with self._database.reading() as connection:
            return int(connection.execute(sa.select(sa.func.count()).where(got)).scalar_one())

    def show(self, task_id: str) -> tuple[Task, str]:
        """A task, and its nest's document as far as that is kept.

        Raises:
            InputError: there is none of that id.
        """
        if not self._there_are():
            raise none(task_id)
        with self._database.reading() as connection:
            row = there(connection, task_id)
            with readable(self._database.name):
                return self._task(row), unpacked(row.nest)

    def now(self) -> float:
        """The time on the queue's clock: seconds since 1970."""
        with self._database.reading() as connection:
            return self.time(connection)

    def time(self, connection: sa.Connection) -> float:
        """`now` in a transaction."""
        now = self._own_clock()
        return float(connection.execute(sa.select(CLOCK)).scalar_one()) if now is None else now

    def _own_clock(self) -> float | None:
        """The time, unless a server has to say."""
        if self._clock is not None:
            return self._clock()
        return None if self._database.path is None else time.time()

    def _there_are(self) -> bool:
        """Whether the book has the table: one that was never written to since there is one may lack
        it."""
        if not self._present:
            with self._database.reading() as connection:
                self._present = is_whole(connection)
        return self._present

    def _task(self, row: sa.Row[Any]) -> Task:
        with readable(self._database.name):
            return Task.of(dict(row._mapping))


def there(connection: sa.Connection, task_id: str, *, lock: bool = False) -> sa.Row[Any]:
    """The row of a task.

    Raises:
        InputError: there is none of that id.
    """
    query = sa.select(TASKS).where(TASKS.c.id == task_id)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise none(task_id)
    return row


def none(task_id: str) -> InputError:
    return InputError(f"there is no task {one_line(task_id, 40)}")
