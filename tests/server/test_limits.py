"""What one caller can make a server spend: heads, bodies, memory, workers, each has an end."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from client_kit import product
from server_kit import Served, everything, head, message, sent, serving, token
from wait_kit import wait_until

from loopbook.server.document import check_nesting
from loopbook.server.rates import Rates
from loopbook.server.settings import Limits

pytest_plugins = ["server_fixtures"]

MIB = 1 << 20


@pytest.fixture(scope="module")
def server(store: str) -> Iterator[Served]:
    with serving(store, "--workers", 2, "--deadline", 600, "--held", 0.5) as one:
        yield one
        assert "Traceback" not in one.log


@pytest.fixture(scope="module")
def secret(store: str) -> str:
    return token(store)


class Asked(threading.Thread):
    """A request that waits for its answer."""

    def __init__(self, server: Served, secret: str, body: bytes) -> None:
        super().__init__(daemon=True)
        self._server, self._secret, self._body = server, secret, body
        self.start()

    def run(self) -> None:
        with self._server.client(self._secret) as client:
            self.answer = client.post("/docc/transfertune_sdfg", content=self._body)


def many_nests(name: str) -> bytes:
    """A program that keeps a worker busy for longer than a look-up takes."""
    document = message(product)
    document["sdfg"]["name"] += f"_{name}"
    (nest,) = document["sdfg"]["root"]["children"]

    def apart(part: Any, by: int) -> Any:
        """A copy with ids of its own."""
        if isinstance(part, list):
            return [apart(one, by) for one in part]
        if not isinstance(part, dict):
            return part
        ids = {key: part[key] + by for key in ("element_id", "src", "dst") if key in part}
        return {key: apart(value, by) for key, value in part.items()} | ids

    document["sdfg"]["root"]["children"] = [apart(nest, 1000 * n) for n in range(16)]
    return json.dumps(document).encode()


def resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


# -- heads and bodies --------------------------------------------------------------------------


def test_no_body_is_read_before_the_token(server, secret):
    for wrong in (None, "wrong"):
        for more in ((), ("Expect: 100-continue",)):
            with server.connected() as bare:
                bare.sendall(head(wrong, "Content-Length: 4000000", *more))
                told = bare.recv(4096)
                assert told.startswith(b"HTTP/1.1 401 ")
                assert b"100" not in told.splitlines()[0]
    body = sent(product)
    with server.connected() as bare:
        bare.sendall(head(secret, "Expect: 100-continue", f"Content-Length: {len(body)}"))
        assert bare.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        bare.sendall(body)
        assert bare.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_what_there_is_not_is_refused_before_its_body(server, secret):
    for path in ("/docc/nothing", "/v1/records/../../etc/passwd", "/%2e%2e/", "/v1/info/"):
        with server.connected() as bare:
            bare.sendall(head(secret, "Content-Length: 4000000", path=path))
            assert bare.recv(4096).startswith(b"HTTP/1.1 404 ")
    with server.client(secret) as client:
        answer = client.get("/docc/transfertune_sdfg")
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("good", [False, True])
def test_bodies_take_no_more_memory_than_there_is_for_them(server, secret, good):
    """A hundred connections, each with most of a body that never ends."""
    part = b" " * (4 * MIB)
    before = resident(server.process.pid)
    connections = []
    with ExitStack() as stack:
        for _ in range(100):
            bare = stack.enter_context(server.connected())
            bare.sendall(head(secret if good else None, f"Content-Length: {8 * MIB}"))
            view = memoryview(part)
            bare.settimeout(0.02)
            with suppress(OSError):  # it reads no more
                while view:
                    view = view[bare.send(view) :]
            connections.append(bare)
        grown = resident(server.process.pid) - before
        statuses = set()
        for bare in connections:
            try:
                statuses.add(bare.recv(12)[9:])
            except OSError:
                statuses.add(b"")
    assert grown < 80 * MIB
    assert statuses <= ({b"429", b""} if good else {b"401", b""})
    assert statuses & {b"429", b"401"}


AMBIGUOUS = [
    ["Content-Length: 4", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Content-Length: 4"],
    ["Content-Length: 4", "Content-Length: 4"],
    ["Content-Length: 4, 4"],
    ["Content-Length: +4"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
    ["Transfer-Encoding: chunked, identity"],
    ["Transfer-Encoding : chunked"],
    ["Transfer-Encoding:\x0bchunked"],
    ["X: a", " Transfer-Encoding: chunked"],
    ["X: a\nTransfer-Encoding: chunked"],
    ["X: a\rTransfer-Encoding: chunked"],
    ["X: \x1b[31m"],
    ["Host: y"],
    ["Authorization: Token another"],
    [f"X-{n}: y" for n in range(200)],
]


@pytest.mark.parametrize("lines", AMBIGUOUS, ids=lambda lines: repr(lines[0])[1:40])
def test_a_head_that_can_be_read_in_two_ways_is_refused_and_nothing_after_it(server, secret, lines):
    with server.connected() as bare:
        inner = b"0\r\n\r\n" + head(secret, "Content-Length: 2") + b"{}"
        bare.sendall(head(secret, *lines) + inner)
        bare.shutdown(socket.SHUT_WR)
        told = everything(bare)
        assert told.startswith(b"HTTP/1.1 400 ")
        assert told.count(b"HTTP/1.1") == 1


def test_chunks_of_an_old_protocol_and_bodies_in_crumbs_are_refused(server, secret):
    old = head(secret, "Transfer-Encoding: chunked").replace(b"HTTP/1.1", b"HTTP/1.0")
    crumbs = head(secret, "Transfer-Encoding: chunked") + b"1\r\n \r\n" * 10_000
    for text in (old, crumbs):
        with server.connected() as bare:
            bare.sendall(text)
            assert b" 400 " in bare.recv(4096)


def test_a_string_that_does_not_end_is_looked_for_once():
    """By the square of its length this would take hours."""
    check_nesting(b'"' + b'\\"' * 4_000_000, Limits())


def test_answers_hold_nothing_that_a_terminal_obeys(server, secret):
    with server.client(secret) as client:
        for path, body in (
            ("/v1/nearest", {"\x1b[2J": 1}),
            ("/v1/nearest", {"sdfg": {"root": {}}, "target": "\x1b]0;x\x07"}),
            ("/v1/nearest", {"vector": [0.0], "encoder": "\x9b31m"}),
            ("/docc/transfertune_sdfg", {"sdfg": {"root": {}, "name": "\x1b[2J"}}),
        ):
            words = client.post(path, json=body).json()["error"]
            assert words.isprintable()
        words = client.get("/v1/records/%1b%5b2J").json()["error"]
        assert words.isprintable()
    assert "\x1b" not in server.log


# -- workers -----------------------------------------------------------------------------------


def test_who_asks_for_much_leaves_a_worker_to_others(server, store):
    """Three programs that take seconds each, from one token; somebody else asks for one that does
    not."""
    greedy = token(store)
    asked = [Asked(server, greedy, many_nests(f"fair{n}")) for n in range(3)]
    assert wait_until(lambda: server.figure("loopbook_waiting") == 2)
    assert server.figure("loopbook_busy") == 1
    with server.client(token(store)) as client:
        answer = client.post("/docc/transfertune_sdfg", content=sent(product, new="fair"))
    assert answer.json()["results"]
    assert sum(one.is_alive() for one in asked) >= 2
    for one in asked:
        one.join()
        assert one.answer.status_code == 200


def test_a_job_that_keeps_others_waiting_is_given_up(server, store):
    """Two tokens hold both workers for good; the third gets one all the same."""
    for worker in server.workers():
        os.kill(worker, signal.SIGSTOP)
    held = [Asked(server, token(store), sent(product, new=f"held{n}")) for n in range(2)]
    assert wait_until(lambda: server.figure("loopbook_busy") == 2)
    with server.client(token(store)) as client:
        answer = client.post("/docc/transfertune_sdfg", content=sent(product, new="waits"))
    assert answer.json()["results"]
    assert wait_until(lambda: sum(one.is_alive() for one in held) == 1)
    for worker in server.workers():
        os.kill(worker, signal.SIGCONT)
    for one in held:
        one.join()
    told = [one.answer.json() for one in held]
    assert [{"error": "the look-up took too long while others waited"} in told] == [True]
    assert sum("results" in one for one in told) == 1


def test_who_has_taken_much_work_waits(store):
    words = ("--workers", 1, "--effort", 0.01, "--effort-burst", 0.001)
    with serving(store, *words) as server, server.client(token(store)) as client:
        client.post("/docc/transfertune_sdfg", content=sent(product))
        answer = client.get("/v1/info")
        assert answer.status_code == 429
        assert int(answer.headers["Retry-After"]) > 1
        with server.client(token(store)) as other:
            assert other.get("/v1/info").status_code == 200


def test_buckets_hold_a_burst_and_may_owe():
    rates = Rates(1e-6, 2)
    assert [bool(rates.wait("a")) for _ in range(3)] == [False, False, True]
    assert not rates.wait("b")
    rates.spend("b", 5.0)
    assert rates.wait("b", 0.0) == pytest.approx(4e6, rel=1e-3)
    assert not Rates(0, 1).wait("a", 1e9)
