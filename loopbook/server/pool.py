"""A pool of workers: every job ends in time, and every worker that is lost gets a successor.

A job waits for its caller's turn, has what is left of its time on a worker, and takes that down
with it when that is over; or sooner, if it has been at it for long and somebody waits who has no
worker. More jobs than may wait are refused at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from loopbook.errors import DeadlineError, LoopbookError
from loopbook.server.fair_queue import FairQueue
from loopbook.server.settings import Settings
from loopbook.server.worker import Died, WorkerProcess

log = logging.getLogger("loopbook.server")

RETRY_S = 1.0
"""Between attempts to start a worker that does not start."""

LOOK_S = 0.1
"""Between looks for somebody who waits without a worker."""

OURSELVES = "the server"
"""In whose turn workers do what nobody has asked for."""


class Reply(NamedTuple):
    """A worker's answer: what it tells of it, and the response's body."""

    told: dict[str, Any]
    body: bytes


@dataclass(eq=False)
class Running:
    """A job on a worker.

    Attributes:
        begun: on the clock of `time.monotonic`.
        ended: why we have ended it; empty if we have not.
    """

    worker: WorkerProcess
    begun: float
    ended: str = ""

    def end(self, why: str) -> None:
        """End it, and its worker with it."""
        self.ended = self.ended or why
        self.worker.kill()


class Pool:
    """Workers of one server; used from one event loop.

    Args:
        spend: told of each caller how many seconds of a worker's time a job has taken.

    Attributes:
        replaced: how many workers were, by cause: "crash", "hang", "held", "growth", "age".
    """

    def __init__(self, settings: Settings, spend: Callable[[str, float], None]) -> None:
        self._settings = settings
        self._spend = spend
        each = max(1, settings.waiting // 2)
        self._queue: FairQueue[WorkerProcess] = FairQueue(settings.workers, settings.waiting, each)
        self._running: set[Running] = set()
        self._looking: asyncio.TimerHandle | None = None
        self._workers: set[WorkerProcess] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._threads = ThreadPoolExecutor(settings.workers + 2, "loopbook worker")
        self._closed = False
        self.replaced: Counter[str] = Counter()

    async def start(self) -> None:
        """Start all workers.

        Raises:
            LoopbookError: one does not start, because the book cannot be opened, say.
        """
        starts = (self._started() for _ in range(self._settings.workers))
        for worker in await asyncio.gather(*starts):
            self._queue.back(worker)

    async def close(self) -> None:
        """End all workers, after the jobs that they have."""
        self._closed = True
        while self._tasks:
            await asyncio.wait(self._tasks)
        for worker in self._workers:
            await self._in_thread(worker.close)
        self._workers.clear()
        self._threads.shutdown(wait=False)

    @property
    def waiting(self) -> int:
        """Jobs that have no worker yet."""
        return self._queue.waiting

    @property
    def busy(self) -> int:
        """Jobs that have one."""
        return len(self._running)

    @property
    def alive(self) -> int:
        """How many workers there are."""
        return sum(worker.alive for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [worker.pid for worker in self._workers]

    async def run(self, job: str, body: bytes, until: float, caller: str) -> Reply:
        """Do a job; a second time, on another worker, if the first one dies.

        Args:
            until: when it must be done, on the clock of `time.monotonic`.
            caller: in whose turn, and at whose expense.

        Raises:
            OverloadError: too many wait already, or its time was up before its turn came.
            DeadlineError: it took too long.
            Died: both workers crashed.
        """
        try:
            return await self._attempt(job, body, until, caller)
        except Died:
            # Something else than this job may have been the end of that worker.
            log.warning("%s is tried again", job)
            return await self._attempt(job, body, until, caller)

    async def _attempt(self, job: str, body: bytes, until: float, caller: str) -> Reply:
        worker = await self._worker(until, caller)
        # What the client does from here on does not matter to the worker.
        return await asyncio.shield(self._keep(self._job(worker, job, body, until, caller)))

    async def _worker(self, until: float, caller: str) -> WorkerProcess:
        """The caller's next worker."""
        while True:
            if self._looking is None:
                self._look_later()
            left = max(0.0, until - time.monotonic())
            worker = await self._queue.take(caller, left)
            if worker.alive:
                return worker
            self._queue.release(caller)
            self._put_back(worker)  # it died with nothing to do

    async def everywhere(self, job: str) -> None:
        """Have each worker do a job when it is free, one after the other."""
        seen: set[int] = set()
        for _ in range(self._settings.workers):
            worker = await self._queue.take(OURSELVES, None)
            if worker.pid in seen:
                self._queue.back(worker, OURSELVES)
                return
            seen.add(worker.pid)
            until = time.monotonic() + 30 * self._settings.deadline_s
            try:
                await self._keep(self._job(worker, job, b"{}", until, OURSELVES))
            except LoopbookError as error:
                log.warning("%s: %s", job, error)

    async def _job(
        self, worker: WorkerProcess, job: str, body: bytes, until: float, caller: str
    ) -> Reply:
        lost = ""
        running = Running(worker, time.monotonic())
        self._running.add(running)
        left = max(0.0, until - time.monotonic())
        timer = asyncio.get_running_loop().call_later(left, running.end, "hang")
        try:
            return Reply(*await self._in_thread(worker.ask, job, body))
        except Died:
            lost = running.ended or "crash"
            if running.ended:
                words = " while others waited" if running.ended == "held" else ""
                raise DeadlineError(f"the look-up took too long{words}") from None
            raise
        finally:
            timer.cancel()
            self._running.discard(running)
            if caller != OURSELVES:
                self._spend(caller, time.monotonic() - running.begun)
            self._put_back(worker, caller, lost)

    def _look_later(self) -> None:
        self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._relieve)

    def _relieve(self) -> None:
        """End jobs that have gone on for long, as many as callers wait who have no worker at all,
        and are not about to get one."""
        self._looking = None
        if not self._queue.waiting or self._closed:
            return
        self._look_later()
        coming = self._settings.workers - len(self._running)
        wanted = self._queue.neglected() - max(0, coming)
        longest = sorted(self._running, key=lambda one: one.begun)
        wanted -= sum(bool(one.ended) for one in longest)
        over = time.monotonic() - self._settings.held_s
        held = [one for one in longest if one.begun < over and not one.ended]
        for one in held[: max(0, wanted)]:
            one.end("held")

    def _put_back(self, worker: WorkerProcess, caller: str = "", lost: str = "") -> None:
        """Make a worker free again, or replace it. Until it is replaced it counts as the caller's
        who had it: nobody takes one worker after the other down.

        Args:
            lost: why it is gone, where that is known; it may take a moment to be gone for good.
        """
        settings = self._settings
        if lost or not worker.alive:
            cause = lost or "crash"
        elif worker.resident() > settings.worker_grown:
            cause = "growth"
        elif worker.jobs >= settings.worker_jobs:
            cause = "age"
        else:
            self._queue.back(worker, caller)
            return
        self.replaced[cause] += 1
        log.warning("worker %d is replaced: %s", worker.pid, cause)
        self._keep(self._replace(worker, caller))

    async def _replace(self, worker: WorkerProcess, caller: str) -> None:
        self._workers.discard(worker)
        await self._in_thread(worker.close)
        while not self._closed:
            try:
                self._queue.back(await self._started(), caller)
                return
            except (LoopbookError, OSError) as error:
                log.error("a worker does not start: %s", error)
                await asyncio.sleep(RETRY_S)

    async def watch(self) -> None:
        """Replace workers that die while they have nothing to do."""
        for worker in self._queue.idle():
            if worker.alive:
                self._queue.back(worker)
            else:
                self._put_back(worker)

    async def _started(self) -> WorkerProcess:
        worker = await self._in_thread(WorkerProcess, self._settings)
        self._workers.add(worker)
        try:
            await self._in_thread(worker.wait_until_ready)
        except BaseException:
            self._workers.discard(worker)
            await self._in_thread(worker.close)
            raise
        return worker

    async def _in_thread(self, function: Callable[..., Any], *args: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *args)

    def _keep(self, coroutine: Any) -> asyncio.Task[Any]:
        """A task that is not forgotten before it ends."""
        task = asyncio.ensure_future(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
