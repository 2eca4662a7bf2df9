"""An end to Python code that runs too long."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 1.0
"""Seconds after which an alarm that was lost, as in what runs at a fork, goes off once more."""

OWN = (__file__, contextlib.__file__)
"""Where blocks with an alarm begin and end."""

_limited = False


class TooLong(BaseException):
    """It did. No `Exception`, so that what runs does not take it for one of its own."""


@contextmanager
def limited(seconds: float) -> Iterator[bool]:
    """Raise `TooLong` in what runs too long, where a signal can do that and nobody else waits for
    it; whether it can is what is given."""
    main = threading.current_thread() is threading.main_thread()
    taken = signal.getsignal(signal.SIGALRM) != signal.SIG_DFL or any(
        signal.getitimer(signal.ITIMER_REAL)
    )
    if not main or taken:
        yield False
        return

    global _limited
    _limited = True
    try:
        with alarm(seconds):
            yield True
    finally:
        _limited = False


def is_limited() -> bool:
    """Whether a block of `limited` runs in this thread, which should then do nothing beside it."""
    return _limited and threading.current_thread() is threading.main_thread()


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in the block after so many seconds; for the main thread, not nested."""

    def stop(_signal: int, frame: FrameType | None) -> None:
        # In what begins and ends the block it would leave the alarm on, and go off elsewhere.
        if frame is None or frame.f_code.co_filename not in OWN:
            raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
