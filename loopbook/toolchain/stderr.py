"""Silences what docc's C++ prints past Python."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

_lock = threading.RLock()
_depth = 0


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Send file descriptor 2 to nowhere meanwhile.

    docc prints a stack trace of its own for each exception that it raises, which would bury our one
    clear line. Descriptors belong to the whole process, so threads take turns.
    """
    global _depth
    with _lock:
        if _depth:
            yield
            return
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        try:
            saved = os.dup(2)
        except OSError:  # no stderr at all
            yield
            return
        null = os.open(os.devnull, os.O_WRONLY)
        _depth += 1
        try:
            os.dup2(null, 2)
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            os.close(null)
            _depth -= 1
