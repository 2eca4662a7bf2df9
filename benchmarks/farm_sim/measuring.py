"""What the database takes for each operation of the loop: time that a client waits, and processor
time of PostgreSQL itself.

The time waited is the first decile: on a core that others use as well, most operations wait some
milliseconds for their turn, which is no matter of the database.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "kits"))

from benchmarks.work_queue import MOST, ask_for, fill
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import KINDS, Abilities, Lease

ALONE = ("miss_new", "miss_again", "add_record")
"""Operations that lock the whole book, see `loopbook.recipes.connect.Database.writing`."""


def measure(tasks: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Milliseconds by operation, on a server of its own, whose commits survive a power cut."""
    import postgres_kit
    import recipes_samples

    document = json.dumps({"nest": os.urandom(2500).hex() * 4})
    server = postgres_kit.Server(durable=True)
    assert server._process is not None
    parent = server._process.pid
    try:
        with Book.open(server.database()) as book:
            queue = book.queue
            queue.prepare()
            fill(queue._database, tasks, document)
            able = Abilities(KINDS, {"sequential": MOST})
            other = Abilities(KINDS, {"sequential": "neon-1t-00000000"})
            held: list[Lease] = []

            def lease() -> None:
                one = queue.lease("benchmark", able, 600)
                assert one is not None
                held.append(one)

            def miss(number: int, *, new: bool) -> None:
                wanted = ask_for(number, MOST, document).wanted if new else None
                book.note_miss(f"{number:032x}", "sequential", MOST, wanted=wanted)

            acts: dict[str, Callable[[int], Any]] = {
                "lease": lambda _: lease(),
                "extend": lambda n: queue.extend(held[n], 600),
                "fail": lambda _: queue.fail(held.pop(), "for no reason"),
                "poll": lambda _: queue.lease("benchmark", other, 600),
                "miss_new": lambda n: miss(2 * tasks + n, new=True),
                "miss_again": lambda n: miss(n % tasks, new=False),
                "add_record": lambda n: book.add(
                    recipes_samples.record(n), recipes_samples.embedding(n)
                ),
                "stamp": lambda _: book.stamp,
            }
            found = {name: _timed(act, rounds, parent) for name, act in acts.items()}
            for _ in range(rounds):
                lease()
            found["finish"] = _timed(lambda _: queue.finish(held.pop()), rounds, parent)
    finally:
        server.close()
    return {name: one | {"alone": name in ALONE} for name, one in found.items()}


def _timed(act: Callable[[int], Any], rounds: int, parent: int) -> dict[str, float]:
    before = _processor_s(parent)
    times = []
    for number in range(rounds):
        at = time.perf_counter()
        act(number)
        times.append(time.perf_counter() - at)
    spent = _processor_s(parent) - before
    return {
        "ms": round(1e3 * sorted(times)[rounds // 10], 3),
        "cpu_ms": round(1e3 * spent / rounds, 3),
    }


def _processor_s(parent: int) -> float:
    """Of all of a PostgreSQL server's processes."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = file.read_text().rsplit(")", 1)
        except OSError:
            continue
        fields = rest.split()
        if name.endswith("(postgres") and int(fields[1]) == parent:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")
