"""A process that does jobs for this one through a pipe, one at a time, and outlives none of its
troubles.

It is started by a fork server, so that a program with threads can have it and replace it. Messages
are bytes in both directions, never pickles: what comes back from a process in which docc worked on
a stranger's program is not trusted with more than being JSON.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from loopbook.errors import DeadlineError, KernelError

_CONTEXT = get_context("forkserver")
READY = b"ready"
START_SECONDS = 120.0


class Died(KernelError):
    """The process is gone, and its job with it."""


class Attendant:
    """Our end of such a process.

    Args:
        serve: what it runs: sends `READY`, or why it cannot start, then answers jobs: two messages
            come (the job's name, its body), and two go back (JSON about the answer, its body).
        args: for `serve` besides the pipe.
        preload: modules that the fork server loads once for all.

    Attributes:
        jobs: how many it has done.
    """

    def __init__(
        self,
        serve: Callable[..., None],
        *args: Any,
        name: str = "loopbook worker",
        preload: Sequence[str] = (),
    ) -> None:
        _CONTEXT.set_forkserver_preload([*preload])
        self._pipe, other = _CONTEXT.Pipe()
        self._process: ForkServerProcess = _CONTEXT.Process(
            target=serve, args=(other, *args), name=name, daemon=True
        )
        self._process.start()
        other.close()
        self.jobs = 0

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def wait_until_ready(self) -> None:
        """Wait until it can take jobs.

        Raises:
            Died: it ended before.
            DeadlineError: it took more than `START_SECONDS`.
        """
        try:
            if not self._pipe.poll(START_SECONDS):
                self.kill()
                raise DeadlineError("a worker process does not start")
            said = self._pipe.recv_bytes()
        except (EOFError, OSError):
            raise Died("a worker process ended while starting") from None
        if said != READY:
            raise Died(f"a worker process cannot start: {said.decode(errors='replace')[:300]}")

    def ask(
        self, job: str, body: bytes, seconds: float | None = None
    ) -> tuple[dict[str, object], bytes]:
        """One job.

        Args:
            seconds: it is killed after them; None waits without a limit: who wants one calls `kill`
                from elsewhere.

        Returns:
            What it tells about the answer, and the answer's body.

        Raises:
            Died: it is gone.
            DeadlineError: it took too long, and is gone.
        """
        self.jobs += 1
        try:
            self._pipe.send_bytes(job.encode())
            self._pipe.send_bytes(body)
            if seconds is not None and not self._pipe.poll(seconds):
                self.kill()
                raise DeadlineError(f"it took longer than {seconds:g} s")
            told = json.loads(self._pipe.recv_bytes())
            return told, self._pipe.recv_bytes()
        except (EOFError, OSError, ValueError):
            raise Died("docc crashed on this request") from None

    def resident(self) -> int:
        """Bytes of memory that it has; 0 where that cannot be told."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self) -> None:
        """End it, and forget it."""
        self.kill()
        self._process.join(10)
        self._pipe.close()
