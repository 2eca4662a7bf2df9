"""Messages between processes: a length, and so many bytes."""

from __future__ import annotations

import os
import select
import struct
import time

_LENGTH = struct.Struct("<Q")


class TooLong(Exception):
    """The other side has announced more than it may send."""


def write(descriptor: int, payload: bytes) -> None:
    view = memoryview(_LENGTH.pack(len(payload)) + payload)
    while view:
        view = view[os.write(descriptor, view) :]


def read(
    descriptor: int, deadline: float | None = None, most: int | None = None
) -> tuple[bytes | None, bool]:
    """One message, or None where the other side has closed or the deadline is over; and whether it
    was in time.

    Args:
        deadline: on the monotonic clock, seconds.
        most: bytes that a message may have; no more than that is ever kept.

    Raises:
        TooLong: it says that it has more.
    """
    parts: list[bytes] = []
    got, wanted = 0, _LENGTH.size
    length = None
    while got < wanted:
        if deadline is not None:
            left = deadline - time.monotonic()
            if not select.select([descriptor], [], [], max(0.0, left))[0]:
                return None, False
        part = os.read(descriptor, min(wanted - got, 1 << 20))
        if not part:
            return None, True
        parts.append(part)
        got += len(part)
        if got == wanted and length is None:
            length = _LENGTH.unpack(b"".join(parts))[0]
            if most is not None and length > most:
                raise TooLong(f"{length} bytes")
            parts, got, wanted = [], 0, length
    return b"".join(parts), True
