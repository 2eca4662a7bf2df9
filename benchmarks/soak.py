"""A server under full load while its world falls apart.

    python benchmarks/soak.py [--minutes 15] [--clients 8] [--json]

On a PostgreSQL of its own (Debian's package), one server answers look-ups and takes contributions
while workers are killed at random, the database is restarted in the middle, and one request in a
hundred is damaged. At the end: every well-formed request was answered rightly, or with an error in
its time; nothing that was acknowledged is lost; all workers are there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kits"))

import client_kit
import httpx
import postgres_kit
import server_kit

from loopbook.recipes import Book, Measurement
from loopbook.server.quarantine import Quarantine
from loopbook.server.tables import open_tables

DEADLINE = 20.0
SPARE = 5.0
"""Seconds that a full machine may add to the deadline on the way."""

PROGRAMS = (client_kit.product, client_kit.product_renamed, client_kit.chain, client_kit.stencil)


class Soak:
    """What happened so far."""

    def __init__(self, server: server_kit.Served, secret: str, minutes: float) -> None:
        self.server = server
        self.secret = secret
        self.until = time.monotonic() + 60 * minutes
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []
        self.acknowledged: list[str] = []
        self.slowest = 0.0
        self._numbers = random.Random(3)
        self._count = 0

    async def client(self) -> None:
        """Ask until time is up."""
        headers = {"Authorization": f"Token {self.secret}"}
        async with httpx.AsyncClient(
            base_url=self.server.url, headers=headers, timeout=DEADLINE + 2 * SPARE
        ) as client:
            while time.monotonic() < self.until:
                self._count += 1
                draw = self._numbers.random()
                begun = time.monotonic()
                try:
                    if draw < 0.01:
                        await self._damaged(client)
                    elif draw < 0.06:
                        await self._contribution(client, self._count)
                    else:
                        await self._lookup(client, self._count)
                except httpx.TransportError as error:
                    self.faults.append(f"no answer: {type(error).__name__} {error}")
                taken = time.monotonic() - begun
                self.slowest = max(self.slowest, taken)
                if taken > DEADLINE + SPARE:
                    self.faults.append(f"an answer took {taken:.1f} s")

    async def _lookup(self, client: httpx.AsyncClient, number: int) -> None:
        kernel = PROGRAMS[number % len(PROGRAMS)]
        # Half of them are new programs, which no answer that was given before fits.
        body = server_kit.sent(kernel, new=None if number % 2 else number)
        answer = await client.post("/docc/transfertune_sdfg", content=body)
        told = answer.json()
        if "sdfg_result" in told:
            tiers = [nest["tier"] for nest in told["results"]]
            right = {"chain": ["exact", "none"]}.get(kernel.__name__, ["exact"])
            if tiers != right or kernel is client_kit.stencil:
                self.faults.append(f"wrong answer about {kernel.__name__}: {tiers}")
            self.outcomes["optimised"] += 1
        elif told.get("error", "").startswith("No match"):
            if kernel is not client_kit.stencil:
                self.faults.append(f"nothing was found for {kernel.__name__}")
            self.outcomes["left to docc"] += 1
        elif "error" in told and answer.status_code in (200, 503):
            self.outcomes[f"error: {told['error'][:40]}"] += 1
        else:
            self.faults.append(f"{answer.status_code} {answer.text[:100]}")

    async def _contribution(self, client: httpx.AsyncClient, number: int) -> None:
        base = client_kit.record(client_kit.product_permuted, "vectorize L0\n")
        measured = (Measurement(2.0 + number / 1e6, 1.0, 0.01, 5, {}),)
        record = replace(base, measurements=measured)
        answer = await client.post("/v1/records", json={"record": record.to_json()})
        if answer.status_code == 201:
            self.acknowledged.append(record.id)
            self.outcomes["contributed"] += 1
        elif answer.status_code in (422, 503):
            self.outcomes["contribution refused"] += 1
        else:
            self.faults.append(f"contribution: {answer.status_code} {answer.text[:100]}")

    async def _damaged(self, client: httpx.AsyncClient) -> None:
        body = bytearray(server_kit.sent(client_kit.product))
        for _ in range(self._numbers.randint(1, 40)):
            body[self._numbers.randrange(len(body))] = self._numbers.randrange(256)
        answer = await client.post("/docc/transfertune_sdfg", content=bytes(body))
        self.outcomes["damaged"] += 1
        if answer.status_code not in (200, 422, 503):
            self.faults.append(f"damaged request: {answer.status_code}")

    async def killer(self) -> None:
        """Kill a worker now and then."""
        while time.monotonic() < self.until:
            await asyncio.sleep(self._numbers.uniform(2, 8))
            workers = self.server.workers()
            if workers:
                os.kill(self._numbers.choice(workers), signal.SIGKILL)
                self.outcomes["workers killed"] += 1


async def run(soak: Soak, postgres: postgres_kit.Server, clients: int, minutes: float) -> None:
    async def restart() -> None:
        await asyncio.sleep(30 * minutes)
        await asyncio.to_thread(postgres.stop)
        await asyncio.sleep(2)
        await asyncio.to_thread(postgres.start)

    await asyncio.gather(restart(), soak.killer(), *(soak.client() for _ in range(clients)))


def main() -> int:
    parser = argparse.ArgumentParser(description="Full load while things break.")
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    postgres = postgres_kit.Server()
    try:
        url = postgres.database()
        with Book.open(url) as book:
            for record in (
                client_kit.record(client_kit.product, client_kit.blocked()),
                client_kit.record(client_kit.stencil, "", 1.0),
            ):
                book.add(record, _vectors(record))
        secret = server_kit.token(url, "lookup", "contribute")
        words = ("--workers", options.workers, "--deadline", DEADLINE, "--rate", 0, "--effort", 0)
        with server_kit.serving(url, *words) as server:
            soak = Soak(server, secret, options.minutes)
            asyncio.run(run(soak, postgres, options.clients, options.minutes))
            time.sleep(10)
            alive = len(server.workers())
        lost = _lost(url, soak.acknowledged)
    finally:
        postgres.close()
    if alive < options.workers:
        soak.faults.append(f"only {alive} workers are left")
    if lost:
        soak.faults.append(f"{lost} acknowledged records are lost")
    told: dict[str, Any] = {
        "outcomes": dict(soak.outcomes.most_common()),
        "slowest_s": round(soak.slowest, 2),
        "acknowledged": len(soak.acknowledged),
        "faults": Counter(soak.faults).most_common(20),
    }
    print(json.dumps(told, indent=None if options.json else 1))
    return 1 if soak.faults else 0


def _vectors(record: Any) -> Any:
    from loopbook.program.load import load_json
    from loopbook.program.nests import read_nests

    return client_kit.encoder().encode(read_nests(load_json(record.nest_json))[0])


def _lost(url: str, acknowledged: list[str]) -> int:
    database = open_tables(url)
    with Book.open(url) as book:
        waiting = {one.id for one in Quarantine(database, book).all(limit=1_000_000)}
        missing = [one for one in acknowledged if one not in waiting and book.record(one) is None]
    database.close()
    return len(missing)


if __name__ == "__main__":
    sys.exit(main())
