"""A shell that types what the documentation says, in a folder and with a home of its own."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.docs.console import ROOT, Block, Command
from tests.docs.fork_server import STUB

SECONDS = 600
"""For all of a page: only a command that hangs takes as long."""

DONE = "@@done@@"


class Shell:
    """A bash that keeps variables, jobs and folder from one command to the next."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = str(probe.getsockname()[1])
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder / "home"),
            "TMPDIR": os.environ.get("TMPDIR", "/tmp"),
            "DOCC_TMP": str(folder / "docc"),  # else docc would not ask a server twice
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
        }
        (folder / "home").mkdir()
        self._bash = subprocess.Popen(
            ["bash", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def write(self, block: Block) -> None:
        (self.folder / block.title).write_text(self._local(block.body))

    def type(self, command: Command) -> tuple[int, str]:
        """Exit code and what was printed, also by jobs in the background."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._bash.stdin.write(f"{self._local(command.line)}\nprintf '\\n{DONE}%s\\n' $?\n")
        self._bash.stdin.flush()
        printed = []
        for line in self._bash.stdout:
            if line.startswith(DONE):
                return int(line.removeprefix(DONE)), "".join(printed)
            printed.append(line)
        raise AssertionError(f"{command.place}: the shell has ended: {''.join(printed)}")

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.communicate()

    def _local(self, text: str) -> str:
        """The documentation's port may be taken."""
        return text.replace("8080", self._port)


@contextlib.contextmanager
def programs(folder: Path) -> Iterator[Path]:
    """A folder with ``loopbook``, as a stub of a server of forks, and this ``python``."""
    path = folder / "socket"
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("fork_server.py")), str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        stub = folder / "loopbook"
        stub.write_text(STUB.format(python=os.path.realpath(sys.executable), socket=str(path)))
        stub.chmod(0o755)
        python = folder / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        yield folder
    finally:
        server.kill()
        server.communicate()


def missing(shown: tuple[str, ...], printed: str) -> str:
    """The first line that a page shows and that was not printed, in that order; numbers may be
    others, and ``…`` stands for anything."""
    lines = iter(map(_masked, printed.splitlines()))
    for line in shown:
        if line.strip() not in ("", "…") and _masked(line) not in lines:
            return line
    return ""


def _masked(line: str) -> str:
    return re.sub(r"\d+(\.\d+)?", "#", " ".join(line.split()))
