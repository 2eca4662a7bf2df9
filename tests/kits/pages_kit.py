"""Fewer pages of memory to go through for each fork.

To fork, the kernel writes down every page that the process has, and crosses them all out again when
the child ends: tens of milliseconds for a test process, thousands of times. A huge page counts as
one where it stands for 512.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

HUGE = 2 << 20
"""Bytes of a huge page (x86-64 and, with its usual pages, aarch64)."""

MADV_COLLAPSE = 25
"""Since Linux 6.1, whatever the machine's settings are; elsewhere it is refused."""


def collapse() -> None:
    """Put this process's own memory into huge pages, as far as it goes and the kernel has any."""
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights, _, _, _, *name = line.split(None, 5)
        if rights != "rw-p" or (name and name != ["[heap]"]):
            continue
        begin, end = (int(number, 16) for number in place.split("-"))
        for start in range(-(-begin // HUGE) * HUGE, end - HUGE + 1, HUGE):
            advise(start, HUGE, MADV_COLLAPSE)
