"""What the processes of a jail take, seen from outside."""

from __future__ import annotations

import os
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")

FLOOR = 256 << 20
"""Bytes that stay free on the machine, whatever holds the rest: what lies in files in memory
belongs to no process."""


def memory(pid: int) -> int:
    """Bytes of memory that a process and all below it hold; what they share counts for each."""
    total, waiting = 0, [pid]
    while waiting:
        one = waiting.pop()
        try:
            pages = Path(f"/proc/{one}/statm").read_text().split()[1]
        except (OSError, IndexError):  # it has ended
            continue
        total += int(pages) * PAGE
        waiting += children(one)
    return total


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
