"""A worker process of the server."""

from __future__ import annotations

import json
import os
import tempfile
import time
from multiprocessing.connection import Connection

from loopbook.server.pauses import spare_pauses
from loopbook.server.settings import Settings
from loopbook.toolchain.attendant import READY, Attendant, Died

__all__ = ["Died", "WorkerProcess"]


class WorkerProcess(Attendant):
    """The server's end of one worker; what it answers is a `loopbook.server.work.Answer`."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(_serve, settings, preload=["loopbook.server.work"])


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
        pipe.send_bytes(READY)
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
