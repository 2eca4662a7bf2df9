"""A worker process: gets jobs through a pipe, one at a time, and outlives none of its troubles.

Messages are bytes in both directions, never pickles: what comes back from a process in which docc
worked on a stranger's program is not trusted with more than being JSON.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from loopbook.errors import DeadlineError, KernelError
from loopbook.server.pauses import spare_pauses
from loopbook.server.settings import Settings

_CONTEXT = get_context("forkserver")
_READY = b"ready"
START_SECONDS = 120.0


class Died(KernelError):
    """The worker is gone, and its job with it."""


class WorkerProcess:
    """The server's end of one worker.

    Attributes:
        jobs: how many it has done.
    """

    def __init__(self, settings: Settings) -> None:
        _CONTEXT.set_forkserver_preload(["loopbook.server.work"])
        self._pipe, other = _CONTEXT.Pipe()
        self._process: ForkServerProcess = _CONTEXT.Process(
            target=_serve, args=(other, settings), name="loopbook worker", daemon=True
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
        """Wait until its book is open.

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
        if said != _READY:
            raise Died(f"a worker process cannot start: {said.decode(errors='replace')[:300]}")

    def ask(self, job: str, body: bytes) -> tuple[dict[str, object], bytes]:
        """One job; waits for it without a limit: who wants one calls `kill` from elsewhere.

        Returns:
            What `loopbook.server.work.Answer` tells, without the body; and the body.

        Raises:
            Died: it is gone.
        """
        self.jobs += 1
        try:
            self._pipe.send_bytes(job.encode())
            self._pipe.send_bytes(body)
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


def _serve(pipe: Connection, settings: Settings) -> None:
    """Runs in the worker."""
    from loopbook.errors import LoopbookError
    from loopbook.server.work import Work
    from loopbook.toolchain import sandbox

    with tempfile.TemporaryFile() as words:
        sandbox.confine(words.fileno(), settings.worker_bytes, os.getppid())
        try:
            work = Work(settings)
        except LoopbookError as error:
            pipe.send_bytes(str(error).encode())
            return
        spare_pauses()
        pipe.send_bytes(_READY)
        while True:
            try:
                job, body = pipe.recv_bytes().decode(), pipe.recv_bytes()
            except (EOFError, OSError):
                return
            begun = time.perf_counter()
            answer = work.do(job, body)
            words.truncate(0)
            told = {
                "tiers": answer.tiers,
                "missed": answer.missed,
                "wanted": answer.wanted,
                "good": answer.good,
                "status": answer.status,
                "fault": answer.fault,
                "remark": answer.remark,
                "seconds": time.perf_counter() - begun,
            }
            pipe.send_bytes(json.dumps(told).encode())
            pipe.send_bytes(answer.body)
