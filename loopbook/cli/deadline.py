"""A limit on the time that other people's Python code takes inside our own process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from loopbook.errors import DeadlineError


class _Over(BaseException):
    """No `Exception`: code that catches those must not catch this."""


@contextmanager
def deadline(seconds: float, what: str) -> Iterator[None]:
    """End the block with `DeadlineError` when it takes longer than `seconds`.

    Works on Python code in the main thread, by an alarm signal; in other threads nothing is
    limited. Blocks cannot be nested.

    Args:
        what: how the message names the block.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_: Any) -> NoReturn:
        raise _Over

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _Over:
        raise DeadlineError(f"{what} did not end within {seconds:g} s") from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
