"""How fast one server process on one core answers, how that grows, and whether memory stays.

    python benchmarks/service.py latency [--seconds 30]     median and 99th percentile at half load
    python benchmarks/service.py clients [--seconds 10]     requests a second for 1 to 64 clients
    python benchmarks/service.py nests   [--seconds 10]     for programs of 1 to 16 nests
    python benchmarks/service.py records [--sizes 1000 10000 100000 1000000]
    python benchmarks/service.py memory  [--requests 100000]
    … --core 0 --load-core 1 --json

The server with its one worker is kept to one core, the load to another. Half load is half of the
requests a second that one client after the other gets answered. Every figure is given three times:
``repeated`` sends the same body again and again; ``recompiled`` the same program in another session
each time, as users do who compile a project again; ``renamed`` the same program under another name.
``latency`` has a fourth: ``unseen`` are programs of three nests drawn at random
(`benchmarks.unseen`), of which nothing is known: all is prepared, looked up, ported and tried.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.serving import serve
from benchmarks.unseen import unseen
from loopbook.server.pauses import spare_pauses
from loopbook.targets import DEFAULT

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
NEW_EVERY = 100
"""Of the requests after which memory is looked at, so many have one new program among them."""

LOOKED_AT = (1000, 2000, 5000, 10_000, 30_000, 60_000)
"""Requests after which memory is looked at."""

NESTS = (1, 2, 3, 4, 8, 16)


def chain(count: int) -> str:
    """The source of a program of `count` nests: products, and sums that take them up."""
    arrays = ", ".join(f"A{n}" for n in range(count + 2))
    lines = [f"def kernel({arrays}):"]
    for n in range(count):
        if n % 2 == 0:
            lines += [
                f"    for i in range(A{n}.shape[0]):",
                f"        for j in range(A{n}.shape[1]):",
                f"            for k in range(A{n}.shape[0]):",
                f"                A{n + 2}[i, j] += A{n}[i, k] * A{n + 1}[k, j]",
            ]
        else:
            lines += [
                f"    for i in range(A{n}.shape[0]):",
                f"        for j in range(A{n}.shape[1]):",
                f"            A{n + 2}[i, j] = A{n}[i, j] + A{n + 1}[j, i]",
            ]
    return "\n".join(lines) + "\n"


def body_of(count: int, folder: Path, source: str = "") -> dict[str, Any]:
    """What docc's client sends about a program of `count` nests, by default a `chain`."""
    from docc.sdfg import TargetOptions

    from loopbook.sdfg import program
    from loopbook.sdfg.frontend import trace
    from loopbook.workloads.workload import load_workload

    file = folder / f"kernel{uuid.uuid4().hex}.py"
    names = ", ".join(f'"A{n}": np.zeros((N, N))' for n in range(count + 2))
    file.write_text(
        f'import numpy as np\n\nPARAMETERS = {{"S": {{"N": 8}}}}\n\n\n'
        f"def initialize(N):\n    return {{{names}}}\n\n\n{source or chain(count)}"
    )
    workload = load_workload(file)
    sdfg = program.parse(trace(workload.kernel, workload.arguments("S")))
    sdfg.expand(TargetOptions(DEFAULT, "server"))
    sdfg.simplify()
    told = {"target": DEFAULT, "category": "server", "schedule_loops": True}
    return {"sdfg": json.loads(sdfg.to_json())} | told


@dataclass
class Server:
    """A ``loopbook serve`` of one worker, kept to one core."""

    store: str
    core: int
    process: subprocess.Popen[str] = field(init=False)
    url: str = field(init=False)
    token: str = field(init=False)

    def __post_init__(self) -> None:
        self.process, self.url, self.token = serve(
            self.store,
            "--workers",
            "1",
            "--waiting",
            "256",
            *("--rate", "0", "--effort", "0"),  # one token asks for all
            prefix=["taskset", "-c", str(self.core)],
            env={"OMP_NUM_THREADS": "1"},
        )

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)

    def resident(self) -> int:
        """Bytes of the server and all that it started."""
        pages = 0
        waiting = [self.process.pid]
        while waiting:
            pid = waiting.pop()
            try:
                pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                # Workers are children of whatever thread has started them.
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    waiting += map(int, (thread / "children").read_text().split())
            except OSError:
                continue
        return pages * os.sysconf("SC_PAGE_SIZE")


Bodies = Callable[[int], bytes]


def repeated(document: dict[str, Any]) -> Bodies:
    body = json.dumps(document).encode()
    return lambda _: body


def recompiled(document: dict[str, Any]) -> Bodies:
    return lambda number: json.dumps(document | {"session_id": f"{number}"}).encode()


def renamed(document: dict[str, Any]) -> Bodies:
    sdfg = document["sdfg"]
    series = uuid.uuid4().hex[:8]

    def body(number: int) -> bytes:
        other = sdfg | {"name": f"{sdfg['name']}_{series}_{number}"}
        return json.dumps(document | {"sdfg": other}).encode()

    return body


@dataclass
class Load:
    """What came of some seconds of load."""

    seconds: float
    times: list[float]
    refused: int

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    def told(self) -> dict[str, float]:
        times = sorted(self.times) or [float("nan")]
        return {
            "requests_per_s": round(self.rate, 1),
            "median_ms": round(statistics.median(times) * 1e3, 2),
            "p99_ms": round(times[int(0.99 * (len(times) - 1))] * 1e3, 2),
            "refused": self.refused,
        }


async def load(
    server: Server,
    bodies: Bodies,
    seconds: float,
    clients: int,
    rate: float = 0.0,
    most: float = math.inf,
) -> Load:
    """Ask for some seconds, and `most` times.

    Args:
        clients: requests at the same time.
        rate: requests a second in all, at even distances; 0 is as many as are answered.
    """
    headers = {"Authorization": f"Token {server.token}", "Content-Type": "application/json"}
    # One connection each: a pool of many takes longer over them than the server over answers.
    asking = [
        httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) for _ in range(clients)
    ]
    spare_pauses()  # pauses of ours would be taken for the server's
    done = Load(seconds, [], 0)
    begun = time.perf_counter()
    count = 0

    async def ask(client: httpx.AsyncClient) -> None:
        nonlocal count
        async with client:
            while time.perf_counter() - begun < seconds and count < most:
                number, count = count, count + 1
                due = begun + number / rate if rate else time.perf_counter()
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                answer = await client.post("/docc/transfertune_sdfg", content=bodies(number))
                # Of a late start the server is to blame too.
                if answer.status_code == 200:
                    done.times.append(time.perf_counter() - due)
                else:
                    done.refused += 1

    await asyncio.gather(*map(ask, asking))
    done.seconds = time.perf_counter() - begun
    return done


WAYS = {"repeated": repeated, "recompiled": recompiled, "renamed": renamed}


def each(server: Server, document: dict[str, Any], seconds: float, clients: int) -> dict[str, Any]:
    """Full load in every way."""
    told = {}
    for name, way in WAYS.items():
        asyncio.run(load(server, way(document), 1.0, 1))  # warm
        told[name] = asyncio.run(load(server, way(document), seconds, clients)).told()
    return told


def latency(server: Server, options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    document = body_of(3, folder)
    rows = []
    for name, way in WAYS.items():
        full = asyncio.run(load(server, way(document), options.seconds / 2, 4))
        half = asyncio.run(load(server, way(document), options.seconds, 16, full.rate / 2))
        rows.append({"way": name, "full": full.told(), "half": half.told()})
    drawn = Random(options.seed)
    made = [
        json.dumps(body_of(3, folder, unseen(3, drawn))).encode() for _ in range(options.unseen)
    ]
    third = len(made) // 3
    alone = asyncio.run(load(server, lambda n: made[n], math.inf, 1, most=third))
    half = asyncio.run(
        load(
            server, lambda n: made[third + n], math.inf, 16, alone.rate / 2, most=len(made) - third
        )
    )
    return [*rows, {"way": "unseen", "full": alone.told(), "half": half.told()}]


def by_clients(server: Server, options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    document = body_of(3, folder)
    return [{"clients": n, **each(server, document, options.seconds, n)} for n in CLIENTS]


def by_nests(server: Server, options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    return [{"nests": n, **each(server, body_of(n, folder), options.seconds, 4)} for n in NESTS]


def filled(path: Path, records: int) -> None:
    """A book of so many records, whose vectors are clustered around those of the starter's. Their
    nests are the starter's too, so that they can be ported; fingerprints and ids differ."""
    from dataclasses import replace

    from loopbook.client.places import STARTER
    from loopbook.recipes.book import Book
    from loopbook.recipes.embedding import Embedding

    numbers = np.random.default_rng(7)
    with Book.open(STARTER, readonly=True) as starter, Book.open(path) as book:
        items = starter.page("", 1000)
        for begin in range(0, records, 5000):
            batch = []
            for n in range(begin, min(begin + 5000, records)):
                record, (vectors, *_) = items[n % len(items)]
                noise = numbers.normal(scale=0.1, size=vectors.dimension)
                nest = vectors.nest + noise / np.sqrt(vectors.dimension) * 3
                nest /= np.linalg.norm(nest)
                near = Embedding(
                    vectors.encoder,
                    nest,
                    vectors.loops,
                    vectors.containers,
                    vectors.loop_names,
                    vectors.container_names,
                )
                batch.append((replace(record, fingerprint=f"{n:032x}"), [near]))
            book.add_many(batch)


def by_records(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    document = body_of(3, folder)
    rows = []
    for size in options.sizes:
        path = folder / f"book{size}.db"
        filled(path, size)
        server = Server(str(path), options.core)
        try:
            told = each(server, document, options.seconds, 4)
            rows.append({"records": size, **told, "resident_mb": server.resident() >> 20})
        finally:
            server.close()
            path.unlink()
    return rows


def memory(server: Server, options: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    documents = [body_of(n, folder) for n in (1, 2, 3)]
    ways = [[way(one) for one in documents] for way in (repeated, recompiled, renamed)]

    def body(number: int) -> bytes:
        kind = 2 if number % NEW_EVERY == 0 else number % 2
        return ways[kind][number % len(documents)](number)

    done = 0
    for upto in (*(n for n in LOOKED_AT if n < options.requests), options.requests):
        while done < upto:
            count = min(upto - done, 1000)
            asyncio.run(_some(server, body, done, count))
            done += count
        yield {"requests": done, "resident_mb": round(server.resident() / 2**20, 1)}


async def _some(server: Server, bodies: Bodies, first: int, count: int) -> None:
    headers = {"Authorization": f"Token {server.token}"}
    numbers = iter(range(first, first + count))

    async def ask(client: httpx.AsyncClient) -> None:
        for number in numbers:
            answer = await client.post("/docc/transfertune_sdfg", content=bodies(number))
            assert answer.status_code == 200, answer.text

    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as client:
        await asyncio.gather(*(ask(client) for _ in range(8)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Load one server process on one core.")
    parser.add_argument("what", choices=("latency", "clients", "nests", "records", "memory"))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--unseen", type=int, default=300, help="programs never seen")
    parser.add_argument("--seed", type=int, default=4242)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.sched_setaffinity(0, {options.load_core})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.what == "records":
            _print(by_records(options, folder), options.json)
        else:
            server = Server(str(folder / "book.db"), options.core)
            measure = {
                "latency": latency,
                "clients": by_clients,
                "nests": by_nests,
                "memory": memory,
            }[options.what]
            try:
                _print(measure(server, options, folder), options.json)
            finally:
                server.close()


def _print(rows: Iterable[dict[str, Any]], as_json: bool) -> None:
    """Rows as they come."""
    for row in rows:
        print(json.dumps(row) if as_json else _line(row), flush=True)


def _line(row: dict[str, Any]) -> str:
    parts = []
    for name, value in row.items():
        if isinstance(value, dict):
            value = " ".join(f"{k} {v}" for k, v in value.items())
        parts.append(f"{name}: {value}")
    return "  ".join(parts)


if __name__ == "__main__":
    main()
