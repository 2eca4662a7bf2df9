"""Who gets the next free worker.

Whoever asks for much waits for himself: callers take turns, and nobody holds all workers, so that
somebody else who comes with a small question finds one.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from typing import Generic, TypeVar

from loopbook.errors import OverloadError, ShareError

Worker = TypeVar("Worker")


class FairQueue(Generic[Worker]):
    """Free workers, and who waits for one; used from one event loop.

    Args:
        workers: how many there are, those that are being replaced included.
        waiting: how many may wait.
        each: how many of them for the same caller.
    """

    def __init__(self, workers: int, waiting: int, each: int) -> None:
        self._share = max(1, workers - 1)
        self._most = waiting
        self._each = each
        self._free: deque[Worker] = deque()
        self._queues: OrderedDict[str, deque[asyncio.Future[Worker]]] = OrderedDict()
        self._held: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(map(len, self._queues.values()))

    async def take(self, caller: str, seconds: float | None) -> Worker:
        """A worker, once it is the caller's turn and one is free. `back` ends it.

        Args:
            seconds: to wait for it; None is for ever, and is not counted among those that wait.

        Raises:
            ShareError: too many wait already of the caller's.
            OverloadError: too many wait already, or its time was up before its turn came.
        """
        queue = self._queues.setdefault(caller, deque())
        place: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        queue.append(place)
        self._hand_out()
        if not place.done() and seconds is not None:
            self._check(caller, place)
        try:
            return await asyncio.wait_for(asyncio.shield(place), seconds)
        except TimeoutError:
            self._leave(caller, place)
            raise OverloadError("the server is busy; ask again in a moment") from None
        except asyncio.CancelledError:
            self._leave(caller, place)
            raise

    def back(self, worker: Worker, caller: str = "") -> None:
        """A worker is free again, or there is a new one in its place.

        Args:
            caller: who had it; empty if nobody did.
        """
        if caller:
            self.release(caller)
        self._free.append(worker)
        self._hand_out()

    def release(self, caller: str) -> None:
        """A caller has one worker less, which nobody else gets."""
        self._held[caller] -= 1
        if not self._held[caller]:
            del self._held[caller]

    def idle(self) -> list[Worker]:
        """Take all workers out that nobody has."""
        taken, self._free = [*self._free], deque()
        return taken

    def neglected(self) -> int:
        """How many callers wait who have no worker at all."""
        return sum(bool(queue) and not self._held[name] for name, queue in self._queues.items())

    def _check(self, caller: str, place: asyncio.Future[Worker]) -> None:
        """Refuse a place at the end of a queue that is too long."""
        all_of_them, own = self.waiting, len(self._queues[caller])
        if all_of_them > self._most or own > self._each:
            self._leave(caller, place)
        if all_of_them > self._most:
            raise OverloadError("the server has more to do than it can; ask again in a moment")
        if own > self._each:
            raise ShareError("too many requests of yours wait; ask again in a moment")

    def _leave(self, caller: str, place: asyncio.Future[Worker]) -> None:
        """Give a place in the queue up, and the worker that has come to it in the meantime."""
        if place.done():
            self.back(place.result(), caller)
            return
        self._queues[caller].remove(place)
        place.cancel()
        self._tidy(caller)

    def _tidy(self, caller: str) -> None:
        if not self._queues[caller]:
            del self._queues[caller]

    def _hand_out(self) -> None:
        while self._free:
            names = [name for name in self._queues if self._held[name] < self._share]
            if not names:
                break
            # Of those who have fewest, the one whose last turn is longest ago.
            name = min(names, key=self._held.__getitem__)
            place = self._queues[name].popleft()
            self._queues.move_to_end(name)
            self._tidy(name)
            self._held[name] += 1
            place.set_result(self._free.popleft())
