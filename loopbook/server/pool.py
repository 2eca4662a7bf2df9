"""A pool of workers: every job ends in time, and every worker that is lost gets a successor.

A job waits for a free worker, has what is left of its time there, and takes its worker down with it
when that is over. More jobs than may wait are refused at once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from loopbook.errors import DeadlineError, LoopbookError, OverloadError
from loopbook.server.settings import Settings
from loopbook.server.worker import Died, WorkerProcess

log = logging.getLogger("loopbook.server")

RETRY_S = 1.0
"""Between attempts to start a worker that does not start."""


class Reply(NamedTuple):
    """A worker's answer: what it tells of it, and the response's body."""

    told: dict[str, Any]
    body: bytes


class Pool:
    """Workers of one server; used from one event loop.

    Attributes:
        replaced: how many workers were, by cause: "crash", "hang", "growth", "age".
        waiting: jobs that have no worker yet.
        busy: jobs that have one.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._free: asyncio.Queue[WorkerProcess] = asyncio.Queue()
        self._workers: set[WorkerProcess] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._threads = ThreadPoolExecutor(settings.workers + 2, "loopbook worker")
        self._closed = False
        self.replaced: Counter[str] = Counter()
        self.waiting = 0
        self.busy = 0

    async def start(self) -> None:
        """Start all workers.

        Raises:
            LoopbookError: one does not start, because the book cannot be opened, say.
        """
        starts = (self._started() for _ in range(self._settings.workers))
        for worker in await asyncio.gather(*starts):
            self._free.put_nowait(worker)

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
    def alive(self) -> int:
        """How many workers there are."""
        return sum(worker.alive for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [worker.pid for worker in self._workers]

    async def run(self, job: str, body: bytes, until: float) -> Reply:
        """Do a job; a second time, on another worker, if the first one dies.

        Args:
            until: when it must be done, on the clock of `time.monotonic`.

        Raises:
            OverloadError: too many wait already, or its time was up before its turn came.
            DeadlineError: it took too long.
            Died: both workers crashed.
        """
        if self._free.empty() and self.waiting >= self._settings.waiting:
            raise OverloadError("the server has more to do than it can; ask again in a moment")
        try:
            return await self._attempt(job, body, until)
        except Died:
            # Something else than this job may have been the end of that worker.
            log.warning("%s is tried again", job)
            return await self._attempt(job, body, until)

    async def _attempt(self, job: str, body: bytes, until: float) -> Reply:
        worker = await self._free_worker(until)
        # What the client does from here on does not matter to the worker.
        return await asyncio.shield(self._keep(self._job(worker, job, body, until)))

    async def _free_worker(self, until: float) -> WorkerProcess:
        self.waiting += 1
        try:
            while True:
                left = max(0.0, until - time.monotonic())
                worker = await asyncio.wait_for(self._free.get(), left)
                if worker.alive:
                    return worker
                self._put_back(worker)  # it died with nothing to do
        except TimeoutError:
            raise OverloadError("the server is busy; ask again in a moment") from None
        finally:
            self.waiting -= 1

    async def everywhere(self, job: str) -> None:
        """Have each worker do a job when it is free, one after the other."""
        seen: set[int] = set()
        for _ in range(self._settings.workers):
            worker = await self._free.get()
            if worker.pid in seen:
                self._free.put_nowait(worker)
                return
            seen.add(worker.pid)
            until = time.monotonic() + 30 * self._settings.deadline_s
            try:
                await self._keep(self._job(worker, job, b"{}", until))
            except LoopbookError as error:
                log.warning("%s: %s", job, error)

    async def _job(self, worker: WorkerProcess, job: str, body: bytes, until: float) -> Reply:
        hung = False
        lost = ""

        def end() -> None:
            nonlocal hung
            hung = True
            worker.kill()

        timer = asyncio.get_running_loop().call_later(max(0.0, until - time.monotonic()), end)
        self.busy += 1
        try:
            return Reply(*await self._in_thread(worker.ask, job, body))
        except Died:
            lost = "hang" if hung else "crash"
            if hung:
                raise DeadlineError("the look-up took too long") from None
            raise
        finally:
            timer.cancel()
            self.busy -= 1
            self._put_back(worker, lost)

    def _put_back(self, worker: WorkerProcess, lost: str = "") -> None:
        """Make a worker free again, or replace it.

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
            self._free.put_nowait(worker)
            return
        self.replaced[cause] += 1
        log.warning("worker %d is replaced: %s", worker.pid, cause)
        self._keep(self._replace(worker))

    async def _replace(self, worker: WorkerProcess) -> None:
        self._workers.discard(worker)
        await self._in_thread(worker.close)
        while not self._closed:
            try:
                self._free.put_nowait(await self._started())
                return
            except (LoopbookError, OSError) as error:
                log.error("a worker does not start: %s", error)
                await asyncio.sleep(RETRY_S)

    async def watch(self) -> None:
        """Replace workers that die while they have nothing to do."""
        for _ in range(self._free.qsize()):
            worker = self._free.get_nowait()
            if worker.alive:
                self._free.put_nowait(worker)
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
