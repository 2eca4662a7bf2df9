"""Whoever takes times has its cores to itself, also where a machine has several farms or nodes."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

from loopbook.toolchain import scratch


@contextmanager
def timing_alone(cores: Collection[int] = ()) -> Iterator[None]:
    """Wait until nobody else of this user's takes times on any of the cores, and keep them.

    A search builds on all cores that it may run on and times on some, so all are kept; those of
    farms that were given different cores do not meet. The kernel lets go for whoever dies.

    Args:
        cores: default all that this process may run on.

    Raises:
        FolderError: there is no folder to note it in.
    """
    folder = scratch.kept()
    with ExitStack() as held:
        # In order, so that two that want some of the same ones never wait for each other.
        for core in sorted(cores or os.sched_getaffinity(0)):
            descriptor = os.open(folder / f"timing-{core}", os.O_RDWR | os.O_CREAT, 0o600)
            held.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
