"""Doors of a jail: through each goes one request at a time, and its answer comes back.

Outside of the jail a request is a length and bytes, and nothing more: it is handed on unread, to be
looked at in another jail. Whoever sends too much finds the door shut. In the jail an answer is what
a stranger's program may have made, as everything there is.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from loopbook.toolchain import frames

MOST_REQUEST = 8 << 20
"""Bytes. A program and a recipe have less."""

MOST_ANSWER = 24 << 20
"""Bytes. A library in base 64 has less."""

Serve = Callable[[bytes], bytes | None]
"""A request to its answer; None where there will be none: the door is shut then."""


@contextmanager
def opened(count: int, serve: Serve) -> Iterator[list[int]]:
    """Doors to give to a jail, with a thread behind each that answers.

    They are this process's until the block ends. A request that is being served then is left to
    itself: its answer goes nowhere.
    """
    pairs = [socket.socketpair() for _ in range(count)]
    for outside, _ in pairs:
        threading.Thread(target=_answer, args=(outside, serve), daemon=True).start()
    try:
        yield [inside.fileno() for _, inside in pairs]
    finally:
        for outside, inside in pairs:
            inside.close()
            with contextlib.suppress(OSError):  # the thread has closed it
                outside.shutdown(socket.SHUT_RDWR)


def _answer(outside: socket.socket, serve: Serve) -> None:
    """Serve one door until it is shut from within, or has to be."""
    with outside, contextlib.suppress(OSError, frames.TooLong):
        try:
            while True:
                request, _ = frames.read(outside.fileno(), most=MOST_REQUEST)
                answer = None if request is None else serve(request)
                if answer is None or len(answer) > MOST_ANSWER:
                    return
                frames.write(outside.fileno(), answer)
        finally:
            outside.shutdown(socket.SHUT_RDWR)  # a child of ours may hold a copy


class Door:
    """One door, from within.

    Args:
        descriptor: as the job was given it.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        """Readable when there is an answer, or the door is shut."""
        return self._descriptor

    def ask(self, request: bytes) -> None:
        """Send a request; a door that is shut shows when the answer is read."""
        with contextlib.suppress(OSError):
            frames.write(self._descriptor, request)

    def answer(self, deadline: float) -> bytes | None:
        """The answer; None if none comes by then, on the monotonic clock, or the door is shut."""
        with contextlib.suppress(OSError, frames.TooLong):
            return frames.read(self._descriptor, deadline, MOST_ANSWER)[0]
        return None

    def shut(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
