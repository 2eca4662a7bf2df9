"""Thousands of hostile requests against a server: it answers or refuses each, and goes on.

    python benchmarks/hostile.py [--requests 2400] [--seed 1] [--attackers 6] [--json]
    python benchmarks/hostile.py nests [--nests 5000] [--seed 1]

The second form is about nests, see `hostile_nests.py`. The first:

Without a token, with good ones and with ones for other things come heads that can be read in two
ways, bodies that are damaged, deep, huge, slow, cut or of wrong types, programs with something
inside replaced, expressions that explode, programs that take seconds, and odd paths. Meanwhile an
honest user with a token of his own looks programs up that the server has not seen, one after the
other, and the memory of all the server's processes is watched.

Prints how the requests ended, the most memory above that of the idle server (proportional set
sizes: shared pages are counted once), and how long the honest user waited; exit code 1 if a request
made the server fail, an honest look-up went wrong or took over a second, or memory grew by more
than 150 MB. Everything stays on 127.0.0.1.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import socket
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kits"))

import client_kit
import hostile_nests
import server_kit

from tests.server.test_fuzz import mutated
from tests.server.test_limits import AMBIGUOUS, many_nests

LOOK_S = 0.2
"""Between looks at the memory."""

MOST_BYTES = 150 << 20
MOST_SECONDS = 1.0
PATIENCE = 5.0
"""Seconds that an attacker waits for an answer on a bare connection."""

PROGRAMS = ("/docc/transfertune_sdfg", "/docc/transfertune")
BOMBS = ("(_s0+_s1+_s2+1)**60", "10**1000000000", "9**9**9**9", "(" * 5000, "_s0" + "+_s0" * 50_000)
PATHS = (
    "/docc/../v1/info", "//v1/info", "/v1/records/..%2f..%2fetc%2fpasswd", "/%00", "/v1/info%0a",
    "/v1/records/" + "a" * 4000, "/docc/transfertune_sdfg/", "/v1/%1b%5b2J", "http://else/v1/info",
    "*", "/metrics?" + "&" * 3000, "/v1/export?after=../../x", "/v1/records?fingerprint=%ff",
)  # fmt: skip


class Attack:
    """One attacker's requests.

    Args:
        tokens: by what they are good for; "" is none.
    """

    def __init__(self, server: server_kit.Served, tokens: dict[str, str], seed: int) -> None:
        self._server = server
        self._tokens = tokens
        self._numbers = random.Random(seed)
        kernels = (client_kit.product, client_kit.chain, client_kit.stencil)
        self._documents = [server_kit.message(kernel) for kernel in kernels]
        self._held: list[socket.socket] = []
        self._clients = {
            name: server.client(None if not name else secret) for name, secret in tokens.items()
        }
        with server.client(tokens["lookup"]) as client:
            self._operations = list(client.get("/v1/openapi.json").json()["paths"].items())
        self.outcomes: Counter[str] = Counter()

    def run(self, count: int) -> None:
        """Send `count` requests, of all ways in turn."""
        ways: list[Callable[[], str]] = [
            self._damaged, self._damaged, self._bomb, self._odd_head, self._ambiguous, self._path,
            self._wrong_types, self._wrong_types, self._deep, self._slow_body, self._huge,
        ]  # fmt: skip
        for number in range(count):
            way = self._heavy if number % 60 == 59 else ways[number % len(ways)]
            try:
                outcome = way()
            except OSError:
                outcome = "closed"
            except Exception as error:  # httpx's, for a connection that was closed
                outcome = type(error).__name__
            self.outcomes[f"{way.__name__.strip('_'):12} {outcome}"] += 1
        for one in self._held:
            one.close()

    def _name(self) -> str:
        return self._numbers.choice(list(self._tokens))

    def _post(self, path: str, body: bytes, name: str | None = None) -> str:
        client = self._clients[self._name() if name is None else name]
        return str(client.post(path, content=body).status_code)

    def _bare(self, text: bytes) -> str:
        with self._server.connected() as bare:
            bare.settimeout(PATIENCE)
            with suppress(BrokenPipeError, ConnectionResetError):
                bare.sendall(text)
            told = bare.recv(64)
        return told[9:12].decode("ascii", "replace") or "closed"

    def _secret(self) -> str | None:
        return self._tokens[self._name()] or None

    def _program(self) -> dict[str, Any]:
        return copy.deepcopy(self._numbers.choice(self._documents))

    def _damaged(self) -> str:
        body = json.dumps(mutated(self._program(), self._numbers)).encode()
        return self._post(self._numbers.choice(PROGRAMS), body, "lookup")

    def _bomb(self) -> str:
        document = self._program()
        loop = document["sdfg"]["root"]["children"][0]
        field = self._numbers.choice([key for key, one in loop.items() if isinstance(one, str)])
        loop[field] = self._numbers.choice(BOMBS)
        return self._post(PROGRAMS[0], json.dumps(document).encode(), "lookup")

    def _heavy(self) -> str:
        return self._post(PROGRAMS[0], many_nests(f"{self._numbers.randrange(10**9)}"), "lookup")

    def _odd_head(self) -> str:
        text = bytearray(server_kit.head(self._secret(), "Content-Length: 2") + b"{}")
        for _ in range(self._numbers.randint(1, 8)):
            where = self._numbers.randrange(len(text))
            if self._numbers.random() < 0.5:
                text[where] = self._numbers.randrange(256)
            else:
                text[where:where] = self._numbers.randbytes(self._numbers.choice((1, 3, 20_000)))
        return self._bare(bytes(text) + b"\r\n\r\n")

    def _ambiguous(self) -> str:
        lines = self._numbers.choice(AMBIGUOUS)
        secret = self._secret()
        inner = b"0\r\n\r\n" + server_kit.head(secret, "Content-Length: 2") + b"{}"
        return self._bare(server_kit.head(secret, *lines) + inner)

    def _path(self) -> str:
        path = self._numbers.choice(PATHS)
        return self._bare(server_kit.head(self._secret(), "Content-Length: 2", path=path) + b"{}")

    def _wrong_types(self) -> str:
        path, methods = self._numbers.choice(self._operations)
        path = path.replace("{record_id}", self._numbers.choice(("0" * 32, "x", "%00", "a" * 500)))
        body = json.dumps(self._anything(4)).encode("utf-8", "surrogatepass")
        method = self._numbers.choice(list(methods)).upper()
        client = self._clients[self._name()]
        return str(client.request(method, path, content=body).status_code)

    def _anything(self, depth: int) -> Any:
        """Some JSON, with words that the API knows among its keys."""
        numbers = self._numbers
        words = ("sdfg", "vector", "record", "target", "k", "root", "type", "sizes", "hardware")
        kind = numbers.randrange(7 if depth else 5)
        if kind == 5:
            return [self._anything(depth - 1) for _ in range(numbers.randrange(5))]
        if kind == 6:
            keys = numbers.sample(words, numbers.randrange(6))
            return {key: self._anything(depth - 1) for key in keys}
        return (None, numbers.random() < 0.5, 10 ** numbers.randrange(40), "\x1b[2J\u202e", 1e308)[
            kind
        ]

    def _deep(self) -> str:
        text = self._numbers.choice(
            (b"[" * 100_000, b'{"a":' * 50_000, b'"' + b'\\"' * 200_000, b"[" + b"[]," * 1_000_000)
        )
        path = self._numbers.choice((*PROGRAMS, "/v1/nearest", "/v1/records"))
        return self._post(path, text, self._numbers.choice(("", "lookup", "contribute")))

    def _slow_body(self) -> str:
        """A body that stays unfinished; up to 20 at a time."""
        bare = self._server.connected()
        bare.settimeout(0.1)
        self._held.append(bare)
        if len(self._held) > 20:
            self._held.pop(0).close()
        bare.sendall(server_kit.head(self._secret(), f"Content-Length: {4 << 20}"))
        with suppress(TimeoutError):
            bare.sendall(b" " * self._numbers.choice((1, 100_000, 3 << 20)))
            return bare.recv(64)[9:12].decode("ascii", "replace") or "closed"
        return "held"

    def _huge(self) -> str:
        secret = self._secret()
        if self._numbers.random() < 0.5:
            head = server_kit.head(secret, f"Content-Length: {1 << 40}")
            return self._bare(head + b" " * (9 << 20))
        head = server_kit.head(secret, "Transfer-Encoding: chunked")
        return self._bare(head + (b"10000\r\n" + b" " * 0x10000 + b"\r\n") * 140)


class Honest(threading.Thread):
    """Looks programs up that nobody has asked for before, until it is told to stop.

    Attributes:
        seconds: of each look-up.
        faults: answers that were none.
    """

    def __init__(self, server: server_kit.Served, secret: str) -> None:
        super().__init__(daemon=True)
        self._client = server.client(secret)
        self._over = threading.Event()
        self.seconds: list[float] = []
        self.faults: list[str] = []

    def run(self) -> None:
        while not self._over.wait(0.02):
            body = server_kit.sent(client_kit.product, new=f"honest{len(self.seconds)}")
            begun = time.perf_counter()
            answer = self._client.post(PROGRAMS[0], content=body)
            self.seconds.append(time.perf_counter() - begun)
            if "results" not in answer.json():
                self.faults.append(f"{answer.status_code} {answer.text[:200]}")

    def stop(self) -> None:
        self._over.set()
        self.join()


class Memory(threading.Thread):
    """Watches the memory of a process and all that come from it.

    Attributes:
        most: bytes at the worst moment.
    """

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._over = threading.Event()
        self.most = 0

    def run(self) -> None:
        while not self._over.wait(LOOK_S):
            self.most = max(self.most, self.now())

    def now(self) -> int:
        """Bytes now: proportional set sizes, added up."""
        return sum(_proportional(pid) for pid in _family(self._pid))

    def stop(self) -> None:
        self._over.set()
        self.join()


def _family(root: int) -> list[int]:
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(fields[1])
    found = [root]
    for one in found:
        found += [pid for pid, parent in parents.items() if parent == one]
    return found


def _proportional(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0


def main() -> int:
    if sys.argv[1:2] == ["nests"]:
        return hostile_nests.main(sys.argv[2:])
    parser = argparse.ArgumentParser(description="Hostile requests against a server.")
    parser.add_argument("--requests", type=int, default=2400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--attackers", type=int, default=6)
    parser.add_argument("--workers", type=int, default=0, help="default the server's own")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    words = ("--workers", options.workers) if options.workers else ()
    with server_kit.product_store() as store, server_kit.serving(store, *words) as server:
        tokens = {
            "": "",
            "wrong": "lb_wrong",
            "lookup": server_kit.token(store),
            "contribute": server_kit.token(store, "contribute"),
        }
        honest = Honest(server, server_kit.token(store))
        memory = Memory(server.process.pid)
        attacks = [
            Attack(server, tokens, options.seed + number) for number in range(options.attackers)
        ]
        idle = memory.now()
        memory.start()
        honest.start()
        share = -(-options.requests // len(attacks))
        threads = [threading.Thread(target=one.run, args=(share,)) for one in attacks]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - begun
        honest.stop()
        memory.stop()
        replaced = int(server.figure("loopbook_workers_replaced_total"))
        log = server.log
    outcomes = sum((one.outcomes for one in attacks), Counter())
    failed = sum(count for words, count in outcomes.items() if words.split()[-1].startswith("5"))
    told = {
        "requests": outcomes.total(),
        "seconds": round(seconds, 1),
        "answered with 5xx": failed,
        "tracebacks in the log": log.count("Traceback"),
        "workers replaced": replaced,
        "idle MB": round(idle / 1e6),
        "most MB above idle": round((memory.most - idle) / 1e6),
        "honest look-ups": len(honest.seconds),
        "honest look-ups that went wrong": honest.faults,
        "honest median s": round(statistics.median(honest.seconds), 3),
        "honest worst s": round(max(honest.seconds), 3),
    }
    if options.json:
        print(json.dumps(told | {"outcomes": dict(outcomes)}))
    else:
        for words, count in sorted(outcomes.items()):
            print(f"{count:6} {words}")
        for words, figure in told.items():
            print(f"{words}: {figure}")
    good = not failed and not honest.faults and "Traceback" not in log
    good &= memory.most - idle < MOST_BYTES and max(honest.seconds) < MOST_SECONDS
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
