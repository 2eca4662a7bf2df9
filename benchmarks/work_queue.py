"""How long asking for a task and leasing one take, with many tasks in the queue.

    python benchmarks/work_queue.py [--tasks 100000] [--rounds 500] [--only sqlite|postgresql]

Fills the queue of a new book, a file and one on a PostgreSQL server of its own, with tasks for two
classes of hardware. Then it times, in turn: an ask for a nest that nobody has asked for, one for a
nest that is in the queue, a lease, a report that it is done, and a lease by a worker whose class of
hardware has no tasks but the few least wanted. Limits: 5 ms on PostgreSQL, 20 ms on SQLite.

``null`` is a transaction that writes one small value: what the database takes at least. What is
committed survives a power cut on both, as it does for users.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kits"))

from loopbook.recipes._task_rows import new_row
from loopbook.recipes.book import Book
from loopbook.recipes.connect import Database
from loopbook.recipes.schema import TASKS, new_stamp, write_meta
from loopbook.recipes.tasks import KINDS, TUNE, Abilities, Ask, Wanted

LIMITS_MS = {"sqlite": 20.0, "postgresql": 5.0}
MOST, FEW = "avx512-1t-00000000", "sse2-1t-00000000"
BATCH = 1000


def ask_for(number: int, key: str, document: str) -> Ask:
    wanted = Wanted(document, {"N": 1000 + number % 7}, 1e-4 * (1 + number % 1000), 2.0)
    return Ask(TUNE, f"{number:032x}", "sequential", key, wanted=wanted)


def fill(database: Database, count: int, document: str) -> None:
    """Put tasks into the table as asking for them would, many at a time."""
    now = time.time()
    for first in range(0, count, BATCH):
        rows = [
            new_row(ask_for(n, FEW if n % 1000 == 0 else MOST, document), now - n % 86400)
            for n in range(first, min(first + BATCH, count))
        ]
        with database.writing() as connection:
            connection.execute(sa.insert(TASKS), rows)
    if database.path is None:
        with database.writing() as connection:
            connection.execute(sa.text("ANALYZE tasks"))


def measure(location: str, count: int, rounds: int, document: str) -> dict[str, list[float]]:
    """Milliseconds of each operation."""
    most = Abilities(KINDS, {"sequential": MOST, "openmp": MOST})
    few = Abilities(KINDS, {"sequential": FEW, "openmp": FEW})
    times: dict[str, list[float]] = {}

    def timed(name: str, act: Callable[[], Any]) -> Any:
        begun = time.perf_counter()
        result = act()
        times.setdefault(name, []).append((time.perf_counter() - begun) * 1e3)
        return result

    with Book.open(location) as book:
        queue, database = book.queue, book.queue._database
        queue.prepare()
        fill(database, count, document)

        def null() -> None:
            with database.writing() as connection:
                write_meta(connection, "stamp", new_stamp())

        for number in range(-20, rounds):
            if number == 0:
                times.clear()  # the first few were for warming up
            timed("null", null)
            timed("ask, new", lambda n=number: queue.ask(ask_for(count + 50 + n, MOST, document)))
            timed("ask, there", lambda n=number: queue.ask(ask_for(n % count, MOST, document)))
            lease = timed("lease", lambda: queue.lease("benchmark", most, 600))
            assert lease is not None
            assert timed("finish", lambda one=lease: queue.finish(one)).changed
            rare = timed("lease, rare class", lambda: queue.lease("benchmark", few, 600))
            if rare is not None:
                queue.drop(rare.task.id)
                queue.ask(ask_for(2 * count + 100 + number, FEW, document))
    return times


@contextmanager
def places(only: str | None) -> Iterator[dict[str, str]]:
    """Where books are made, by the kind of database."""
    import postgres_kit

    with tempfile.TemporaryDirectory() as folder:
        found = {"sqlite": str(Path(folder) / "book.db")}
        wants = only != "sqlite" and postgres_kit.programs() is not None
        server = postgres_kit.Server(durable=True) if wants else None
        try:
            if server is not None:
                found["postgresql"] = server.database()
            yield {name: place for name, place in found.items() if only in (None, name)}
        finally:
            if server is not None:
                server.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--bytes", type=int, default=20_000, help="of a nest's document")
    parser.add_argument("--only", choices=sorted(LIMITS_MS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    document = json.dumps({"nest": os.urandom(options.bytes // 8).hex() * 4})
    worst = 0.0
    with places(options.only) as found:
        for name, place in found.items():
            taken = measure(place, options.tasks, options.rounds, document)
            for act, times in taken.items():
                cut = statistics.quantiles(times, n=100)
                row = {"median_ms": cut[49], "p99_ms": cut[98], "most_ms": max(times)}
                if act != "null":
                    worst = max(worst, row["p99_ms"] / LIMITS_MS[name])
                if options.json:
                    print(json.dumps({"database": name, "act": act} | row), flush=True)
                else:
                    told = "  ".join(f"{key} {value:8.2f}" for key, value in row.items())
                    print(f"{name:<11} {act:<18} {told}", flush=True)
    return 1 if worst > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
