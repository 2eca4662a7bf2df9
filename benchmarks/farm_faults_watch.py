"""What `farm_faults` sees of its queue and its servers while processes are killed."""

from __future__ import annotations

import json
import statistics
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import client_kit
import server_kit

from benchmarks.farm_faults_machines import Machines
from loopbook.errors import LoopbookError
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import DEAD, DONE, STATES, Task

LOOK_S = 0.8
ASK_S = 3.0
NEW = 5
"""One program in so many is new to the servers."""

UNITS = ("head", "node1", "node2")
"""That do tasks."""
ENDED = (DONE, DEAD)


class Kill(NamedTuple):
    """A process that was killed.

    Attributes:
        at: seconds, on the monotonic clock.
    """

    kind: str
    unit: str
    at: float


class Watch:
    """Looks at the queue and asks the servers, in threads of its own."""

    def __init__(self, store: str, count: int, machines: Machines) -> None:
        self._store, self._count, self._machines = store, count, machines
        self._over = threading.Event()
        self._ends: dict[str, Task] = {}
        self.began: dict[str, dict[int, float]] = {name: {} for name in UNITS}
        self.counts: dict[str, int] = dict.fromkeys(STATES, 0)
        self.faults: list[str] = []
        self.answers: dict[str, list[float]] = {name: [] for name in machines.ports}
        self.outcomes: Counter[str] = Counter()
        doings: list[tuple[Callable[..., None], tuple[object, ...]]] = [(self._looks, ())]
        doings += [(self._sees, ()), *((self._asks, one) for one in machines.ports.items())]
        self._threads = [threading.Thread(target=do, args=args, daemon=True) for do, args in doings]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    @property
    def ended(self) -> int:
        return len(self._ends)

    @property
    def left(self) -> int:
        """Tasks that have not ended."""
        return self._count - len(self._ends)

    def _looks(self) -> None:
        with Book.open(self._store, readonly=True) as book:
            while not self._over.wait(LOOK_S):
                try:
                    tasks, _ = book.queue.all(STATES, limit=self._count + 100)
                except LoopbookError:
                    continue
                self._note(tasks)

    def _sees(self) -> None:
        """Note when a task begins on a node."""
        while not self._over.wait(LOOK_S):
            for name, pid in self._machines.working():
                self.began[name].setdefault(pid, time.monotonic())

    def _note(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            before = self._ends.get(task.id)
            if before is None and task.state in ENDED:
                self._ends[task.id] = task
            elif before is not None and (before.state, before.lease) != (task.state, task.lease):
                self._ends[task.id] = task
                self.faults.append(f"{task.id} has ended, and is {task.state} once more")
        self.counts = dict.fromkeys(STATES, 0) | Counter(task.state for task in tasks)

    def _asks(self, name: str, port: int) -> None:
        """Look programs up at a server; most of them are new to it."""
        number = 0
        while not self._over.wait(ASK_S):
            number += 1
            body = server_kit.sent(client_kit.product, new=number // NEW)
            url = f"http://127.0.0.1:{port}/docc/transfertune_sdfg"
            request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    told = json.load(answer)
            except urllib.error.HTTPError as error:
                self.outcomes[str(error.code)] += 1
                continue
            except (OSError, ValueError):
                self.outcomes["no answer"] += 1
                continue
            error = str(told.get("error", ""))
            if "sdfg_result" in told or error.startswith("No match"):
                self.outcomes["answered"] += 1
                self.answers[name].append(time.monotonic())
            else:
                self.outcomes[error[:60]] += 1

    def after(self, kill: Kill) -> tuple[float, float] | None:
        """Seconds from a kill until a task began again: on the node that was hit, or, where that
        hit all, on the first of them and on the last. Of a server, until it answered. None where no
        task came any more."""
        if kill.kind == "server":
            firsts = [at - kill.at for at in self.answers[kill.unit] if at > kill.at][:1]
        else:
            all_hit = kill.kind in ("head", "driver", "database")
            all_hit |= kill.unit == "head" and kill.kind in ("node", "supervisor")
            units = UNITS if all_hit else (kill.unit,)
            after = ([a for a in self.began[name].values() if a > kill.at] for name in units)
            firsts = [min(times) - kill.at for times in after if times]
        return (min(firsts), max(firsts)) if firsts else None


def rows(kills: Sequence[Kill], watch: Watch) -> list[str]:
    """Kills by kind, as Markdown."""
    head = "killed | times | work goes on: median s | worst s | on all nodes: median s | worst s"
    found = [f"| {head} |", "| --- | --- | --- | --- | --- | --- |"]
    for kind in dict.fromkeys(one.kind for one in sorted(kills)):
        after = [watch.after(one) for one in kills if one.kind == kind]
        cells = [kind, str(len(after))]
        for column in (0, 1):
            times = [one[column] for one in after if one]
            cells.append(f"{statistics.median(times):.1f}" if times else "")
            cells.append(f"{max(times):.1f}" if times else "")
        found.append(f"| {' | '.join(cells)} |")
    return found
