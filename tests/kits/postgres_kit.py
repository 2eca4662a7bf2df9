"""A PostgreSQL server of the tests' own, from what the system has installed."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

USER = "loopbook"
FIRST = "postgres"
"""The database that every new server has."""


def programs() -> Path | None:
    """The folder with ``initdb`` and ``postgres``; None where there is no PostgreSQL."""
    versions = glob.glob("/usr/lib/postgresql/*/bin/postgres")
    versions.sort(key=lambda path: int(path.split("/")[4]))
    if versions:
        return Path(versions[-1]).parent
    found = shutil.which("postgres")
    return Path(found).parent if found else None


class Server:
    """A server on a free port of this machine, in a folder that goes with it.

    Args:
        durable: what is committed survives a power cut; else it is faster.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self._durable = durable
        binaries = programs()
        assert binaries is not None
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="loopbook-pg-"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:  # it refuses to run as root
            account = pwd.getpwnam("postgres" if _is_known("postgres") else "nobody")
            self._as = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
            os.chown(self._folder, account.pw_uid, account.pw_gid)
        self._data = self._folder / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._run("initdb", "-D", self._data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def _run(self, program: str, *words: object) -> None:
        subprocess.run(
            [str(self._binaries / program), *map(str, words)],
            check=True,
            capture_output=True,
            cwd=self._folder,
            timeout=600,
            **self._as,
        )

    @property
    def pid(self) -> int:
        """Of its first process; 0 while it does not run."""
        return 0 if self.ended or self._process is None else self._process.pid

    @property
    def ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def start(self, *, wait: bool = True) -> None:
        """Start it, and wait until it takes connections."""
        options = ["-D", self._data, "-p", self.port, "-k", self._folder, "-h", "127.0.0.1"]
        options += ["-c", "max_connections=60"]
        if not self._durable:
            options.append("-F")
        self._process = subprocess.Popen(
            [str(self._binaries / "postgres"), *map(str, options)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            **self._as,
        )
        until = time.monotonic() + (300 if wait else 0)
        while wait and time.monotonic() < until:
            try:
                self._run("psql", "-h", "127.0.0.1", "-p", self.port, "-U", USER, "-c", "", FIRST)
                return
            except subprocess.CalledProcessError:
                time.sleep(0.1)
        if wait:
            raise TimeoutError("PostgreSQL does not start")

    def stop(self, *, rudely: bool = False) -> None:
        """End it: as an administrator would, or as a power cut would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT if rudely else signal.SIGINT)
            self._process.wait(300)
            self._process = None

    def close(self) -> None:
        """End it and remove all of it."""
        self.stop(rudely=True)
        shutil.rmtree(self._folder, ignore_errors=True)

    def database(self) -> str:
        """The URL of a new, empty database."""
        name = f"book_{uuid.uuid4().hex[:12]}"
        self._run("createdb", "-h", "127.0.0.1", "-p", self.port, "-U", USER, name)
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{name}"


def _is_known(account: str) -> bool:
    try:
        pwd.getpwnam(account)
    except KeyError:
        return False
    return True
