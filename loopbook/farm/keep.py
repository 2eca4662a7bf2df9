"""Keeps a node's processes alive: what dies is started anew, however it died."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 30.0
"""Before a process is started again: twice as long after each death that comes soon."""

SOON_S = 60.0

GRACE_S = 10.0
"""Between asking a process to end and ending it."""

LOOK_S = 0.5

Process = subprocess.Popen[bytes]


@dataclass
class Part:
    """A process to keep alive.

    Attributes:
        start: starts it.
        leads: the others mean nothing without it: where it dies they are killed, and started anew
            with it.
    """

    name: str
    start: Callable[[], Process]
    leads: bool = False
    process: Process | None = field(default=None, init=False)
    began: float = field(default=0.0, init=False)
    pause: float = field(default=FIRST_PAUSE_S, init=False)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


def keep(
    parts: Sequence[Part],
    stop: threading.Event,
    told: Callable[[str], None] = lambda words: None,
) -> None:
    """Run processes until `stop`; then end them, the last one first."""
    try:
        while not stop.is_set():
            for part in parts:
                if part.alive or stop.is_set():
                    continue
                if part.process is not None:
                    told(f"{part.name} ended with {part.process.returncode}; it is started again")
                    _end_group(part.process)
                    if part.leads:
                        for other in parts:
                            if other is not part and other.process is not None:
                                _end_group(other.process)  # it may wait for the leader for long
                                other.process.wait()
                                other.process = None
                    _wait(part, stop)
                if not stop.is_set():
                    part.process, part.began = part.start(), time.monotonic()
            stop.wait(LOOK_S)
    finally:
        for part in reversed(parts):
            if part.process is not None:
                end(part.process)


def _wait(part: Part, stop: threading.Event) -> None:
    if time.monotonic() - part.began > SOON_S:
        part.pause = FIRST_PAUSE_S
    stop.wait(part.pause)
    part.pause = min(2 * part.pause, LONGEST_PAUSE_S)


def end(process: Process) -> None:
    """End a process with all that it started in its group."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    _end_group(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)


def _end_group(process: Process) -> None:
    """What a process that is gone has left: each leads a group of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
