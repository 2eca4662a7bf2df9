"""The machines of `farm_faults`: what an administrator starts, and who is to be killed on them.

Each unit is one top-level process; one that ends is started again after a second and no more is
done for it, as systemd would with ``KillMode=process``: what a killed unit leaves behind is there
when the next one starts.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

from postgres_kit import Server

from loopbook.recipes.hardware import ISAS

AGAIN_S = 1.0
"""Before a unit that has ended is started again."""

MARK = "LOOPBOOK_FAULTS"
"""The variable in the environment by which our processes are known."""

KINDS = (
    "runner",
    "builder",
    "worker",
    "node",
    "head",
    "driver",
    "supervisor",
    "server",
    "database",
)

HEAD, NODES, SERVERS = "head", ("node1", "node2"), ("server1", "server2")


class Process(NamedTuple):
    """A process as ``/proc`` has it."""

    pid: int
    parent: int
    state: str
    words: str


class Unit:
    """A top-level process that is kept running."""

    def __init__(self, name: str, command: list[str], env: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self._command, self._env = command, {**os.environ, **env}
        self._log = folder / f"{name}.log"
        self.starts = 0
        self._ended = 0.0
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, stdout=log, stderr=log, env=self._env)
        self.starts += 1
        self._ended = 0.0

    def look(self) -> None:
        """Start it again if it has ended a second ago."""
        if self.process.poll() is None:
            return
        if not self._ended:
            self._ended = time.monotonic()
        elif time.monotonic() - self._ended >= AGAIN_S:
            self.start()

    def end(self) -> bool:
        """End it as an administrator does; False if it has to be killed after two minutes."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        return True


class Machines:
    """PostgreSQL, the servers, the head and the nodes. Use as a context manager.

    Args:
        farm: more words for the head's ``loopbook farm start``.
    """

    def __init__(self, store: str, database: Server, folder: Path, farm: list[str]) -> None:
        self.database = database
        self.mark = f"{MARK}={os.getpid()}-{time.time_ns()}"
        self._over = threading.Event()
        self._database_ended = 0.0
        loopbook = [sys.executable, "-m", "loopbook"]
        self.ports = {name: free_port() for name in SERVERS}
        address = f"127.0.0.1:{free_port()}"
        # On a machine that has other work, Ray's own politeness would keep the farm from any.
        given = {"LOOPBOOK_STARTER": "", "RAY_worker_niceness": "0"}
        token = folder / "token"  # of this cluster alone
        token.write_text(secrets.token_hex(32))
        token.chmod(0o600)
        given |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        given |= dict([self.mark.split("=", 1)])
        self.units: dict[str, Unit] = {}
        for name, port in self.ports.items():
            words = [*loopbook, "serve", "--port", str(port), "--store", store, "--workers", "1"]
            self.units[name] = Unit(
                name, [*words, "--no-starter", "--anonymous", "--no-keep-nests"], given, folder
            )
        self.address = address
        for name, kind in zip((HEAD, *NODES), kinds_of_nodes(), strict=True):
            own = given | kind | {"XDG_CACHE_HOME": str(folder / name)}
            words = [*loopbook, "farm", "start", "--join", address]
            if name == HEAD:
                words = [*loopbook, "farm", "start", "--store", store, "--head", address, *farm]
            self.units[name] = Unit(name, words, own, folder)
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        while not self._over.wait(0.2):
            for unit in self.units.values():
                unit.look()
            if self.database.ended:
                if not self._database_ended:
                    self._database_ended = time.monotonic()
                elif time.monotonic() - self._database_ended > AGAIN_S:
                    self._database_ended = 0.0
                    # Another one may still hold what it left; then it ends, and is started again.
                    self.database.start(wait=False)

    def end(self) -> list[str]:
        """End the units; what was wrong with that, in words."""
        self._over.set()
        self._thread.join()
        order = [*NODES, HEAD, *SERVERS]
        wrong = [
            f"{name} did not end in two minutes" for name in order if not self.units[name].end()
        ]
        until = time.monotonic() + 20
        while (left := list(self._marked())) and time.monotonic() < until:
            time.sleep(0.5)
        wrong += [f"left over: {one.pid} {one.words[:80]}" for one in left]
        for one in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.pid, signal.SIGKILL)
        return wrong

    def _marked(self) -> Iterator[Process]:
        """Processes that carry our mark, whoever their parent is by now."""
        for one in processes().values():
            with contextlib.suppress(OSError):
                if self.mark.encode() in Path(f"/proc/{one.pid}/environ").read_bytes():
                    yield one

    def working(self) -> Iterator[tuple[str, int]]:
        """Units, and the processes of tasks on them."""
        below = _below(processes())
        for name in (HEAD, *NODES):
            for one in _tree(self.units[name].process.pid, below):
                if "loopbook.farm.single" in one.words:
                    yield name, one.pid

    def victim(self, kind: str, random: Random) -> tuple[str, int] | None:
        """A unit and a process of it to kill; None if there is no such process now."""
        if kind == "database":
            return None if self.database.ended else (kind, self.database.pid)
        if kind == "server":
            return self._whole(random.choice(SERVERS))
        if kind == "supervisor":
            return self._whole(random.choice([HEAD, *NODES]))
        below = _below(processes())
        found = [
            (name, one.pid)
            for name in (HEAD, *NODES)
            for one in _tree(self.units[name].process.pid, below)
            if _IS[kind](one, below)
        ]
        return random.choice(found) if found else None

    def _whole(self, name: str) -> tuple[str, int] | None:
        process = self.units[name].process
        return (name, process.pid) if process.poll() is None else None


def _below(there: Mapping[int, Process]) -> dict[int, list[Process]]:
    """Processes by their parent."""
    found: dict[int, list[Process]] = {}
    for one in there.values():
        found.setdefault(one.parent, []).append(one)
    return found


def _tree(root: int, below: Mapping[int, list[Process]]) -> Iterator[Process]:
    waiting = list(below.get(root, ()))
    for one in waiting:  # which grows meanwhile
        waiting += below.get(one.pid, ())
        yield one


def _is_compile(one: Process) -> bool:
    program = one.words.split(" ", 1)[0].rpartition("/")[2]
    return program.startswith(("clang", "ld", "cc1"))


def _is_builder(one: Process, below: Mapping[int, list[Process]]) -> bool:
    """A process in a jail that runs a compiler, or the compiler itself."""
    if _is_compile(one):
        return True
    return "jail.inmate" in one.words and any(map(_is_compile, below.get(one.pid, ())))


def _is_runner(one: Process, _: Mapping[int, list[Process]]) -> bool:
    """A process in a jail that has loaded what was built there."""
    if "jail.inmate" not in one.words or "bwrap" in one.words:
        return False
    try:
        maps = Path(f"/proc/{one.pid}/maps").read_text()
    except OSError:
        return False
    return any(".so" in line and " /tmp/" in line for line in maps.splitlines())


def _is_worker(one: Process, _: Mapping[int, list[Process]]) -> bool:
    return "loopbook.farm.single" in one.words or one.words.startswith("ray::_do")


_IS: dict[str, Callable[[Process, Mapping[int, list[Process]]], bool]] = {
    "runner": _is_runner,
    "builder": _is_builder,
    "worker": _is_worker,
    "node": lambda one, _: "raylet/raylet" in one.words.split(" ", 1)[0],
    "head": lambda one, _: "gcs_server" in one.words.split(" ", 1)[0],
    "driver": lambda one, _: " farm dispatch " in one.words,
}


def processes() -> dict[int, Process]:
    """All that run on this machine now."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            state, parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[:2]
            words = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:  # it has ended
            continue
        if state != "Z":
            told = words.decode(errors="replace")
            found[int(name)] = Process(int(name), int(parent), state, told)
    return found


def kinds_of_nodes() -> list[dict[str, str]]:
    """The environments of the head and two nodes: three classes of hardware."""
    march = {name: ISAS[name].march for name in ("avx2", "sse2")}
    return [
        {"LOOPBOOK_MARCH": march["avx2"], "OMP_NUM_THREADS": "1"},
        {"LOOPBOOK_MARCH": march["avx2"], "OMP_NUM_THREADS": "2"},
        {"LOOPBOOK_MARCH": march["sse2"], "OMP_NUM_THREADS": "1"},
    ]


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
