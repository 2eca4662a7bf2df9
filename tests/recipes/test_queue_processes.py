"""The queue of work between processes: no task is leased twice, and none goes with its worker."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections import Counter
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from queue_kit import ABLE, ask, open_queue

from loopbook.errors import LoopbookError
from loopbook.recipes.tasks import DEAD, DONE, LEASED, WAITING

CHILDREN = get_context("spawn")
FORKS = get_context("fork")
"""Where nothing of the book is open here that they could inherit: they need not load all anew."""

TASKS = 60


def work_off(location: str, name: str, told: Connection) -> None:
    """Ask for everything as the others do, then lease and finish until there is nothing left."""
    queue = open_queue(location)
    new = sum(queue.ask(ask(n)).new for n in range(TASKS))
    done = []
    while (lease := queue.lease(name, ABLE, 3600)) is not None:
        assert queue.finish(lease).changed
        done.append(lease.task.fingerprint)
    told.send((new, done))


def hold(location: str, told: Connection) -> None:
    """Lease a task and die."""
    lease = open_queue(location).lease("doomed", ABLE, 3600)
    assert lease is not None
    told.send(lease)
    time.sleep(3600)


def fill(location: str, told: Connection) -> None:
    """Ask until the disk is full: a limit on the size of files fails writes half way, as that
    does."""
    queue = open_queue(location)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    count = 0
    try:
        while True:
            queue.ask(ask(count, document=os.urandom(30_000).hex()))
            count += 1
    except LoopbookError as error:
        told.send((count, type(error).__name__, str(error)))


def start(function, *words, context: Any = CHILDREN):
    ours, theirs = context.Pipe()
    process = context.Process(target=function, args=(*words, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def test_workers_at_the_same_time_never_get_the_same_task(location):
    workers = [start(work_off, location, f"worker {n}", context=FORKS) for n in range(4)]
    answers = [pipe.recv() for _, pipe in workers]
    for process, _ in workers:
        process.join(600)
        assert process.exitcode == 0
    # A task that is asked for after it was done is not done again.
    assert sum(new for new, _ in answers) == TASKS
    done = Counter(name for _, names in answers for name in names)
    assert done == Counter(f"nest{n}" for n in range(TASKS))
    queue = open_queue(location)
    assert queue.counts() == {WAITING: 0, LEASED: 0, DONE: TASKS, DEAD: 0}
    assert all(one.asked == 4 for one in queue.all([DONE])[0])


def test_a_worker_that_is_killed_loses_its_lease_at_the_deadline(location):
    queue = open_queue(location)
    queue.ask(ask(1))
    process, pipe = start(hold, location)
    lost = pipe.recv()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(600)
    assert queue.lease("next", ABLE, 60) is None
    later = queue.now() + 3601
    queue._clock = lambda: later
    lease = queue.lease("next", ABLE, 60)
    assert lease is not None
    assert lease.task.id == lost.task.id
    assert not queue.finish(lost).changed
    assert queue.finish(lease).changed


def test_a_full_disk_is_one_line_and_the_queue_as_it_was(tmp_path):
    path = Path(tmp_path, "book.db")
    process, pipe = start(fill, str(path))
    count, kind, told = pipe.recv()
    process.join(600)
    assert kind == "BookError"
    assert told.startswith(f"book {path}: it can't be written, the disk is full")
    assert "\n" not in told
    queue = open_queue(str(path))
    assert 0 < count == queue.counts()[WAITING]
    assert queue.lease("next", ABLE, 60) is not None
