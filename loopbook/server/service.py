"""What one server is made of, and what it does besides answering."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from loopbook.client.hardware import local_profile
from loopbook.client.places import starter_path
from loopbook.errors import DeadlineError, InputError, LoopbookError
from loopbook.explorer.answers import Answer as Page
from loopbook.explorer.answers import refusal
from loopbook.explorer.pages import Pages
from loopbook.recipes.book import Book
from loopbook.server.answers import Answers, Kept, Question, question
from loopbook.server.failures import DOCC
from loopbook.server.field import FieldReports
from loopbook.server.latest import digest
from loopbook.server.metrics import Metrics
from loopbook.server.pool import OURSELVES, Pool, Reply
from loopbook.server.quarantine import Quarantine
from loopbook.server.rates import Rates
from loopbook.server.settings import Settings
from loopbook.server.tables import open_tables
from loopbook.server.tokens import Tokens
from loopbook.server.wants import Told
from loopbook.targets import named

log = logging.getLogger("loopbook.server")

T = TypeVar("T")

MOST_MISSES = 10_000
"""Nests that were missed, remembered until they are written down."""

MOST_READ = 512 << 10
"""Bytes of a body that is read here, where others wait meanwhile, to see whether the same question
was asked in other words. Only workers read a larger one."""

QUICKLY_READ = 64 << 10
"""Bytes of a body that is read at once; a larger one does not hold the others up meanwhile."""


class Service:
    """A running server.

    Raises:
        BookError: the book cannot be opened or written.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._database = open_tables(settings.store)
        self.book = Book.open(settings.store)
        self._layers = [self.book]
        shipped = starter_path() if settings.starter else None
        if shipped is not None and shipped.exists():
            self._layers.append(Book.open(shipped, readonly=True))
        self.tokens = Tokens(self._database, fresh_s=settings.refresh_s)
        self.quarantine = Quarantine(self._database, self.book)
        self.field = FieldReports(self._layers, self.quarantine)
        self.answers = Answers(settings.answers_bytes)
        self.metrics = Metrics()
        self.rates = Rates(settings.limits.rate, settings.limits.burst)
        self.effort = Rates(settings.limits.effort, settings.limits.effort_burst)
        self.pool = Pool(settings, self.effort.spend)
        self.pages = Pages(self._layers, "", ask=self._page_from_thread, read_only=True)
        self.metrics.count_replaced(self.pool.replaced)
        self._misses: Counter[tuple[str, str]] = Counter()
        self._wanted = Told()
        self._working: dict[bytes, asyncio.Task[Reply]] = {}
        self._ticking: asyncio.Task[None] | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.draining = False
        self.reachable = True
        self.news = asyncio.Event()
        """Set when the book changes; the next change has another one."""

    async def start(self) -> None:
        """Start the workers, and begin to look after things.

        Raises:
            LoopbookError: a worker does not start.
        """
        self._loop = asyncio.get_running_loop()
        self.answers.renew(await self.ask(lambda: self.book.stamp))
        self.metrics.records.set(await self.ask(self._count))
        await self.pool.start()
        self._ticking = asyncio.create_task(self._tick())

    async def close(self) -> None:
        """Finish what is being done, write down what is not written yet, and end the workers."""
        self.draining = True
        self._tell()
        for task in (self._ticking, self._refreshing):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        await asyncio.to_thread(self.pages.close)
        await self.pool.close()
        with contextlib.suppress(LoopbookError):
            await self._write_misses()
        for layer in self._layers:
            layer.close()
        self._database.close()

    async def answer(self, job: str, body: bytes, until: float, caller: str) -> Reply:
        """A worker's answer to a request, or the one that is or was given to the same question.

        Args:
            caller: in whose turn it is worked on; see `loopbook.server.access.Caller.name`.

        Raises:
            LoopbookError: see `loopbook.server.pool.Pool.run`.
        """
        if job not in DOCC:
            reply = await self.pool.run(job, body, until, caller)
            self._count_in(job, reply.told)
            return reply
        raw = digest(job.encode(), body)
        key = self.answers.known_as(raw)
        known = None if key is None else self.answers.get(key)
        if known is None:
            asked = await self._question(job, body)
            self.answers.remember(raw, asked.key)
            known = self.answers.get(asked.key)
            if known is None:
                return await self._once(job, asked, until, caller)
        self.metrics.repeated.inc()
        self._count_in(job, {"tiers": known.tiers, "missed": known.missed})
        return Reply({"status": 200}, known.body)

    async def page(self, job: str, body: bytes, caller: str) -> Page:
        """What a worker makes of a job of `loopbook.explorer.jobs`.

        Raises:
            LoopbookError: see `loopbook.server.pool.Pool.run`.
        """
        reply = await self.pool.run(f"page {job}", body, until(self.settings), caller)
        return Page(reply.told["status"], reply.body)

    def _page_from_thread(self, job: str, body: bytes) -> Page:
        """`page` on our own account, for a thread."""
        if self._loop is None:
            return refusal(DeadlineError("the server is not ready"))
        asked = asyncio.run_coroutine_threadsafe(self.page(job, body, OURSELVES), self._loop)
        try:
            return asked.result(2 * self.settings.deadline_s)
        except (LoopbookError, TimeoutError, concurrent.futures.CancelledError) as error:
            return refusal(error)

    async def _question(self, job: str, body: bytes) -> Question:
        if len(body) > MOST_READ:
            return Question(digest(job.encode(), body), body)
        if len(body) < QUICKLY_READ:
            return question(job, body, self.settings.limits)
        return await asyncio.to_thread(question, job, body, self.settings.limits)

    async def _once(self, job: str, asked: Question, until: float, caller: str) -> Reply:
        """Work on a question, unless that is being done for the caller already: then its answer is
        this one's. Nobody waits in another one's turn."""
        name = digest(asked.key, self.answers.stamp.encode(), caller.encode())
        task = self._working.get(name)
        if task is None:
            task = asyncio.create_task(self._worked(job, asked, until, caller))
            self._working[name] = task
            task.add_done_callback(lambda done: self._forget(name, done))
        else:
            self.metrics.merged.inc()
        # Whoever goes away does not take the answer away from the others.
        reply = await asyncio.shield(task)
        self._count_in(job, reply.told)
        return reply

    def _forget(self, name: bytes, done: asyncio.Task[Reply]) -> None:
        del self._working[name]
        if not done.cancelled():
            done.exception()  # seen, also when nobody waits for it any more

    async def _worked(self, job: str, asked: Question, until: float, caller: str) -> Reply:
        stamp = self.answers.stamp
        reply = await self.pool.run(job, asked.body, until, caller)
        told = reply.told
        if told["good"]:
            self.answers.put(asked.key, Kept(reply.body, told["tiers"], told["missed"]), stamp)
        return reply

    def _count_in(self, job: str, told: Mapping[str, Any]) -> None:
        """Take what a worker tells of an answer into the figures."""
        if told.get("fault"):
            log.error("%s: %s", job, told["fault"])
        if told.get("remark"):
            log.warning("%s: %s", job, told["remark"])
        for tier, count in told["tiers"].items():
            self.metrics.nests.labels(tier).inc(count)
        for target, missed in told["missed"].items():
            self._note(target, missed)
        self._wanted.take(told.get("wanted", {}))

    async def ask(self, function: Callable[..., T], *args: Any) -> T:
        """A question to the database, in a thread and with the deadline of a request.

        Raises:
            DeadlineError: it does not answer.
        """
        try:
            async with asyncio.timeout(self.settings.deadline_s):
                return await asyncio.to_thread(function, *args)
        except TimeoutError:
            raise DeadlineError("the book's database does not answer") from None

    def hardware_key(self, target: str) -> str:
        """Class of the machines that recipes are served for, as programs for a target use them."""
        threads = named(target).threads
        given = self.settings.hardware
        if given is None:
            return local_profile(threads, measured=False).key
        return (given if named(target).parallel else replace(given, threads=1)).key

    def layers(self) -> list[Book]:
        """The book that is contributed to, and the starter book where that is served."""
        return list(self._layers)

    @property
    def ready(self) -> bool:
        """Whether a request now has a chance."""
        return not self.draining and self.reachable and self.pool.alive > 0

    def _note(self, target: str, missed: list[str]) -> None:
        for fingerprint in missed:
            if len(self._misses) < MOST_MISSES or (fingerprint, target) in self._misses:
                self._misses[fingerprint, target] += 1

    async def _write_misses(self) -> None:
        misses, self._misses = self._misses, Counter()
        try:
            await asyncio.to_thread(self._write, misses)
        finally:
            self._misses.update(misses)  # those that could not be written wait for the next time

    def _write(self, misses: Counter[tuple[str, str]]) -> None:
        """Write misses down, and forget each that is written."""
        for (fingerprint, target), count in list(misses.items()):
            key = self.hardware_key(target)
            wanted = self._wanted.get(fingerprint)
            with contextlib.suppress(InputError):  # a worker has told what makes no sense
                self.book.note_miss(fingerprint, target, key, count=count, wanted=wanted)
            del misses[fingerprint, target]

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.settings.refresh_s)
            try:
                await self.pool.watch()
                await self._look()
                if self._misses:
                    await self._write_misses()
            except LoopbookError as error:
                self.reachable = False
                log.warning("%s", error)
            except Exception:  # whatever it is, looking after things must go on
                log.exception("looking after the server")

    async def _look(self) -> None:
        """Look for what other processes have changed in the book."""
        stamp = await self.ask(lambda: self.book.stamp)
        self.reachable = True
        if not self.answers.renew(stamp):
            return
        self._tell()
        self.metrics.records.set(await self.ask(self._count))
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self.pool.everywhere("refresh"))

    def _tell(self) -> None:
        """Wake those who wait for news."""
        old, self.news = self.news, asyncio.Event()
        old.set()

    def _count(self) -> int:
        return sum(layer.count() for layer in self._layers)

    def gauge(self) -> None:
        """Bring the figures up to date that nobody counts."""
        self.metrics.waiting.set(self.pool.waiting)
        self.metrics.busy.set(self.pool.busy)
        self.metrics.workers.set(self.pool.alive)


def until(settings: Settings) -> float:
    """When a request that comes now has to be answered, on the clock of `time.monotonic`."""
    return time.monotonic() + settings.deadline_s
