"""A real server for tests: a process of its own on a free port, with a book and tokens."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx
from client_kit import ARGUMENTS, blocked, fill, product, record, stencil, text_of

from loopbook.client.remote.transport import trusted
from loopbook.sdfg import program
from loopbook.server.tables import open_tables
from loopbook.server.tokens import Tokens

SECONDS = 600.0


def token(store: str, *scopes: str, name: str = "test", days: float | None = None) -> str:
    """A new token for a store."""
    database = open_tables(store)
    try:
        return Tokens(database).create(name, scopes or ("lookup",), days)
    finally:
        database.close()


def revoke(store: str, name: str) -> None:
    database = open_tables(store)
    try:
        assert Tokens(database).revoke(name) == 1
    finally:
        database.close()


def sent(kernel: Callable[..., Any], *, new: object = None, **more: Any) -> bytes:
    """The body that docc's client sends about a kernel.

    Args:
        new: goes into the program's name: makes another program of it, which no answer fits that
            was given before.
    """
    document = message(kernel) | more
    if new is not None:
        document["sdfg"]["name"] += f"_{new}"
    return json.dumps(document).encode()


@lru_cache
def _expanded(kernel: Callable[..., Any]) -> str:
    """A kernel's program as docc has it when it asks: expanded and simplified."""
    from docc.sdfg import TargetOptions

    sdfg = program.parse(text_of(kernel))
    sdfg.expand(TargetOptions("sequential", "server"))
    sdfg.simplify()
    return sdfg.to_json()


def message(kernel: Callable[..., Any]) -> dict[str, Any]:
    assert kernel in ARGUMENTS
    return {
        "sdfg": json.loads(_expanded(kernel)),
        "target": "sequential",
        "category": "server",
        "enable_fusion": True,
        "normalize": False,
        "schedule_loops": True,
    }


class Served:
    """A running ``loopbook serve``.

    Attributes:
        url: its address.
        log: what it has said so far.
    """

    def __init__(self, store: str, *options: object, command: str = "serve") -> None:
        words = [command, "--port", "0", *(("--store", store) if command == "serve" else ())]
        self.store = store
        code = "import sys\nfrom loopbook.cli import main\nsys.exit(main(sys.argv[1:]))"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, [*words, *options])],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "LOOPBOOK_STARTER": "", "OMP_NUM_THREADS": "1"},
        )
        self.lines: list[str] = []
        self._up = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._up.wait(SECONDS) or not self.url:
            self.stop()
            raise AssertionError(f"the server did not start:\n{self.log}")

    url = ""

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            found = re.search(r"serving (https?://\S+)", line)
            if found:
                self.url = found[1]
                self._up.set()
        self._up.set()

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join(SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def client(
        self, secret: str | None = None, scheme: str = "Token", verify: ssl.SSLContext | bool = True
    ) -> httpx.Client:
        headers = {} if secret is None else {"Authorization": f"{scheme} {secret}"}
        return httpx.Client(
            base_url=self.url, headers=headers, timeout=SECONDS, verify=trusted(self.url, verify)
        )

    def listens(self) -> bool:
        """Whether it still takes connections."""
        name, _, port = self.url.rpartition("//")[2].partition(":")
        try:
            socket.create_connection((name, int(port)), SECONDS).close()
        except ConnectionError:
            return False
        return True

    def connected(self) -> socket.socket:
        """A bare connection to it."""
        host, port = self.url.removeprefix("http://").split(":")
        return socket.create_connection((host, int(port)), SECONDS)

    def figure(self, name: str) -> float:
        """The sum of a figure over its labels, as ``/metrics`` tells it."""
        with self.client() as client:
            text = client.get("/metrics").text
        found = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, found))

    def workers(self) -> list[int]:
        """Process ids of its workers."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                found.append((int(entry.name), int(fields[1])))
        fork_servers = {pid for pid, parent in found if parent == self.process.pid}
        return [pid for pid, parent in found if parent in fork_servers]


def head(secret: str | None, *lines: str, path: str = "/docc/transfertune_sdfg") -> bytes:
    """A request's head for a bare connection."""
    given = [] if secret is None else [f"Authorization: Token {secret}"]
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: x", *given, *lines, "", ""]).encode()


def everything(connection: socket.socket) -> bytes:
    """What comes until the other side has closed; a connection that is reset fails."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


@contextlib.contextmanager
def serving(store: str, *options: object) -> Iterator[Served]:
    server = Served(store, *options)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def product_store() -> Iterator[str]:
    """A book that knows how to make a matrix product fast, and that it cannot help a stencil."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.db"
        fill(path, [record(product, blocked()), record(stencil, "", 1.0)])
        yield str(path)


def put_back(sdfg: dict[str, Any], element_id: int, answer: dict[str, Any]) -> None:
    """What a client does with the answer about one nest: it takes the first element, and the
    containers of which it has none."""
    given = answer["sdfg_result"]["sdfg"]
    children = sdfg["root"]["children"]
    (place,) = [n for n, child in enumerate(children) if child["element_id"] == element_id]
    children[place] = given["root"]["children"][0]
    sdfg["containers"] = given["containers"] | sdfg["containers"]
