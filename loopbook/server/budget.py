"""Memory for requests' bodies: so much for all that are read or worked on at the same time."""

from __future__ import annotations

from collections import Counter

from loopbook.server.failures import Refused


class Budget:
    """Bytes, shared by callers.

    Args:
        most: for all together.
        each: for one caller.
    """

    def __init__(self, most: int, each: int) -> None:
        self._most = max(most, each)
        self._each = each
        self._held: Counter[str] = Counter()
        self._all = 0

    def take(self, name: str, count: int) -> None:
        """Take bytes for a caller.

        Raises:
            Refused: 503; so much is not there. Or 429; it is not there for this caller.
        """
        if self._held[name] + count > self._each:
            raise Refused(429, "too much of yours is read already; ask again in a moment")
        if self._all + count > self._most:
            raise Refused(503, "the server has too much to read; ask again in a moment")
        self._all += count
        self._held[name] += count

    def give_back(self, name: str, count: int) -> None:
        """Give back what was taken."""
        self._all -= count
        self._held[name] -= count
        if not self._held[name]:
            del self._held[name]
