"""How much a farm does in an hour, what its queue costs, and how soon an answer changes.

    python benchmarks/farm_figures.py growth [--tasks 8] [--trials 16] [--slots 1 2 4] [--json OUT]
    python benchmarks/farm_figures.py hot [--rounds 40] [--json OUT]

``growth``: the same tasks (synthetic nests that the starter book does not know, the seed says
which) with 1, 2 and 4 processes that compile, one time after the other; one process takes times.
What the queue takes is the time in its methods; PostgreSQL keeps what it commits.

``hot``: two servers over one PostgreSQL book. A nest is asked for in vain, a worker ends its task
with a record, and both servers are asked, as docc's client asks, until their answer is another one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kits"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from postgres_kit import Server

from benchmarks.provenance import provenance
from loopbook.embed.inference import Encoder
from loopbook.farm.alone import work
from loopbook.farm.carry import read
from loopbook.farm.machine import Machine
from loopbook.farm.settings import FarmSettings
from loopbook.program.load import load_json
from loopbook.program.trips import iterations, trip_counts
from loopbook.recipes.book import Book
from loopbook.recipes.queue import Queue
from loopbook.recipes.tasks import STATES, TUNE, Ask, Wanted
from loopbook.sdfg.program import cut_from, prepare_apart
from loopbook.sdfg.untrusted import admit
from loopbook.workloads import synthetic
from loopbook.workloads.call import Call

SEED = 4711
TARGET = "sequential"
SIZE = 400

MOST_ITERATIONS = 10**8
"""Of a nest at that size: what runs for minutes says how long nests run, not what a farm does."""


def wanted_of(count: int, seed: int, most: int = MOST_ITERATIONS) -> dict[str, Wanted]:
    """Different synthetic nests that soon end, by fingerprint.

    Args:
        most: iterations of one.
    """
    found: dict[str, Wanted] = {}
    for workload in synthetic.generate(6 * count, seed, tuple(synthetic.FAMILIES)):
        given = workload.arguments(next(iter(workload.parameters)), None)
        text, (nest, *_) = prepare_apart(admit(Call.of(workload, given).text).text)
        sizes = dict.fromkeys(nest.symbols, SIZE)
        if (iterations(nest, trip_counts(nest, sizes)) or 0) > most:
            continue
        found[nest.fingerprint] = Wanted(cut_from(load_json(text), nest), sizes)
        if len(found) == count:
            break
    return found


def growth(options: argparse.Namespace) -> dict[str, Any]:
    machine = Machine.here()
    key = machine.profiles[TARGET].key
    todo = [
        Ask(TUNE, name, TARGET, key, "", 1, wanted)
        for name, wanted in wanted_of(options.tasks, SEED).items()
    ]
    rows = []
    with closing(Server(durable=True)) as server:
        for slots in options.slots:
            store = server.database()
            with Book.open(store) as book:
                book.queue.ask_all(todo)
            settings = FarmSettings(trials=options.trials, builders=slots)
            spent = watched(Queue, ("lease", "extend", "close", "fail"))
            begun = time.monotonic()
            done = work(store, machine, settings, until_empty=True, told=lambda *_: None)
            seconds = time.monotonic() - begun
            with Book.open(store, readonly=True) as book:
                tasks, _ = book.queue.all(STATES)
                best = [
                    max((r.speedup for r in book.exact(one.fingerprint, TARGET)), default=1.0)
                    for one in tasks
                ]
            rows.append(
                {
                    "builders": slots,
                    "tasks": done,
                    "seconds": round(seconds, 1),
                    "an_hour": round(3600 * done / seconds, 1),
                    "queue_share": sum(spent) / seconds,
                    "gain": statistics.geometric_mean(best),
                    "states": [one.state for one in tasks],
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    return {"rows": rows, "trials": options.trials, "seed": SEED, "machine": provenance()}


def watched(kind: type, names: tuple[str, ...]) -> list[float]:
    """Seconds of each call of these methods, from now on."""
    spent: list[float] = []

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                spent.append(time.perf_counter() - begun)

        call.original = function  # type: ignore[attr-defined]
        return call

    for name in names:
        function = getattr(kind, name)
        setattr(kind, name, timed(getattr(function, "original", function)))
    return spent


def hot(options: argparse.Namespace) -> dict[str, Any]:
    import client_kit
    from client_kit import record
    from server_kit import message, serving, token

    machine = Machine.here()
    encoder = Encoder.load()
    waits: list[float] = []
    with ExitStack() as stack:
        store = stack.enter_context(closing(Server(durable=True))).database()
        Book.open(store).close()
        secret = token(store, "lookup")
        servers = [stack.enter_context(serving(store)) for _ in range(2)]
        clients = [stack.enter_context(one.client(secret)) for one in servers]
        book = stack.enter_context(Book.open(store))
        for number in range(options.rounds):
            body = message(client_kit.product)
            body["sdfg"]["name"] += f"_{number}"
            question = json.dumps(body).encode()

            def answers(question: bytes = question) -> list[str]:
                path = "/docc/transfertune_sdfg"
                return [one.post(path, content=question).text for one in clients]

            before = answers()
            while (lease := book.queue.lease("bench", machine.abilities, 60.0)) is None:
                time.sleep(0.05)
            nest = read(lease.document)
            made = record(client_kit.product, client_kit.blocked())
            begun = time.monotonic()
            ending = book.conclude(lease, [(made, [encoder.encode(nest)])])
            assert ending.changed
            while any(a == b for a, b in zip(before, answers(), strict=True)):
                time.sleep(0.02)
            waits.append(time.monotonic() - begun)
            book.delete(made.id)
            book.queue.drop(lease.task.id)
            while answers() != before:
                time.sleep(0.02)
            print(f"{number} {waits[-1]:.3f} s", flush=True)
    cut = statistics.quantiles(waits, n=20)
    told = {"rounds": len(waits), "median_s": statistics.median(waits), "p95_s": cut[-1]}
    return told | {"worst_s": max(waits), "machine": provenance()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    which = parser.add_subparsers(dest="which", required=True)
    grow = which.add_parser("growth")
    grow.add_argument("--tasks", type=int, default=8)
    grow.add_argument("--trials", type=int, default=16)
    grow.add_argument("--slots", type=int, nargs="+", default=[1, 2, 4])
    warm = which.add_parser("hot")
    warm.add_argument("--rounds", type=int, default=40)
    for one in (grow, warm):
        one.add_argument("--json", type=Path)
    options = parser.parse_args()
    told = growth(options) if options.which == "growth" else hot(options)
    print(json.dumps(told, indent=1))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
