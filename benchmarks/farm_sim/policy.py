"""The queue of work as `loopbook.recipes.queue` and its rows keep it, in memory: the same lanes,
priorities, leases, pauses and ends, with the constants and functions of the real one.

A test gives both the same thousands of operations and compares all that they answer.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from dataclasses import dataclass, field

from loopbook.recipes._demand import added, priority
from loopbook.recipes._task_rows import _AT_ONCE, MOST_ATTEMPTS, MOST_LOST
from loopbook.recipes.queue import FIRST_PAUSE_S, MOST_TASKS, QUIET_S
from loopbook.recipes.tasks import DEAD, DONE, LEASED, WAITING


@dataclass(slots=True, eq=False)
class SimTask:
    """A task; times are seconds. `lane` is None where nobody may take it; `lease` counts up."""

    key: Hashable
    home: str
    cost_s: float
    demand: float
    created: float
    state: str = WAITING
    lane: str | None = None
    due: float | None = None
    attempts: int = 0
    lost: int = 0
    lease: int = 0
    changed: float = 0.0
    order: float = field(default=0.0)


class SimQueue:
    """Tasks, merged by key, of several lanes; `open` are neither done nor dead.

    Args:
        most: tasks that there may be, those that ended included.
    """

    def __init__(self, most: int = MOST_TASKS) -> None:
        self.tasks: dict[Hashable, SimTask] = {}
        self.rows = 0
        self.open = 0
        self.refused: set[Hashable] = set()
        self._most = most
        self._lanes: dict[str, list[tuple[float, int, SimTask]]] = {}
        self._due: list[tuple[float, int, SimTask]] = []
        self._count = 0

    def ask(self, key: Hashable, lane: str, cost_s: float, count: int, now: float) -> bool:
        """Ask, or once more; whether that made a task."""
        task = self.tasks.get(key)
        if task is not None and (task.state != DONE or now - task.changed < QUIET_S):
            task.cost_s = cost_s or task.cost_s
            task.demand = added(task.demand, count, task.cost_s, now)
            self._rank(task)
            return False
        if self.rows >= self._most:
            self.refused.add(key)
            return False
        self.rows += 1
        self.open += 1
        demand = added(None, count, cost_s, now)
        self.tasks[key] = task = SimTask(key, lane, cost_s, demand, now, lane=lane, changed=now)
        self._rank(task)
        return True

    def lease(self, lane: str, seconds: float, now: float) -> SimTask | None:
        """The most wanted task of a lane."""
        if self._due and self.next_due() <= now:
            self.wake(now)
        heap = self._lanes.get(lane, [])
        while heap:
            order, _, task = heapq.heappop(heap)
            if task.lane == lane and -order == task.order:
                task.state, task.lane, task.changed = LEASED, None, now
                task.attempts += 1
                task.lease += 1
                self._set_due(task, now + seconds)
                return task
        return None

    def extend(self, task: SimTask, lease: int, seconds: float, now: float) -> bool:
        """Move the deadline; whether the lease holds."""
        if not self._holds(task, lease):
            return False
        self._set_due(task, now + seconds)
        return True

    def finish(self, task: SimTask, lease: int, now: float) -> bool:
        """The task is done; whether that counts."""
        if not self._holds(task, lease):
            return False
        task.state, task.due, task.changed = DONE, None, now
        self.open -= 1
        return True

    def fail(self, task: SimTask, lease: int, now: float, *, for_good: bool = False) -> bool:
        """It could not be done; whether that counts."""
        if not self._holds(task, lease):
            return False
        task.changed = now
        if for_good or task.attempts >= MOST_ATTEMPTS:
            task.state, task.due = DEAD, None
            self.open -= 1
        else:
            task.state = WAITING
            self._set_due(task, now + FIRST_PAUSE_S * 4 ** (task.attempts - 1))
        return True

    def waiting(self, lane: str) -> bool:
        """Whether a task of the lane can be taken."""
        heap = self._lanes.get(lane, [])
        while heap and not (heap[0][2].lane == lane and -heap[0][0] == heap[0][2].order):
            heapq.heappop(heap)
        return bool(heap)

    def next_due(self) -> float:
        """When the next lease or pause ends; infinity if none does."""
        while self._due and self._due[0][2].due != self._due[0][0]:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else float("inf")

    def wake(self, now: float) -> None:
        """Do what is due, as much as one transaction does."""
        for _ in range(_AT_ONCE):
            if self.next_due() > now:
                return
            task = heapq.heappop(self._due)[2]
            task.due, task.lane = None, task.home
            if task.state == LEASED:
                task.state, task.changed = WAITING, now
                task.attempts, task.lost = task.attempts - 1, task.lost + 1
                if task.lost >= MOST_LOST:
                    task.state, task.lane = DEAD, None
                    self.open -= 1
            self._rank(task)

    def _holds(self, task: SimTask, lease: int) -> bool:
        return task.state == LEASED and task.lease == lease

    def _rank(self, task: SimTask) -> None:
        """Put a task in the order of its lane, if it is in one; its older place there is void."""
        order = priority(task.demand, 0.0, 0.0)
        task.order = order
        if task.lane is not None:
            self._count += 1
            heapq.heappush(self._lanes.setdefault(task.lane, []), (-order, self._count, task))

    def _set_due(self, task: SimTask, due: float) -> None:
        task.due = due
        self._count += 1
        heapq.heappush(self._due, (due, self._count, task))
