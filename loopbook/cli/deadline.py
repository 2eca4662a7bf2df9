"""A limit on the time that other people's Python code takes inside our own process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from loopbook.alarm import TooLong, alarm
from loopbook.errors import DeadlineError


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

    try:
        with alarm(seconds):
            yield
    except TooLong:
        raise DeadlineError(f"{what} did not end within {seconds:g} s") from None
