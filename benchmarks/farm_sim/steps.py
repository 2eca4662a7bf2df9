"""The same loop for up to 10^8 programs and 10,000 nodes: in steps of time, over particles.

How it differs from `benchmarks.farm_sim.events`, with which a test compares it:

* A particle stands for many programs of one popularity (`benchmarks.farm_sim.particles`). Its first
  ask has a time of its own; later ones are a Poisson number a step, and only while its task waits.
  What is asked for once there is a record, or while a worker is at it, is a rate.
* The tasks that wait when a step begins come before those that come within it, the former in the
  order of the real priorities, the latter in the order of time.
* Where a particle stands for more programs than there are workers, they work them off in a row.
* The delay until an idle worker polls is an average, so is which programs have a near neighbour.
* Classes of machines share nothing but the room in the queue, split by their shares of the asks.
* Nobody waits for the database or a server: see `benchmarks.farm_sim.load` for when they would.
"""

from __future__ import annotations

import heapq
from collections import defaultdict

import numpy as np

from benchmarks.farm_sim.arrivals import costs, shares_of
from benchmarks.farm_sim.measured import MachineClass, Measured
from benchmarks.farm_sim.particles import particles_of
from benchmarks.farm_sim.result import Result
from benchmarks.farm_sim.result import shares_of as tallied
from loopbook.recipes._demand import ASSUMED_COST_S, HALF_LIFE_S
from loopbook.recipes._task_rows import MOST_ATTEMPTS
from loopbook.recipes.queue import FIRST_PAUSE_S, MOST_TASKS

UNASKED, WAITING, HELD, DONE, DEAD = range(5)
_SOME = 512


def simulate(
    told: Measured,
    seed: int = 0,
    *,
    particles: int = 10_000,
    steps: int = 1000,
    most_tasks: int = MOST_TASKS,
) -> Result:
    """Over the days of `told.demand`; what waits then stays open.

    Args:
        particles: for each class of machines, besides the most popular programs.
        most_tasks: that the queue may hold.
    """
    demand, result = told.demand, Result()
    result.horizon_s = demand.days * 86400
    tallies = np.zeros((10, 3))
    waits, weights = [], []
    for number, share in enumerate(shares_of(told.classes).tolist()):
        random = np.random.default_rng([seed, 3, number])
        one = ClassSteps(told, told.classes[number], share, most_tasks * share, particles, random)
        tallies += one.run(steps, result)
        asked = one.state != UNASKED
        waits.append((one.visible - one.asked.first)[asked])
        weights.append(one.weight[asked])
        for state, name in ((DONE, "done"), (DEAD, "dead")):
            here = float(one.weight[one.state == state].sum())
            setattr(result, name, getattr(result, name) + here)
        result.created += float(one.weight[asked].sum())
        result.offered_s += one.machine.workers * result.horizon_s
    result.open = result.created - result.done - result.dead
    idle = result.offered_s * max(1 - result.utilisation, 0.0)
    result.transactions["poll"] += round(idle / told.leasing.poll_s)
    looks = result.horizon_s / told.servers.refresh_s * told.servers.count
    result.transactions["stamp"] += round(looks)
    result.ended = result.horizon_s
    result.waits, result.weights = np.concatenate(waits), np.concatenate(weights)
    result.shares, result.late_shares = tallied(tallies.sum(axis=0)), tallied(tallies[-1])
    return result


class ClassSteps:
    """The tasks of one class of machines; arrays have an entry for each particle."""

    def __init__(
        self,
        told: Measured,
        machine: MachineClass,
        share: float,
        room: float,
        count: int,
        random: np.random.Generator,
    ) -> None:
        self.told, self.machine, self.random, self.room = told, machine, random, room
        self.total = share * told.demand.asks_per_day / 86400
        self.asked = particles_of(told.demand, self.total, count, random)
        self.rate = self.asked.rate
        self.weight = self.asked.weight * told.demand.miss_share
        size = len(self.rate)
        known = costs(told.demand, random.standard_normal(size))
        self.cost_log = np.log2(np.where(known > 0, known, ASSUMED_COST_S))
        refresh, servers = told.servers.refresh_s, told.servers.count
        self.ready = self.asked.first + refresh * random.random(size)
        self.since = self.ready.copy()
        self.state = np.zeros(size, np.int8)
        self.demand = np.zeros(size)
        self.attempts = np.zeros(size, int)
        self.visible = np.full(size, np.inf)
        # Writes a second of a miss while there is no record: at most one a server and refresh.
        self.writes = servers / refresh * -np.expm1(-self.rate * refresh / servers) * self.weight
        self.free = [(0.0, float(machine.workers))] if machine.workers else []
        self.later: dict[int, list[tuple[int, float, str]]] = defaultdict(list)

    def run(self, steps: int, result: Result) -> np.ndarray:
        """Tallies of tuned, ported and missed asks, by tenths of the time."""
        tallies, demand = np.zeros((10, 3)), self.told.demand
        self.step_s = result.horizon_s / steps
        order = np.argsort(self.ready)
        ends = np.searchsorted(self.ready[order], self.step_s * np.arange(1, steps + 1))
        place, created, tuned, writing = 0, 0.0, 0.0, 0.0
        for step in range(steps):
            now = step * self.step_s
            for particle, when, what in self.later.pop(step, ()):
                if what == "visible":
                    tuned += float(self.weight[particle] * self.rate[particle])
                    writing -= float(self.writes[particle])
                else:
                    self._wait(particle, when)
            came, place = order[place : ends[step]], int(ends[step])
            sums = created + self.weight[came].cumsum()
            fits = came[sums <= self.room]
            refused = came[sums > self.room]
            created += float(self.weight[fits].sum())
            result.without_room += float(self.weight[refused].sum())
            self.state[fits] = WAITING
            self.demand[fits] = self.cost_log[fits] + self.ready[fits] / HALF_LIFE_S
            self._count(result, "miss_new", float(self.weight[fits].sum()))
            again = writing * self.step_s + float(self.weight[refused].sum())
            self._count(result, "miss_again", again)
            writing += float(self.writes[came].sum())
            self._lease(now, step, fits, result)
            row = tallies[10 * step // steps]
            missing = self.total - tuned
            ported = demand.near * (missing if demand.tune_near else self.total)
            row += (tuned, ported, missing - ported)
        return tallies * self.step_s

    def _wait(self, particle: int, since: float) -> None:
        """A pause, or the lease of a worker that died, has ended."""
        if self.attempts[particle] >= MOST_ATTEMPTS:
            self.state[particle] = DEAD
        else:
            self.state[particle] = WAITING
            self.since[particle] = since

    def _lease(self, now: float, step: int, fresh: np.ndarray, result: Result) -> None:
        """What workers take in a step: first what waits, the most wanted first."""
        end = now + self.step_s
        waiting = np.flatnonzero((self.state == WAITING) & (self.since <= now))
        if len(waiting):
            asks = self.random.poisson(self.rate[waiting] * self.step_s)
            again, count = waiting[asks > 0], asks[asks > 0]
            more = np.log2(count) + self.cost_log[again] + now / HALF_LIFE_S
            # As `loopbook.recipes._demand.added` does, for many.
            self.demand[again] = np.logaddexp2(self.demand[again], more)
        if not self.free or self.free[0][0] >= end:
            return
        self._merge_idle(now)
        # A gain that nobody knows is the same for all, so demand alone is the order.
        if len(waiting) > _SOME:
            parts = np.argpartition(-self.demand[waiting], _SOME)
            best, rest = waiting[parts[:_SOME]], waiting[parts[_SOME:]]
        else:
            best, rest = waiting, waiting[:0]
        for some in (best, rest):
            for particle in some[np.argsort(-self.demand[some])].tolist():
                if self.free[0][0] >= end:
                    return
                self._start(particle, now, step, result)
        soon = np.flatnonzero((self.state == WAITING) & (self.since > now) & (self.since < end))
        for particle in soon[np.argsort(self.since[soon])].tolist():
            if self.free[0][0] >= end:
                return
            self._start(particle, float(self.since[particle]), step, result)

    def _start(self, particle: int, since: float, step: int, result: Result) -> None:
        one, leasing = self.machine, self.told.leasing
        weight = float(self.weight[particle])
        begun, slots = self._taken(min(weight, float(one.workers)), since)
        self.state[particle] = HELD
        self.attempts[particle] += 1
        lot, chance, drawn = self.random.random(3).tolist()
        service = float(one.service(np.array([drawn]))[0])
        death = -one.mtbf_s * np.log1p(-lot) if one.mtbf_s else float("inf")
        worked = float(min(service, death))
        rounds = weight / slots
        operations = self.told.database.operations
        took = (operations["lease"].ms + operations["finish"].ms) / 1e3
        away = one.repair_s if death < service else took + operations["add_record"].ms / 1e3
        heapq.heappush(self.free, (begun + (worked + away) * rounds, slots))
        ended = begun + worked * (1 + rounds) / 2
        result.busy_s += worked * weight
        self._count(result, "lease", weight)
        self._count(result, "extend", weight * (worked // leasing.extend_s))
        if death < service:
            result.lost += weight
            result.away_s += weight * one.repair_s
            self.attempts[particle] -= 1  # so many are lost that none is given up for it
            last = ended - worked % leasing.extend_s
            self._then(particle, last + leasing.lease_s, "wait", step)
        elif chance < one.failure:
            self._count(result, "fail", weight)
            if chance < one.failure * one.for_good:
                self.attempts[particle] = MOST_ATTEMPTS
            pause = FIRST_PAUSE_S * 4 ** (int(self.attempts[particle]) - 1)
            spent = self.attempts[particle] >= MOST_ATTEMPTS
            self._then(particle, ended + (0 if spent else pause), "wait", step)
        else:
            self._count(result, "add_record", weight)
            self._count(result, "finish", weight)
            seen = ended + took + float(self.random.random()) * self.told.servers.refresh_s
            if ended < result.horizon_s:
                self.state[particle] = DONE
                self.visible[particle] = seen
            self._then(particle, seen, "visible", step)

    def _merge_idle(self, now: float) -> None:
        """Make those that have been idle for a while one entry: one of them all polls next."""
        idle = 0.0
        while self.free and self.free[0][0] <= now - self.told.leasing.poll_s:
            idle += heapq.heappop(self.free)[1]
        if idle:
            heapq.heappush(self.free, (now - self.told.leasing.poll_s, idle))

    def _taken(self, wanted: float, since: float) -> tuple[float, float]:
        """Take so many of the workers that are free first: when they begin, on the average, and
        how many they are."""
        poll, slots, sum_s = self.told.leasing.poll_s, 0.0, 0.0
        while self.free and wanted - slots > 1e-9:
            freed, amount = heapq.heappop(self.free)
            part = min(amount, wanted - slots)
            if amount - part > 1e-9:
                heapq.heappush(self.free, (freed, amount - part))
            idle = freed + poll <= since  # then one of those that are polls next
            begun = since + poll / (amount + 1) if idle else max(freed, since)
            slots += part
            sum_s += part * begun
        return sum_s / slots, slots

    def _then(self, particle: int, when: float, what: str, step: int) -> None:
        self.later[max(int(when // self.step_s), step + 1)].append((particle, when, what))

    def _count(self, result: Result, kind: str, weight: float) -> None:
        result.transactions[kind] += weight
