"""Workers that ask, lease, die, finish and fail in any order: every task ends once."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from queue_kit import KEY, Clock, ask, open_queue

from loopbook.recipes._task_rows import MOST_ATTEMPTS, MOST_LOST
from loopbook.recipes.queue import FIRST_PAUSE_S, QUIET_S
from loopbook.recipes.tasks import (
    CONFIRM,
    DEAD,
    DONE,
    KINDS,
    LEASED,
    REEMBED,
    STATES,
    TUNE,
    WAITING,
    Abilities,
    Lease,
)

WORKERS = st.sampled_from(
    [
        Abilities(KINDS, {"sequential": KEY}),
        Abilities([TUNE], {"sequential": KEY}),
        Abilities([CONFIRM, REEMBED], {"openmp": KEY}),
    ]
)
LEASE_S = 60.0


@dataclass
class Model:
    """What a task should be like."""

    kind: str
    number: int
    state: str = WAITING
    lease: str = ""
    worker: str = ""
    due: float | None = None
    attempts: int = 0
    lost: int = 0
    changed: float = 0.0
    ended_by: tuple[str, ...] = ()

    def able(self, abilities: Abilities) -> bool:
        if self.kind not in abilities.kinds:
            return False
        return self.kind == REEMBED or "sequential" in abilities.hardware


class Workers(RuleBasedStateMachine):
    """The queue beside a model of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = Clock()
        self.queue = open_queue(str(Path(self.folder.name, "book.db")), self.clock)
        self.tasks: dict[str, Model] = {}
        self.leases: list[Lease] = []

    def teardown(self) -> None:
        """Whatever has happened: a worker that goes on ends all, each task once."""
        while any(task.state in (WAITING, LEASED) for task in self.tasks.values()):
            self.clock.now += 10 * FIRST_PAUSE_S * 4**MOST_ATTEMPTS
            self.lease(Abilities(KINDS, {"sequential": KEY}))
            for lease in self.leases[-1:]:
                self._end(lease, self.queue.finish(lease), DONE)
        counts = self.queue.counts()
        assert counts[WAITING] == counts[LEASED] == 0
        assert counts[DONE] + counts[DEAD] == len(self.tasks)
        assert all(len(t.ended_by) == (t.state == DONE) for t in self.tasks.values())
        self.folder.cleanup()

    @rule(number=st.integers(0, 3), kind=st.sampled_from([TUNE, CONFIRM, REEMBED]))
    def ask(self, number: int, kind: str) -> None:
        same = [i for i, t in self.tasks.items() if (t.kind, t.number) == (kind, number)]
        latest = self.tasks[same[-1]] if same else None
        asked = self.queue.ask(ask(number, kind, cost_s=number + 1.0))
        old = latest is None or (
            latest.state == DONE and self.clock.now - latest.changed >= QUIET_S
        )
        assert asked.new == old
        if asked.new:
            assert asked.task not in self.tasks
            self.tasks[asked.task] = Model(kind, number, changed=self.clock.now)
        else:
            assert asked.task == same[-1]
            assert asked.state == self.tasks[asked.task].state

    @rule(abilities=WORKERS)
    def lease(self, abilities: Abilities) -> None:
        self._wake()
        ready = {
            i
            for i, t in self.tasks.items()
            if t.state == WAITING and t.due is None and t.able(abilities)
        }
        lease = self.queue.lease("worker", abilities, LEASE_S)
        if lease is None:
            assert not ready
            return
        assert lease.id not in {one.id for one in self.leases}
        assert lease.task.id in ready
        top = {one.id: one.priority for one in self.queue.all(STATES)[0]}
        assert top[lease.task.id] == max(top[one] for one in ready)
        task = self.tasks[lease.task.id]
        task.state, task.lease, task.due = LEASED, lease.id, self.clock.now + LEASE_S
        task.worker = "worker"
        task.attempts += 1
        assert lease.task.attempts == task.attempts <= MOST_ATTEMPTS
        self.leases.append(lease)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        self._end(lease, self.queue.finish(lease), DONE)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), for_good=st.booleans())
    def fail(self, data: st.DataObject, for_good: bool) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        ending = self.queue.fail(lease, "no", for_good=for_good)
        task = self.tasks.get(lease.task.id)
        dead = for_good or (task is not None and task.attempts == MOST_ATTEMPTS)
        self._end(lease, ending, DEAD if dead else WAITING)

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def extend(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        task = self.tasks.get(lease.task.id)
        own = self._holds(lease) and task is not None and task.worker == lease.task.worker
        assert self.queue.extend(lease, LEASE_S) == own
        if own:
            self.tasks[lease.task.id].due = self.clock.now + LEASE_S

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), name=st.sampled_from(["node 1", "node 2"]))
    def begin(self, data: st.DataObject, name: str) -> None:
        lease = data.draw(st.sampled_from(self.leases))
        begun = self.queue.begin(lease, name, LEASE_S)
        assert isinstance(begun, Lease) == self._holds(lease)
        if isinstance(begun, Lease):
            self.leases.append(begun)
            task = self.tasks[lease.task.id]
            task.worker, task.due = name, self.clock.now + LEASE_S

    @rule(seconds=st.sampled_from([1.0, LEASE_S, FIRST_PAUSE_S, 20 * FIRST_PAUSE_S, QUIET_S]))
    def wait(self, seconds: float) -> None:
        """Workers that are silent meanwhile lose their leases."""
        self.clock.now += seconds

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def raise_(self, data: st.DataObject) -> None:
        ids = [i for i, t in self.tasks.items() if t.state != DONE]
        if not ids:
            return
        name = data.draw(st.sampled_from(ids))
        task = self.tasks[name]
        state = self.queue.raise_(name).state
        if task.state != LEASED:
            if task.state == DEAD:
                task.attempts = task.lost = 0
            task.state, task.due = WAITING, None
        assert state == task.state

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(self.tasks)))
        assert self.queue.drop(name)
        del self.tasks[name]

    @invariant()
    def none_is_lost_and_none_doubled(self) -> None:
        found = {one.id: one.state for one in self.queue.all(STATES)[0]}
        assert found == {name: task.state for name, task in self.tasks.items()}

    def _wake(self) -> None:
        for task in self.tasks.values():
            if task.due is not None and task.due <= self.clock.now:
                task.due = None
                if task.state == LEASED:
                    task.attempts, task.lost = task.attempts - 1, task.lost + 1
                    task.state = DEAD if task.lost == MOST_LOST else WAITING

    def _holds(self, lease: Lease) -> bool:
        task = self.tasks.get(lease.task.id)
        return task is not None and (task.state, task.lease) == (LEASED, lease.id)

    def _end(self, lease: Lease, ending: tuple[bool, str, str], state: str) -> None:
        assert ending[0] == self._holds(lease)
        task = self.tasks.get(lease.task.id)
        if not ending[0] or task is None:
            assert ending[2]
            assert ending[1] == (task.state if task else "")
            return
        assert ending == (True, state, "")
        task.state, task.changed, task.due = state, self.clock.now, None
        if state == DONE:
            task.ended_by += (lease.id,)
        if state == WAITING:
            task.due = self.clock.now + FIRST_PAUSE_S * 4 ** (task.attempts - 1)


TestWorkers = Workers.TestCase
TestWorkers.settings = settings(max_examples=15, stateful_step_count=30, deadline=None)
