"""Tasks as rows of their table: new, asked for once more, due, and the most wanted ones."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from loopbook.recipes import _demand, _fields
from loopbook.recipes.schema import TASKS
from loopbook.recipes.tasks import (
    DEAD,
    LEASED,
    MOST_SIZES,
    WAITING,
    Ask,
    Task,
    lane_of,
    packed,
)

MOST_ATTEMPTS = 5
"""Failures of a task that workers report; with the last one it is dead."""

MOST_LOST = 20
"""Leases of a task that workers lose; with the last one it is dead. Machines die for reasons of
their own; a task that kills them is known by how often it happens."""

SILENT = "no word from its worker before the deadline"
"""What is told of a lease that its deadline ended."""

CLOCK = sa.extract("epoch", sa.func.clock_timestamp())
"""PostgreSQL's clock: seconds since 1970."""

_AT_ONCE = 100
"""Tasks whose time has come that one transaction deals with."""


def new_row(ask: Ask, now: float) -> dict[str, Any]:
    """A new task as the table keeps it."""
    wanted = ask.wanted
    nest = packed(wanted.document)
    demand = _demand.added(None, ask.count, wanted.cost_s, now)
    return {
        "id": uuid.uuid4().hex,
        "key": ask.key,
        "kind": ask.kind,
        "fingerprint": ask.fingerprint,
        "target": ask.target,
        "hardware_key": ask.hardware_key,
        "subject": ask.subject,
        "sizes": json.dumps([wanted.sizes] if wanted.sizes else []),
        "nest": nest,
        "nest_bytes": len(nest),
        "asked": ask.count,
        "asked_last": now,
        "cost_s": wanted.cost_s,
        "gain": wanted.gain,
        "demand": demand,
        "raised": 0.0,
        "priority": _demand.priority(demand, wanted.gain, 0.0),
        "state": WAITING,
        "lane": lane_of(ask.kind, ask.target, ask.hardware_key),
        "due": None,
        "attempts": 0,
        "lost": 0,
        "lease": "",
        "worker": "",
        "error": "",
        "records": "[]",
        "created": now,
        "changed": now,
    }


def add_missing(connection: sa.Connection) -> None:
    """Add the column that the table of an older loopbook lacks."""
    if not is_whole(connection):
        words = f"ALTER TABLE {TASKS.name} ADD COLUMN lost INTEGER NOT NULL DEFAULT 0"
        connection.execute(sa.text(words))


def is_whole(connection: sa.Connection) -> bool:
    """Whether there is the table, with all of its columns."""
    inspector = sa.inspect(connection)
    if not inspector.has_table(TASKS.name):
        return False
    return "lost" in {column["name"] for column in inspector.get_columns(TASKS.name)}


def count(connection: sa.Connection, task: Task, ask: Ask, now: float) -> None:
    """Note that a task was asked for once more."""
    wanted = ask.wanted
    sizes = [one for one in task.sizes if one != wanted.sizes]
    sizes = [wanted.sizes, *sizes][:MOST_SIZES] if wanted.sizes else sizes
    cost_s, gain = wanted.cost_s or task.cost_s, wanted.gain or task.gain
    demand = _demand.added(task.demand, ask.count, cost_s, now)
    change(
        connection,
        task.id,
        sizes=json.dumps(sizes),
        asked=min(task.asked + ask.count, _fields.MAX_INTEGER),
        asked_last=max(task.asked_last, now),
        cost_s=cost_s,
        gain=gain,
        demand=demand,
        priority=_demand.priority(demand, gain, task.raised),
    )


def change(connection: sa.Connection, task_id: str, **values: Any) -> bool:
    """Whether there is such a task."""
    query = sa.update(TASKS).where(TASKS.c.id == task_id).values(values)
    return connection.execute(query).rowcount == 1


# Statements are made once: to make one takes longer than to carry it out.

_WOKEN = ("id", "kind", "target", "hardware_key", "state", "attempts", "lost")

_DUE = (
    sa.select(*(TASKS.c[n] for n in _WOKEN))
    .where(TASKS.c.due <= sa.bindparam("now"), TASKS.c.state.in_((WAITING, LEASED)))
    .order_by(TASKS.c.due)
    .limit(_AT_ONCE)
    .with_for_update(skip_locked=True)
)

_FIRST = (
    sa.select(TASKS)
    .where(TASKS.c.lane == sa.bindparam("lane"))
    .order_by(TASKS.c.priority.desc())
    .limit(1)
    .with_for_update(skip_locked=True)
)


class Look(NamedTuple):
    """What there is to do.

    Attributes:
        now: seconds since 1970.
        due: whether a lease or a pause has ended.
        lanes: that have tasks, the one with the most wanted task first.
    """

    now: float
    due: bool
    lanes: list[str]


@lru_cache
def _looking(count: int, clock: bool) -> sa.Select[Any]:
    """The time, if the server is to say, when something is due, and the greatest priorities in so
    many lanes: one question, since the way to a server takes longer than the answer."""
    top = sa.func.max(TASKS.c.priority)
    tops = (
        sa.select(top).where(TASKS.c.lane == sa.bindparam(f"lane{n}")).scalar_subquery()
        for n in range(count)
    )
    due = sa.select(sa.func.min(TASKS.c.due)).scalar_subquery()
    return sa.select(CLOCK if clock else sa.null(), due, *tops)


def look(connection: sa.Connection, lanes: Sequence[str], now: float | None) -> Look:
    """See what there is to do in these lanes.

    Args:
        now: seconds since 1970; None if the server is to say.
    """
    names = {f"lane{n}": lane for n, lane in enumerate(lanes)}
    row = connection.execute(_looking(len(lanes), now is None), names).one()
    told, due, *tops = tuple(row)
    now = float(told) if now is None else now
    # SQLite keeps whatever it was given, damage included.
    found = [
        (value if isinstance(value, float) else 0.0, lane)
        for value, lane in zip(tops, lanes, strict=True)
        if value is not None
    ]
    order = [lane for _, lane in sorted(found, key=lambda one: -one[0])]
    return Look(now, due is not None and not (isinstance(due, float) and due > now), order)


def wake(connection: sa.Connection, now: float) -> None:
    """Do what is due: end leases whose deadline has passed, and pauses."""
    for row in connection.execute(_DUE, {"now": now}).all():
        lane = lane_of(str(row.kind), str(row.target), str(row.hardware_key))
        ends: dict[str, Any] = {"due": None, "lane": lane}
        if row.state == LEASED:
            lost = _count_of(row.lost, MOST_LOST - 1) + 1
            own = {"lost": lost, "attempts": max(0, attempts_of(row.attempts) - 1)}
            ends |= {"state": WAITING, "changed": now, "error": SILENT} | own
            if lost >= MOST_LOST:
                ends |= {"state": DEAD, "lane": None}
        change(connection, row.id, **ends)


def first(connection: sa.Connection, lane: str) -> sa.Row[Any] | None:
    """The most wanted task of a lane that nobody else is about to take."""
    return connection.execute(_FIRST, {"lane": lane}).first()


def attempts_of(value: object) -> int:
    """What a row says; SQLite keeps whatever it was given, damage included."""
    return _count_of(value, MOST_ATTEMPTS)


def _count_of(value: object, most: int) -> int:
    return value if isinstance(value, int) and 0 <= value <= most else most
