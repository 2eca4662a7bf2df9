"""An end to Python code that runs too long."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 1.0
"""Seconds after which an alarm that was lost, as in what runs at a fork, goes off once more."""

EARLIER = 1.0
"""Seconds that somebody else's alarm has to be away beyond the end of a block for one to be set."""

SOON = 1e-3
"""Seconds to somebody else's alarm that should have gone off meanwhile."""

OWN = (__file__, contextlib.__file__)
"""Where blocks with an alarm begin and end."""

_limited = False


class TooLong(BaseException):
    """It did. No `Exception`, so that what runs does not take it for one of its own."""


@contextmanager
def limited(seconds: float) -> Iterator[bool]:
    """Raise `TooLong` in what runs too long, where a signal can do that, and nobody else waits for
    it that soon (who limits a test does, for much longer); whether it can is what is given."""
    global _limited
    main = threading.current_thread() is threading.main_thread()
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    early = 0 < left < seconds + EARLIER
    if not main or _limited or early or signal.getsignal(signal.SIGALRM) is None:
        yield False
        return

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
    """Raise `TooLong` in the block after so many seconds; for the main thread. An alarm that was
    set before goes off when it was to, or at the end of the block."""

    def stop(_signal: int, frame: FrameType | None) -> None:
        # In what begins and ends the block it would leave the alarm on, and go off elsewhere.
        if frame is None or frame.f_code.co_filename not in OWN:
            raise TooLong

    begun = time.monotonic()
    left, again = signal.setitimer(signal.ITIMER_REAL, 0)
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            rest = left - (time.monotonic() - begun)
            signal.setitimer(signal.ITIMER_REAL, max(rest, SOON), again)
