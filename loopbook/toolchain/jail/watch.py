"""What the processes of a jail take, seen from outside."""

from __future__ import annotations

import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")

FLOOR = 256 << 20
"""Bytes that stay free on the machine, whatever holds the rest: what lies in files in memory
belongs to no process."""


def exceeds(pid: int, limit: int) -> bool:
    """Whether a process and all below it hold more than so many bytes of memory.

    What they share is counted once, which takes a while: so it is asked only where they would hold
    too much if they shared nothing.
    """
    below = _below(pid)
    return sum(map(_resident, below)) > limit and sum(map(_proportional, below)) > limit


def _below(pid: int) -> list[int]:
    found = [pid]
    for one in found:  # which grows meanwhile
        found += children(one)
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):  # it has ended
        return 0


def _proportional(pid: int) -> int:
    """A process's own memory and its part of what it shares; one that does not let us see pays for
    all that it shares."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(pid)


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            words = Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
            found += map(int, words)
    except OSError:  # it has ended
        pass
    return found


def scarce() -> bool:
    """Whether the machine is about to have no memory left."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) << 10 < FLOOR
    return False
