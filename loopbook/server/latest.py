"""Memory with an end: what was used last, by a hash of what it was made from."""

from __future__ import annotations

import hashlib
import zlib
from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """Values by key, those used last, up to a cost of all together.

    Args:
        most: the cost of all. One value may cost a quarter of that.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[bytes, tuple[T, int]] = OrderedDict()
        self._cost = 0

    def __len__(self) -> int:
        return len(self._held)

    def get(self, key: bytes) -> T | None:
        """The value, if it is still there."""
        found = self._held.get(key)
        if found is None:
            return None
        self._held.move_to_end(key)
        return found[0]

    def put(self, key: bytes, value: T, cost: int) -> None:
        """Keep a value, unless it is too large."""
        if cost > self._most // 4:
            return
        self._cost += cost - self._held.pop(key, (None, 0))[1]
        self._held[key] = (value, cost)
        while self._cost > self._most:
            self._cost -= self._held.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Drop all."""
        self._held.clear()
        self._cost = 0


def digest(*parts: bytes) -> bytes:
    """A name for what consists of these parts."""
    hashed = hashlib.blake2b(digest_size=24)
    for part in parts:
        hashed.update(len(part).to_bytes(8, "little"))
        hashed.update(part)
    return hashed.digest()


def packed(data: bytes) -> bytes:
    """The bytes compressed, in about the time that it takes to look at them."""
    return zlib.compress(data, 1)


def unpacked(data: bytes) -> bytes:
    """What `packed` was given."""
    return zlib.decompress(data)
