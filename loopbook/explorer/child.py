"""The process that does `loopbook.explorer.jobs` for a page on this machine."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from multiprocessing.connection import Connection
from pathlib import Path

from loopbook.errors import LoopbookError
from loopbook.explorer.answers import Answer, refusal
from loopbook.toolchain.attendant import READY, Attendant

SECONDS = 30.0
"""For one job."""

MEMORY = 8 << 30
RENEW = 200
"""Jobs after which a child is replaced, so that leaks do not add up."""


class Child:
    """One child, replaced when it dies. Safe to share between threads, one job at a time.

    Args:
        book: see `loopbook.client.opening.open_book`.
    """

    def __init__(self, book: str | Path | None) -> None:
        self._book = None if book is None else str(book)
        self._lock = threading.Lock()
        self._now: Attendant | None = None

    def start(self) -> None:
        """Start it now, so that the first job does not have to wait.

        Raises:
            LoopbookError: it does not start.
        """
        with self._lock:
            self._running()

    def ask(self, job: str, body: bytes) -> Answer:
        with self._lock:
            try:
                told, answer = self._running().ask(job, body, SECONDS)
                status = told.get("status")
                return Answer(status if isinstance(status, int) else 500, answer)
            except LoopbookError as error:
                return refusal(error)

    def close(self) -> None:
        with self._lock:
            if self._now is not None:
                self._now.close()
                self._now = None

    def _running(self) -> Attendant:
        now = self._now
        if now is not None and (not now.alive or now.jobs >= RENEW):
            now.close()
            now = None
        if now is None:
            preload = ["loopbook.explorer.jobs", "loopbook.client.opening"]
            now = Attendant(_serve, self._book, name="loopbook pages", preload=preload)
            now.wait_until_ready()
            self._now = now
        return now


def _serve(pipe: Connection, book: str | None) -> None:
    """Runs in the child."""
    from loopbook.client.opening import open_book
    from loopbook.explorer.jobs import Jobs
    from loopbook.toolchain import sandbox

    with tempfile.TemporaryFile() as words:
        sandbox.confine(words.fileno(), MEMORY, os.getppid())
        try:
            jobs = Jobs(open_book(book))
            jobs.warm_up()
        except LoopbookError as error:
            pipe.send_bytes(str(error).encode())
            return
        pipe.send_bytes(READY)
        while True:
            try:
                job, body = pipe.recv_bytes().decode(), pipe.recv_bytes()
            except (EOFError, OSError):
                return
            answer = jobs.do(job, body)
            words.truncate(0)
            pipe.send_bytes(json.dumps({"status": answer.status}).encode())
            pipe.send_bytes(answer.body)
