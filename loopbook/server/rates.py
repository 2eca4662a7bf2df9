"""How often somebody may ask: a bucket of requests for each, which fills up again with time."""

from __future__ import annotations

import time
from collections import OrderedDict

_REMEMBERED = 50_000


class Rates:
    """Buckets by name, those used least forgotten.

    Args:
        rate: requests a second; 0 is no limit.
        burst: requests that may come at once.
    """

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._burst = float(max(1, burst))
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, name: str) -> float:
        """Take one request out of a bucket: 0.0, or in how many seconds to ask again."""
        if not self._rate:
            return 0.0
        now = time.monotonic()
        held, then = self._buckets.pop(name, (self._burst, now))
        held = min(self._burst, held + (now - then) * self._rate)
        missing = 1.0 - held
        self._buckets[name] = (held if missing > 0 else held - 1.0, now)
        if len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)
        return max(0.0, missing / self._rate)
