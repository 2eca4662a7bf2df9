"""A real farm of three nodes on this machine, for the simulator to be compared with.

    python benchmarks/farm_run.py --out MEASURED.json [--tasks 18] [--trials 6] [--iterations 1e7]
    python benchmarks/farm_simulation.py compare MEASURED.json

PostgreSQL, a Ray head and two nodes as in ``make farm-demo``, twice, with empty books and the same
synthetic nests: the first run, to which all come at once, tells how long tasks take, from which the
second one is predicted, to which they come in two bursts and in another order: who gets which task
when, and how long all wait. (With other nests in the second run, or with times drawn, what is
compared is how long single nests take: of 18 tasks three take half of the time.)
Times from a task's lease to its end hold all that there is between: Ray, the start of a process,
the jail, the search.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kits"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from farm_demo import cluster
from postgres_kit import Server

from benchmarks.farm_figures import MOST_ITERATIONS, TARGET, wanted_of
from benchmarks.farm_sim import measured
from benchmarks.provenance import provenance
from loopbook.farm.settings import FarmSettings
from loopbook.farm.status import status_of
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import DEAD, DONE, LEASED, STATES, TUNE, Ask, Wanted

Made = tuple[str, Wanted]
"""A nest by its fingerprint."""

SEED = 11
LOOK_S = 0.1
LIMIT_S = 900.0
GAP_S = 30.0
"""Between the two bursts of the second run."""

DATABASE = Path(__file__).resolve().parent / "results" / "farm-measured.json"


class Seen(NamedTuple):
    """One task of a run: seconds from the run's beginning."""

    key: str
    name: str
    asked: float
    leased: float
    ended: float
    state: str


def run(book: Book, asks: list[tuple[float, Ask]]) -> list[Seen]:
    """Ask for tasks at their times, and watch until all have ended."""
    begun, waiting = time.monotonic(), sorted(asks, key=lambda one: one[0])
    asked: dict[str, tuple[float, Ask]] = {}
    leased: dict[str, float] = {}
    ended: dict[str, tuple[float, str]] = {}
    while waiting or len(ended) < len(asked):
        now = time.monotonic() - begun
        if now > LIMIT_S:
            raise SystemExit("the farm did not finish in time")
        while waiting and waiting[0][0] <= now:
            moment, ask = waiting.pop(0)
            asked[book.queue.ask(ask).task] = moment, ask
        for task in book.queue.all(STATES, limit=10_000)[0]:
            if task.id in asked and task.state == LEASED:
                leased.setdefault(task.id, now)
            if task.id in asked and task.state in (DONE, DEAD) and task.id not in ended:
                ended[task.id] = now, task.state
                print(f"{now:6.1f} s  {len(ended)} of {len(asks)}  {task.state}", flush=True)
        time.sleep(LOOK_S)
    return [
        Seen(ask.hardware_key, ask.fingerprint, moment, leased.get(one, moment), *ended[one])
        for one, (moment, ask) in asked.items()
    ]


def asks_for(keys: list[str], nests: Sequence[Made], bursts: int) -> list[tuple[float, Ask]]:
    """Tasks for the classes in turn, in bursts, each in an order of its own."""
    asks = [
        Ask(TUNE, fingerprint, TARGET, keys[number % len(keys)], "", 1, wanted)
        for number, (fingerprint, wanted) in enumerate(nests)
    ]
    Random(bursts).shuffle(asks)
    return [(GAP_S * (number * bursts // len(asks)), ask) for number, ask in enumerate(asks)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tasks", type=int, default=18)
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--iterations", type=float, default=MOST_ITERATIONS)
    options = parser.parse_args()
    nests = [*wanted_of(options.tasks, SEED, int(options.iterations)).items()]
    keys, first = whole(nests, 1, options.trials)
    _, second = whole(nests, 2, options.trials)
    options.out.write_bytes(msgspec.json.format(msgspec.json.encode(told(keys, first, second))))
    print(json.dumps({"observed": told(keys, first, second).observed}, indent=1))


def whole(nests: Sequence[Made], bursts: int, trials: int) -> tuple[list[str], list[Seen]]:
    """The classes of the nodes of a new farm, and what becomes of tasks that it is asked for."""
    with ExitStack() as stack:
        store = stack.enter_context(closing(Server(durable=True))).database()
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        book = stack.enter_context(Book.open(store))
        kinds, address = cluster(stack, store, folder, trials)
        nodes: list[dict[str, Any]] = []
        until = time.monotonic() + 300
        while len(nodes) < len(kinds) and time.monotonic() < until:
            time.sleep(2)
            try:
                nodes = status_of(store, address)["nodes"]
            except Exception as error:  # the head is not there yet
                print(error, flush=True)
        keys = sorted(one["hardware"][TARGET] for one in nodes)
        print(f"nodes {keys}", flush=True)
        return keys, run(book, asks_for(keys, nests, bursts))


def told(keys: list[str], first: list[Seen], second: list[Seen]) -> measured.Measured:
    """What the simulator is told: times of tasks by the first run, what happened by the second."""
    base = measured.read(DATABASE)
    settings = FarmSettings()
    classes = []
    for key in dict.fromkeys(keys):
        own = [one for one in first if one.key == key]
        failed = [one for one in own if one.state == DEAD]
        classes.append(
            measured.MachineClass(
                name=key,
                nodes=keys.count(key),
                service_s=[one.ended - one.leased for one in own],
                share=keys.count(key),
                failure=len(failed) / len(own),
                for_good=1.0 if failed else 0.0,
            )
        )
    begun, over = min(one.asked for one in second), max(one.ended for one in second)
    waits = [one.ended - one.asked for one in second]
    return measured.Measured(
        classes=classes,
        database=base.database,
        servers=measured.Servers(refresh_s=0.01),
        leasing=measured.Leasing(settings.lease_s, settings.lease_s / 3, settings.poll_s),
        trace=[(one.asked, one.name, one.key) for one in second],
        service_of={one.name: one.ended - one.leased for one in first},
        observed={
            "makespan_s": over - begun,
            "tasks_per_hour": 3600 * len(second) / (over - begun),
            "wait_median_s": statistics.median(waits),
            "wait_p95_s": statistics.quantiles(waits, n=20)[-1],
        },
        provenance={"machine": provenance(), "command": " ".join(sys.argv)},
    )


if __name__ == "__main__":
    main()
