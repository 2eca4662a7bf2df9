"""Does one task that was leased: the same on a machine alone and on a node of a cluster."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Self

from loopbook.embed.inference import Encoder
from loopbook.errors import (
    BookError,
    FarmError,
    GeneratedCodeError,
    IllegalStepError,
    InputError,
    JailError,
    LoopbookError,
    UnavailableError,
    WrongResultError,
)
from loopbook.farm.machine import Machine
from loopbook.farm.settings import FarmSettings
from loopbook.farm.turns import timing_alone
from loopbook.program.nest import Nest
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.queue import Queue
from loopbook.recipes.record import Record
from loopbook.recipes.tasks import CONFIRM, REEMBED, REMEASURE, TUNE, Ending, Lease
from loopbook.sdfg.program import prepare_nests
from loopbook.sdfg.untrusted import admit
from loopbook.server.quarantine import Quarantine
from loopbook.server.tables import open_tables
from loopbook.server.trust import Judgement
from loopbook.targets import TARGETS
from loopbook.toolchain.sandbox import run_limited

FOR_GOOD = (InputError, IllegalStepError, GeneratedCodeError, WrongResultError)
"""Errors of a task itself, which no other try could mend: it ends with the first. All others may be
the machine's, which was short of time or memory, or from which a process was taken: it comes again.
"""

READ_S = 60.0

AGAIN_S = 1.0
"""Between two tries to report to a database that is away."""


class Carrier:
    """Does tasks of one book on this machine, one after the other. Use as a context manager.

    Args:
        doors: to builders on other machines, for one search.

    Attributes:
        encoder: version of the one that makes vectors here.

    Raises:
        BookError: the book can't be opened or written.
    """

    def __init__(
        self, store: str, machine: Machine, settings: FarmSettings, doors: Sequence[int] = ()
    ) -> None:
        self._store = store
        self._doors = doors
        self._machine = machine
        self._settings = settings
        self._open = ExitStack()
        try:
            database = open_tables(store)
            self._open.callback(database.close)
            self.book = self._open.enter_context(Book.open(store))
            self._quarantine = Quarantine(database, self.book)
            self._encoder = Encoder.load()
            self.encoder = self._encoder.version
        except BaseException:
            self._open.close()
            raise
        self._ways: dict[str, Callable[[Lease], Ending]] = {
            TUNE: self._tune,
            CONFIRM: self._judge,
            REMEASURE: self._judge,
            REEMBED: self._reembed,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    def carry_out(self, lease: Lease) -> Ending:
        """Do a task and say what became of it; what goes wrong with the task is one of its ends.
        The lease's time begins now: what was handed on may have waited. If it is lost, nothing is
        done.

        Raises:
            BookError: the database does not answer; the lease will run out.
        """
        queue = self.book.queue
        begun = queue.begin(lease, self._machine.name, self._settings.lease_s)
        if isinstance(begun, Ending):
            return begun
        lease = begun
        with extended(queue, lease, self._settings.lease_s):
            try:
                return self._ways[lease.task.kind](lease)
            except BookError:
                raise
            except LoopbookError as error:
                last, pause = isinstance(error, FOR_GOOD), self._settings.pause_s
                return queue.fail(lease, str(error), for_good=last, pause_s=pause)
            except Exception as error:  # a fault of ours must not keep the others waiting
                told = f"{type(error).__name__}: {error}"
                return queue.fail(lease, told, pause_s=self._settings.pause_s)

    def _tune(self, lease: Lease) -> Ending:
        from loopbook.farm.order import Order, records_of

        task, profile = lease.task, self._profile(lease.task.target, lease.task.hardware_key)
        if not self._machine.jail:
            raise JailError(self._machine.why_not)
        given = (self._store, lease.document, task.fingerprint, task.target)
        nest, starts = run_limited(beginnings, *given, seconds=READ_S, what="reading the nest")
        order = Order(
            document=lease.document,
            fingerprint=task.fingerprint,
            target=task.target,
            sizes=list(task.sizes),
            hardware=profile.to_json(),
            starts=starts,
            trials=self._settings.trials,
            seed=self._settings.seed,
            builders=self._settings.builders,
        )
        with timing_alone():
            records = records_of(order, profile, self._settings.search_s, self._doors)
        return self._kept(lease, records, nest)

    def _profile(self, target: str, wanted: str) -> HardwareProfile:
        """This machine as programs for a target use it.

        Raises:
            FarmError: it is of another class than the one that is wanted: a cluster was told so.
        """
        here = self._machine.profiles[target]
        if here.key != wanted:
            raise FarmError(f"{self._machine.name} is {here.key} for {target}, not {wanted}")
        return here

    def _kept(self, lease: Lease, records: list[Record], nest: Nest) -> Ending:
        embedding = self._encoder.encode(nest)
        items = [(record, [embedding]) for record in records]
        return self._patiently(lambda: self.book.conclude(lease, items))

    def _patiently(self, report: Callable[[], Ending]) -> Ending:
        """Report, again and again for as long as a lease holds, while the database is away: a long
        search hangs on it. Of what was written before the connection broke, the next one says that
        it has ended already."""
        until = time.monotonic() + self._settings.lease_s
        while True:
            try:
                return report()
            except UnavailableError:
                if time.monotonic() > until:
                    raise
                time.sleep(AGAIN_S)

    def _judge(self, lease: Lease) -> Ending:
        """Measure a record that waits in quarantine, or that is served, and do what follows; where
        it can't be measured at all, that is said beside it."""
        from loopbook.tuner.reconfirmation import UNMEASURED, Verdict, reconfirm_in_jail

        one = lease.task.subject
        record = self._quarantine.record(one) or self._quarantine.served_record(one)
        if record is None:
            return self.book.queue.finish(lease)  # somebody has decided about it meanwhile
        here = self._profile(record.target, lease.task.hardware_key)
        try:
            with timing_alone():
                verdict = reconfirm_in_jail(record, here)
        except FOR_GOOD as error:
            verdict = Verdict(UNMEASURED, message=str(error))
        judgement = Judgement(verdict.status, here, verdict.measurement, verdict.message)
        judged = self._quarantine.judge(one, judgement)
        return self.book.queue.finish(lease, [] if judged is None else [judged.id])

    def _reembed(self, lease: Lease) -> Ending:
        """Make the vectors of a nest in the book anew."""
        if lease.task.subject != self.encoder:
            raise FarmError(f"the encoder of {self._machine.name} is {self.encoder}")
        fingerprint = lease.task.fingerprint
        for record in (one for name in TARGETS for one in self.book.best(fingerprint, name)):
            nest = run_limited(read, record.nest_json, seconds=READ_S, what="reading the nest")
            self.book.add_embeddings([(fingerprint, self._encoder.encode(nest))])
            break
        return self.book.queue.finish(lease)


def read(document: str) -> Nest:
    """The nest of a stranger's document. To be called in a child process.

    Raises:
        InputError, SdfgError: it is none.
    """
    _, nests = prepare_nests(admit(document).text)
    if len(nests) != 1:
        raise InputError(f"the document has {len(nests)} nests")
    return nests[0]


def beginnings(store: str, document: str, fingerprint: str, target: str) -> tuple[Nest, list[str]]:
    """The nest, and recipes to begin a search with: those of near neighbours, ported. To be called
    in a child process.

    Raises:
        LoopbookError: the nest can't be read, or is another one.
    """
    from loopbook.client.opening import open_book
    from loopbook.tuner.neighbours import ported_neighbours

    nest = read(document)
    if nest.fingerprint != fingerprint:
        raise InputError("the nest is another one than was asked for")
    layered = open_book(store, encoder=Encoder.load())
    return nest, [recipe.text() for recipe in ported_neighbours(layered, nest, target)]


_TALKS = threading.Lock()
"""Of who extends a lease. No child is forked meanwhile: it would have the database's locks as they
are, held by a thread that it has not, and wait for them when it opens the book."""

os.register_at_fork(
    before=_TALKS.acquire, after_in_parent=_TALKS.release, after_in_child=_TALKS.release
)


@contextmanager
def extended(queue: Queue, lease: Lease, seconds: float) -> Iterator[None]:
    """Keep a lease while work on it goes on."""
    over = threading.Event()

    def extend() -> None:
        while not over.wait(seconds / 3):
            try:
                with _TALKS:
                    held = queue.extend(lease, seconds)
                if not held:
                    return  # lost: what comes of the work will not count
            except BookError:
                pass  # the database may be back before the deadline

    thread = threading.Thread(target=extend, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
