"""Waiting for what comes in its own time, on a machine that may be slow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(true: Callable[[], T], seconds: float = 300.0) -> T:
    """Ask again and again until the answer is yes; the last answer. What has not come soon is asked
    for less often: to ask may take longer than what is waited for.

    Args:
        seconds: after which to give up. A test that passes never waits so long.
    """
    until, pause = time.monotonic() + seconds, 0.02
    while not (answer := true()) and time.monotonic() < until:
        time.sleep(pause)
        pause = min(1.2 * pause, 0.5)
    return answer
