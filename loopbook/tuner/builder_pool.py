"""Builders and one runner, apart: candidates go in, outcomes come out as they are ready.

Every core has a builder, a process that applies recipes and compiles; there may be more of them on
other machines (`loopbook.tuner.builders`). One runner, a process with
cores of its own for as long as it measures, times what they built: builders on its cores are
stopped meanwhile, so that no measurement ever shares a core with a compile. Candidates whose
generated code has been measured before are not measured again.

Each process that dies or hangs costs the candidate in its hands and is replaced. Where somebody
else killed it, or a builder elsewhere is gone, the candidate gets another try, here.
"""

from __future__ import annotations

import os
import select
import shutil
import time
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from loopbook.errors import LoopbookError
from loopbook.sdfg.transformed import Recipes
from loopbook.toolchain.built import Built
from loopbook.toolchain.run import RUN_BYTES
from loopbook.toolchain.runner import Runner
from loopbook.toolchain.times import Schedule, Times
from loopbook.toolchain.worker import Worker
from loopbook.tuner.builders import Builder, Here

COMPILE_SECONDS = 12.0
"""A candidate that takes longer to compile is given up: nobody would want to wait for its recipe,
and a search waits for its slowest candidates."""


@dataclass
class Ticket:
    """One candidate on its way through the pool.

    Attributes:
        number: of the candidate, from 0.
        plan: nest position to its recipe.
        lenient: leave out steps that docc refuses.
        lost: measuring stops when it is clear that it is slower than this (a speedup).
        built: what came of building.
        times: of the reference and of the candidate; None if it failed or is a twin.
        twin: the earlier ticket with the same code, which is done.
        error: why it failed.
        again: it is tried for the second time, as its process was killed.
    """

    number: int
    plan: Recipes
    lenient: bool
    lost: float
    built: Built | None = None
    times: tuple[Times, Times] | None = None
    twin: Ticket | None = None
    error: LoopbookError | None = None
    again: bool = False
    followers: list[Ticket] = field(default_factory=list, repr=False)


@dataclass
class _Builder:
    """A builder and what it works on."""

    worker: Builder
    ticket: Ticket | None = None


@dataclass
class Usage:
    """Where the time went, in seconds of the processes that spent it.

    Attributes:
        steps: builders applying recipes and generating code.
        compiling: builders compiling it.
        measuring: the runner.
        waiting: the caller, for a candidate to be done.
        built, measured: how many candidates were; the others failed or were twins.
    """

    steps: float = 0.0
    compiling: float = 0.0
    measuring: float = 0.0
    waiting: float = 0.0
    built: int = 0
    measured: int = 0


class BuilderPool:
    """Builders and a runner for one program. Use as a context manager.

    Args:
        text: the prepared program's SDFG.
        target: a name in `loopbook.targets.TARGETS`.
        runner: measures; it must not have been used in this process.
        folder: for builds.
        schedule: how to measure.
        seconds: limit for measuring one candidate.
        cores: what may be used; default all that this process may run on.
        builders: how many; default one a core.
        threads: that a run uses: the runner gets so many cores, the last ones.
        away: builders on other machines, closed with the pool.
    """

    def __init__(
        self,
        text: str,
        target: str,
        runner: Runner,
        folder: Path,
        *,
        schedule: Schedule,
        seconds: float,
        cores: Collection[int] = (),
        builders: int = 0,
        threads: int = 1,
        away: Sequence[Builder] = (),
    ) -> None:
        self._text, self._target = text, target
        self._folder = folder
        self._codes = folder / "codes"
        self._codes.mkdir(exist_ok=True)
        self._schedule, self._seconds = schedule, seconds
        chosen = sorted(cores or os.sched_getaffinity(0))
        self._runner: Worker[tuple[Times, Times]] = Worker(
            runner.measure, cores=chosen[-threads:], memory=2 * RUN_BYTES, what="the kernel"
        )
        self._builders = [
            _Builder(Here([core])) for core in islice(cycle(chosen), builders or len(chosen))
        ] + [_Builder(one) for one in away]
        self._count = 0
        self._todo: deque[Ticket] = deque()
        self._ready: deque[Ticket] = deque()
        self._running: Ticket | None = None
        self._done: deque[Ticket] = deque()
        self._by_code: dict[str, Ticket] = {}
        self._began = 0.0
        self.usage = Usage()

    def __enter__(self) -> BuilderPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes, and forget what was measured."""
        self._runner.close()
        for builder in self._builders:
            builder.worker.close()
        shutil.rmtree(self._codes, ignore_errors=True)

    @property
    def places(self) -> int:
        """How many candidates should be under way to keep everybody busy."""
        return sum(not builder.worker.gone for builder in self._builders) + 2

    @property
    def pids(self) -> tuple[int, list[int]]:
        """Process ids of the runner and of the builders; 0 for one that has not begun."""
        return self._runner.pid, [builder.worker.pid for builder in self._builders]

    def submit(self, plan: Recipes, *, lenient: bool = True, lost: float = 0.0) -> Ticket:
        """Take a candidate in. `finished` gives it back, sooner or later."""
        ticket = Ticket(self._count, plan, lenient, lost)
        self._count += 1
        self._todo.append(ticket)
        self._hand_out()
        return ticket

    def finished(self) -> Ticket:
        """The next ticket that is done; waits for it.

        Raises:
            LookupError: nothing is under way.
        """
        begun = time.monotonic()
        while not self._done:
            self._hand_out()
            busy = [builder.worker for builder in self._builders if builder.ticket]
            active: list[Worker[Any] | Builder] = [
                *busy,
                *([self._runner] if self._running else []),
            ]
            if not active:
                raise LookupError("nothing is under way")
            left = min((w.left() for w in active if not w.paused), default=1.0)
            select.select([w for w in active if not w.paused], [], [], left)
            self._collect()
        self.usage.waiting += time.monotonic() - begun
        return self._done.popleft()

    def _hand_out(self) -> None:
        """Give everybody who is idle something to do; measuring goes first."""
        if self._running is None and self._ready:
            self._running = self._ready.popleft()
            for builder in self._builders:
                if builder.worker.cores & self._runner.cores:
                    builder.worker.pause()
            self._began = time.monotonic()
            self._runner.send(
                self._running.built,
                self._schedule,
                self._running.lost,
                self._seconds,
                seconds=self._seconds + 30.0,
            )
        for builder in self._builders:
            if not self._todo:
                break
            worker = builder.worker
            stopped = self._running is not None and worker.cores & self._runner.cores
            unfit = worker.gone or (self._todo[0].again and not worker.cores)
            if builder.ticket or stopped or unfit:
                continue
            if len(self._ready) < self.places:
                builder.ticket = self._todo.popleft()
                worker.send(
                    self._text,
                    self._target,
                    builder.ticket.plan,
                    self._folder / f"c{builder.ticket.number}",
                    builder.ticket.lenient,
                    self._codes,
                    seconds=COMPILE_SECONDS,
                )

    def _collect(self) -> None:
        """Take what is ready from everybody."""
        if self._running is not None and self._runner.over:
            ticket, self._running = self._running, None
            try:
                ticket.times = self._runner.receive()
                self._finish(ticket)
            except LoopbookError as error:
                self._failed(ticket, error, self._runner, self._ready)
            self.usage.measuring += time.monotonic() - self._began
            self.usage.measured += ticket.times is not None
            for builder in self._builders:
                builder.worker.resume()
        for builder in self._builders:
            if builder.ticket is not None and not builder.worker.paused and builder.worker.over:
                ticket, builder.ticket = builder.ticket, None
                try:
                    ticket.built = builder.worker.receive()
                except LoopbookError as error:
                    self._failed(ticket, error, builder.worker, self._todo)
                else:
                    self._sort_in(ticket, ticket.built)

    def _failed(
        self,
        ticket: Ticket,
        error: LoopbookError,
        worker: Worker[Any] | Builder,
        queue: deque[Ticket],
    ) -> None:
        """The end of a candidate, or another try if it cannot help it."""
        if worker.killed and not ticket.again:
            ticket.again = True
            queue.appendleft(ticket)
        else:
            ticket.error = error
            self._finish(ticket)

    def _sort_in(self, ticket: Ticket, built: Built) -> None:
        """A built candidate is measured, unless another one with the same code is or was."""
        self.usage.steps += built.seconds[0]
        self.usage.compiling += built.seconds[1]
        self.usage.built += built.seconds[1] > 0
        first = self._by_code.setdefault(built.code, ticket)
        if first is ticket:
            (self._codes / built.code).touch()
            self._ready.append(ticket)
            return
        ticket.twin = first
        if first.times is None and first.error is None:
            first.followers.append(ticket)
        else:
            self._finish(ticket)

    def _finish(self, ticket: Ticket) -> None:
        shutil.rmtree(self._folder / f"c{ticket.number}", ignore_errors=True)
        self._done.append(ticket)
        for follower in ticket.followers:
            self._finish(follower)
        ticket.followers = []
