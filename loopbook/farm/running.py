"""Which farms run on this machine, so that a command can end them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from loopbook import private
from loopbook.recipes.folders import cache_folder

PATIENCE_S = 30.0
"""How long a farm may take to end."""


@contextmanager
def noted() -> Iterator[None]:
    """Note that this process is a farm while it is one."""
    file = _folder() / str(os.getpid())
    private.make_folders(file.parent)
    file.unlink(missing_ok=True)
    with private.new_file(file) as opened:
        opened.write(_began(os.getpid()).encode())
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def stop_here() -> int:
    """End this user's farms on this machine; returns how many there were."""
    pids = _running()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + PATIENCE_S
    while any(_began(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)


def _running() -> list[int]:
    """Processes that have noted themselves and are still the same."""
    found = []
    folder = _folder()
    for file in sorted(folder.iterdir()) if folder.is_dir() else []:
        if file.name.isdigit():
            began = _began(int(file.name))
            if began and file.read_text() == began:
                found.append(int(file.name))
            else:
                file.unlink(missing_ok=True)
    return found


def _began(pid: int) -> str:
    """When a process began, in ticks since the machine did (``proc(5)``): another one of the same
    number began later. Empty if there is none."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if words[0] == "Z" else words[19]


def _folder() -> Path:
    return cache_folder() / "farms"
