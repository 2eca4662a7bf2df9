"""How much somebody may ask for: a bucket for each, which fills up again with time.

What is in a bucket may be requests, or seconds of work that requests turned out to take.
"""

from __future__ import annotations

import time
from collections import OrderedDict

_REMEMBERED = 50_000


class Rates:
    """Buckets by name, those used least forgotten.

    Args:
        rate: what flows into each in a second; 0 is no limit.
        burst: what it holds.
    """

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = float(burst)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, name: str, cost: float = 1.0) -> float:
        """Take `cost` out of a bucket, if it holds so much: 0.0, or in how many seconds to ask
        again."""
        if not self._rate:
            return 0.0
        held = self._held(name)
        missing = cost - held
        if missing <= 0:
            self._put(name, held - cost)
            return 0.0
        return missing / self._rate

    def spend(self, name: str, cost: float) -> None:
        """Take `cost` out of a bucket, whether it holds so much or not."""
        if self._rate:
            self._put(name, self._held(name) - cost)

    def _held(self, name: str) -> float:
        now = time.monotonic()
        held, then = self._buckets.get(name, (self._burst, now))
        return min(self._burst, held + (now - then) * self._rate)

    def _put(self, name: str, held: float) -> None:
        self._buckets[name] = (held, time.monotonic())
        self._buckets.move_to_end(name)
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
