"""A worker process that answers in JSON lines and is stopped while it is not its turn."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self

ROOT = Path(__file__).resolve().parents[2]

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)

PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """A system is out of a comparison.

    Attributes:
        kind: ``unsupported``, ``failed``, ``crashed``, ``timeout``, ``wrong`` or ``missing``.
        reason: one line.
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


class Noted(Protocol):
    """What became of a system: "ok", or a `Failed.kind` and why."""

    status: str
    reason: str


@contextlib.contextmanager
def noting(outcome: Noted) -> Iterator[None]:
    """Note that a system is out of the comparison, and go on without it."""
    try:
        yield
    except Failed as failed:
        outcome.status, outcome.reason = failed.kind, failed.reason


LONG_RUN = 1.0
"""First runs of more seconds than this count as measured: warming up cannot matter."""


class Child:
    """The parent's end. A context manager: leaving ends the worker.

    Workers are stopped while it is not their turn: threads of their own that wait actively, as
    those of OpenMP do, would slow the others down.

    Args:
        command: what to run.
        folder: an existing folder for the worker to work in and for what it writes to standard
            error (the file ``stderr``).
        threads: how many of them its libraries may use.
        environment: what else is set in its environment.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        threads: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._pending = b""
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        with (folder / "stderr").open("wb") as stderr:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=os.environ
                | dict.fromkeys(THREAD_VARIABLES, str(threads))
                | {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(folder)}
                | dict(environment or {}),
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def pause(self) -> None:
        """Stop the worker until it is asked something."""
        self._process.send_signal(signal.SIGSTOP)

    def ask(self, request: str, seconds: float, doing: str) -> dict[str, Any]:
        """Send a line, and wait for the answer; the worker is stopped afterwards.

        Raises:
            Failed: see `answer`.
        """
        assert self._process.stdin is not None
        self._process.send_signal(signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(request.encode() + b"\n")
            self._process.stdin.flush()
        answer = self.answer(seconds, doing)
        self.pause()
        return answer

    def answer(self, seconds: float, doing: str) -> dict[str, Any]:
        """The worker's next answer.

        Args:
            seconds: how long it may take.
            doing: what the worker is doing, for the message.

        Raises:
            Failed: the worker said that it failed, ended, or took too long.
        """
        assert self._process.stdout is not None
        end = time.monotonic() + seconds
        while b"\n" not in self._pending:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                self._process.kill()
                raise Failed("timeout", f"{doing} took more than {seconds:g} s")
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:
                raise Failed("crashed", f"{doing}: {self._last_words()}")
            self._pending += part
        line, _, self._pending = self._pending.partition(b"\n")
        answer = json.loads(line)
        if answer["event"] == "failed":
            raise Failed(answer["kind"], answer["reason"])
        return answer

    def _last_words(self) -> str:
        code = self._process.wait()
        said = (self._folder / "stderr").read_text(errors="replace").strip().splitlines()
        how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return f"{how}{': ' + said[-1][:200] if said else ''}"


def die_with_parent() -> None:
    """Have the kernel end us when our parent ends, also while we are stopped (``prctl(2)``)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
