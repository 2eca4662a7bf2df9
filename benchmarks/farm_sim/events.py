"""The loop with an event for everything that happens: each ask, write of a miss, poll, lease,
extension, end of a task, death of a worker, refresh of a server.

Exact as far as the model goes; a million events take some 10 s. `benchmarks.farm_sim.steps` is for
more. SimPy was left out: generators for each of 10,000 workers make the same loop several times
slower, and the queue of tasks has to be `benchmarks.farm_sim.policy` anyhow.

A worker dies and is repaired on its own, also where it shares a node. Programs have one nest.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.farm_sim.arrivals import AskAt
from benchmarks.farm_sim.measured import Measured
from benchmarks.farm_sim.policy import SimQueue, SimTask
from benchmarks.farm_sim.result import Result, shares_of
from loopbook.recipes.queue import MOST_TASKS
from loopbook.recipes.tasks import DEAD, DONE

TUNED, PORTED, MISSED = range(3)
_DRAWN = 4096


class EventFarm:
    """One simulated farm, for one run.

    Args:
        most_tasks: that the queue may hold.
    """

    def __init__(self, told: Measured, seed: int = 0, most_tasks: int = MOST_TASKS) -> None:
        self.told = told
        self.queue = SimQueue(most_tasks)
        self.result = Result()
        self._random = np.random.default_rng([seed, 2])
        self._uniforms: list[float] = []
        self._events: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = 0
        self._visible: dict[tuple[int | str, int], float] = {}
        self._first: dict[tuple[int | str, int], float] = {}
        servers = told.servers
        self._phases = self._random.random(servers.count) * servers.refresh_s
        self._noted: list[Counter[tuple[int | str, int]]] = [Counter() for _ in self._phases]
        self._costs: dict[tuple[int | str, int], float] = {}
        self._due_known = float("inf")
        # Idle workers, as when in the polling interval each of them asks.
        self._idle: list[list[float]] = [
            sorted((self._random.random(one.workers) * told.leasing.poll_s).tolist())
            for one in told.classes
        ]
        self._workers = sum(one.workers for one in told.classes)
        self._idle_s = 0.0
        self._idle_since = 0.0
        self._now = 0.0

    def run(self, asks: Iterable[AskAt], limit_s: float = float("inf")) -> Result:
        """Until all asks came and no task is left that can end, or for so many seconds."""
        stream = iter(asks)
        self._tallies = np.zeros((10, 3))
        horizon = self.told.demand.days * 86400
        if self.told.trace:
            horizon = max(second for second, _, _ in self.told.trace)
        self.result.horizon_s = horizon
        upcoming = next(stream, None)
        self.result.begun = upcoming.second if upcoming else 0.0
        while upcoming is not None or self._events:
            if upcoming is not None and (not self._events or upcoming.second <= self._events[0][0]):
                if upcoming.second > limit_s:
                    break
                self._ask(upcoming, horizon)
                upcoming = next(stream, None)
                continue
            if upcoming is None and not self.queue.open and not any(self._noted):
                break  # what is left is that dead workers come back
            when, _, act, arguments = heapq.heappop(self._events)
            if when > limit_s:
                break
            self._pass_to(when)
            act(*arguments)
        self._pass_to(limit_s if limit_s < float("inf") else self._now)
        return self._ended()

    # What happens

    def _ask(self, one: AskAt, horizon: float) -> None:
        key = (one.program, one.machine)
        tenth = min(int(10 * one.second / horizon), 9) if horizon else 0
        if self._visible.get(key, float("inf")) <= one.second:
            self._tallies[tenth, TUNED] += 1
            return
        self._tallies[tenth, PORTED if one.near else MISSED] += 1
        if one.near and not self.told.demand.tune_near:
            return
        server = int(self._uniform() * len(self._phases))
        noted = self._noted[server]
        if not noted:
            refresh, phase = self.told.servers.refresh_s, float(self._phases[server])
            ticks = int((one.second - phase) // refresh) + 1
            self._at(phase + ticks * refresh, self._write_down, server)
        noted[key] += 1
        self._first.setdefault(key, one.second)
        self._costs[key] = one.cost_s

    def _write_down(self, server: int) -> None:
        noted, self._noted[server] = self._noted[server], Counter()
        for (program, machine), count in noted.items():
            key = (program, machine)
            new = self.queue.ask(key, str(machine), self._costs[key], count, self._now)
            self.result.transactions["miss_new" if new else "miss_again"] += 1
            if new:
                self._call(machine)

    def _call(self, machine: int) -> None:
        """A task can be leased: the idle worker that polls next will."""
        idle = self._idle[machine]
        if not idle:
            return
        period = self.told.leasing.poll_s
        place = self._now % period
        number = bisect_right(idle, place) % len(idle)
        phase = idle.pop(number)
        self._at(self._now + (phase - place) % period, self._lease, machine)

    def _lease(self, machine: int) -> None:
        """A worker that has no task asks for one."""
        task = self.queue.lease(str(machine), self.told.leasing.lease_s, self._now)
        if task is None:
            self.result.transactions["poll"] += 1
            insort(self._idle[machine], self._now % self.told.leasing.poll_s)
        else:
            self._work(task, machine)
        self._watch_due()

    def _work(self, task: SimTask, machine: int) -> None:
        one, database = self.told.classes[machine], self.told.database
        self.result.transactions["lease"] += 1
        begun = self._now + database.operations["lease"].ms / 1e3
        drawn = float(one.service(np.array([self._uniform()]))[0])
        program = task.key[0] if isinstance(task.key, tuple) else task.key
        service = self.told.service_of.get(str(program), drawn)
        death = -one.mtbf_s * np.log1p(-self._uniform()) if one.mtbf_s else float("inf")
        worked = min(service, float(death))
        extended = int(worked // self.told.leasing.extend_s)
        self.result.transactions["extend"] += extended
        self.result.busy_s += worked
        if extended:
            late = begun + extended * self.told.leasing.extend_s + self.told.leasing.lease_s
            self.queue.extend(task, task.lease, late - self._now, self._now)
        if death < service:
            self.result.lost += 1
            self.result.away_s += one.repair_s
            self._at(begun + worked + one.repair_s, self._lease, machine)
            return
        self._at(begun + service, self._end, task, task.lease, machine)

    def _end(self, task: SimTask, lease: int, machine: int) -> None:
        one, operations = self.told.classes[machine], self.told.database.operations
        if self._uniform() < one.failure:
            for_good = self._uniform() < one.for_good
            self.queue.fail(task, lease, self._now, for_good=for_good)
            self.result.transactions["fail"] += 1
            took = operations["fail"].ms
        else:
            took = operations["add_record"].ms
            seen = self._now + took / 1e3 + self._uniform() * self.told.servers.refresh_s
            self._visible.setdefault(task.key, seen)  # type: ignore[arg-type]
            took += operations["finish"].ms
            self.result.transactions["add_record"] += 1
            self.result.transactions["finish"] += 1
            if self.queue.finish(task, lease, self._now):
                self.result.ended = self._now + took / 1e3
        self._at(self._now + took / 1e3, self._lease, machine)

    def _watch_due(self) -> None:
        """See to it that somebody looks when the next lease or pause has ended."""
        due = self.queue.next_due()
        if due < self._due_known:
            self._due_known = due
            self._at(due, self._look_for_due)

    def _look_for_due(self) -> None:
        self._due_known = float("inf")
        while self.queue.next_due() <= self._now:
            self.queue.wake(self._now)
        for machine in range(len(self.told.classes)):
            if self.queue.waiting(str(machine)):
                self._call(machine)
        self._watch_due()

    # Bookkeeping

    def _at(self, when: float, act: Callable[..., None], *arguments: Any) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, act, arguments))

    def _pass_to(self, when: float) -> None:
        passed = when - self._now
        self._idle_s += passed * sum(map(len, self._idle))
        self.result.offered_s += passed * self._workers
        self._now = when

    def _uniform(self) -> float:
        if not self._uniforms:
            self._uniforms = self._random.random(_DRAWN).tolist()
        return self._uniforms.pop()

    def _ended(self) -> Result:
        found, tasks = self.result, self.queue.tasks
        states = Counter(task.state for task in tasks.values())
        found.created = len(tasks)
        found.done, found.dead = states[DONE], states[DEAD]
        found.open = found.created - found.done - found.dead
        found.without_room = len(self.queue.refused - tasks.keys())
        found.transactions["poll"] += round(self._idle_s / self.told.leasing.poll_s)
        looks = self._now / self.told.servers.refresh_s * len(self._phases)
        found.transactions["stamp"] += round(looks)
        found.shares = shares_of(self._tallies.sum(axis=0))
        found.late_shares = shares_of(self._tallies[-1])
        found.waits = np.array(
            [self._visible.get(key, float("inf")) - self._first[key] for key in tasks]  # type: ignore
        )
        found.weights = np.ones(len(found.waits))
        return found
