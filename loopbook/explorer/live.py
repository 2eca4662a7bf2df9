"""What a book's farm is doing: the queue of work, who works on it, misses, what happened last."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from loopbook.explorer import documents
from loopbook.explorer.catalogue import Shown, seconds
from loopbook.explorer.documents import Event, Live, LiveMisses, Miss, Queue, Worker
from loopbook.explorer.searches import searches
from loopbook.recipes._rows import Miss as BookMiss
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import DEAD, DONE, LEASED, TUNE, WAITING, Task

STATES = {WAITING: "open", LEASED: "leased", DONE: "done", DEAD: "failed"}
"""What the queue's states are called here."""

MOST_TASKS, MOST_EVENTS, MOST_MISSES, MOST_LOOKED_AT = 50, 100, 50, 300

GONE_S = 900.0
"""A worker that has ended no task for so long, and has none, is gone."""


def live(book: Book | None, shown: Shown, folders: Iterable[Path]) -> Live:
    """The document.

    Args:
        book: whose queue it is; None where there is none to write to.
        folders: with logs of searches.

    Raises:
        BookError: the book cannot be read.
    """
    counts: dict[str, int] = {}
    tasks: list[Task] = []
    found: list[Miss] = []
    if book is not None:
        counts = book.queue.counts()
        tasks = book.queue.latest(MOST_LOOKED_AT)
        found = misses(book, shown)
    names = {one.fingerprint: one.nest for one in shown.briefs} if tasks or found else {}
    told = [_task(one, names) for one in tasks]
    done = sum(one.state == "done" for one in found)
    return Live(
        datetime.now(UTC).isoformat(timespec="seconds"),
        Queue(*(counts.get(state, 0) for state in STATES)),
        told[:MOST_TASKS],
        _workers(tasks, names),
        LiveMisses(len(found) - done, done, found[:MOST_MISSES]),
        _events(tasks, names, shown),
        searches(folders),
    )


def misses(book: Book, shown: Shown) -> list[Miss]:
    """What was asked for in vain, the most asked for first; `id` begins with the fingerprint. What
    has a record by now, or a task that is done, is filled."""
    by_nest = {(one.fingerprint, one.target): one for one in shown.briefs}
    tasks = {
        (one.fingerprint, one.target, one.hardware_key): one
        for one in book.queue.latest(10_000, kind=TUNE)
    }
    return [_miss(one, tasks, by_nest) for one in book.misses()]


def _miss(one: BookMiss, tasks: dict, by_nest: dict) -> Miss:
    task = tasks.get((one.fingerprint, one.target, one.hardware_key))
    record = by_nest.get((one.fingerprint, one.target))
    state = "done" if record else "open" if task is None else STATES[task.state]
    name = one.nest or (record.nest if record else f"nest {one.fingerprint[:8]}")
    identity = f"{one.fingerprint} {one.target} {one.hardware_key}"
    came = record.id if record else next(iter(task.records), None) if task else None
    return Miss(identity, name, one.count, state, came)


def _name(task: Task, names: dict[str, str]) -> str:
    return names.get(task.fingerprint, f"nest {task.fingerprint[:8]}")


def _task(task: Task, names: dict[str, str]) -> documents.Task:
    return documents.Task(
        task.id,
        task.kind,
        f"{_name(task, names)} {task.target}".strip(),
        STATES[task.state],
        task.worker or None,
        task.changed,
        task.error,
    )


def _workers(tasks: Sequence[Task], names: dict[str, str]) -> list[Worker]:
    """Those that had one of the latest tasks."""
    found: dict[str, Worker] = {}
    for task in tasks:
        if not task.worker or task.worker in found:
            continue
        busy = task.state == LEASED
        gone = time.time() - task.changed > GONE_S
        state = "busy" if busy else "gone" if gone else "idle"
        now = f"{task.kind} {_name(task, names)}" if busy else None
        found[task.worker] = Worker(task.worker, task.hardware_key, state, now, task.changed)
    return list(found.values())


def _events(tasks: Sequence[Task], names: dict[str, str], shown: Shown) -> list[Event]:
    happened = {
        WAITING: "is to be done",
        LEASED: "is being done",
        DONE: "is done",
        DEAD: "was given up",
    }
    found = [
        Event(
            task.changed,
            STATES[task.state],
            f"{task.kind} {_name(task, names)} {happened[task.state]}"
            + (f": {task.error}" if task.error and task.state != DONE else ""),
            next(iter(task.records), None),
        )
        for task in tasks
    ]
    latest = sorted(shown.briefs, key=lambda one: one.date)[-MOST_EVENTS:]
    found += [
        Event(
            float(seconds(one.date)),
            "record",
            f"{one.nest} {one.target}: {one.speedup:.2f}×",
            one.id,
        )
        for one in latest
    ]
    return sorted(found, key=lambda one: -one.time)[:MOST_EVENTS]
