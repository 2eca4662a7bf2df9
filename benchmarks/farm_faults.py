"""Whether a farm loses, doubles or forgets a task while all its parts are killed at random.

    python benchmarks/farm_faults.py --out FOLDER [--tasks 300] [--tuned 94] [--kills 50]
        [--every 12] [--seed 0] [--search 40] [--limit 1500]

On this machine: PostgreSQL as users have it, two servers that are asked all the time, a head and
two nodes, of three classes of hardware. Some tasks are nests to tune, in jails; the others are
vectors to make; five cannot be done and must end in the dead letter. Meanwhile ``SIGKILL`` goes
to the process that times in a jail (runner), one that compiles there (builder), a task's own
process (worker), a raylet (node), the cluster's head, the dispatcher (driver), a ``loopbook farm
start`` (supervisor), a server, and PostgreSQL: each four times or more, in random order, at random
moments. Who was started by hand is started again a second later, as systemd would; nothing else is
done.

At the end every task must have ended once, as it had to; the records of a task are in the book, and
no others; nothing that was started is left. FOLDER gets ``result.md``, ``kills.json`` and the logs;
nests that are made are kept there for the next run. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "kits")]

import postgres_kit  # noqa: E402

from benchmarks.farm_faults_machines import KINDS, Machines, kinds_of_nodes  # noqa: E402
from benchmarks.farm_faults_tasks import Tasks, places  # noqa: E402
from benchmarks.farm_faults_watch import Kill, Watch, rows  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from loopbook.recipes.book import Book  # noqa: E402
from loopbook.recipes.tasks import STATES  # noqa: E402

LEASE_S, PAUSE_S = 20, 1
SEEK_S = 6.0
"""For a process of a kind that there is only now and then."""

LEAST = 4
CHEAP = ("runner", "builder", "worker")

FEWEST_S = 3.0
"""Between two kills, on average."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--tuned", type=int, default=94, help="nests to tune among the tasks")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--every", type=float, default=12.0, help="seconds between kills at most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--search", type=float, default=40.0, help="seconds of a search at most")
    parser.add_argument("--limit", type=float, default=1500.0, help="seconds for all tasks")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    options.out.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    classes = places(kinds_of_nodes())
    kept = options.out / "nests.json"
    tasks = Tasks(options.tasks, options.tuned, options.seed, classes, kept)
    say(begun, "the nests are made")
    with closing(postgres_kit.Server(durable=True)) as database:
        store = database.database()
        with Book.open(store) as book:
            count = tasks.ask(book)
        farm = ["--trials", str(options.trials), "--lease-time", str(LEASE_S)]
        farm += ["--search-time", str(options.search), "--pause-time", str(PAUSE_S)]
        machines = Machines(store, database, options.out, farm)
        try:
            watch = Watch(store, count, machines)
            try:
                kills, taken = course(machines, watch, options, begun)
            finally:
                watch.end()
        finally:
            wrong = machines.end()
        while database.ended:
            database.start()
        with Book.open(store, readonly=True) as book:
            wrong += watch.faults + tasks.faults(book, count)
            told = [one.to_json() for one in book.queue.all(STATES, limit=count)[0]]
    lines = report(options, kills, watch, told, taken, wrong)
    (options.out / "result.md").write_text("\n".join(lines) + "\n")
    plain = [{**one._asdict(), "after": watch.after(one)} for one in kills]
    (options.out / "kills.json").write_text(json.dumps({"kills": plain, "tasks": told}, indent=1))
    print("\n".join(lines))
    return 1 if wrong else 0


def course(
    machines: Machines, watch: Watch, options: argparse.Namespace, begun: float
) -> tuple[list[Kill], float]:
    """Wait for the first task, kill, and wait for the last one; the kills, and seconds in all."""
    random = Random(options.seed)
    until = time.monotonic() + options.limit
    started = last = time.monotonic()
    kills: list[Kill] = []
    plan = planned(options.kills, random)
    moment = 0.0
    while watch.left and time.monotonic() < until:
        now = time.monotonic()
        if now - last > 10:
            last = now
            say(begun, f"{len(kills)} kills, {shown(watch.counts)}")
        if not watch.ended:
            time.sleep(0.2)
            continue
        moment = moment or now + random.expovariate(1 / options.every)
        if plan and now >= moment:
            kill = struck(machines, plan[0], random)
            plan = plan[1:] if kill else [*plan[1:], plan[0]]  # its kind comes later
            if kill is not None:
                kills.append(kill)
                say(begun, f"killed {kill.kind} of {kill.unit}; {shown(watch.counts)}")
            # As the tasks go, the kills are spread over what is left of them.
            rest = watch.left * (now - started) / watch.ended
            mean = min(max(0.8 * rest / max(len(plan), 1), FEWEST_S), options.every)
            moment = time.monotonic() + random.expovariate(1 / mean)
        time.sleep(0.1)
    taken = time.monotonic() - started
    say(begun, f"{len(kills)} kills, {shown(watch.counts)}, {watch.left} left")
    return kills, taken


def planned(count: int, random: Random) -> list[str]:
    """Kinds in random order: each `LEAST` times, and then those after which the others go on."""
    found = [*KINDS * LEAST][:count]
    found += [CHEAP[number % len(CHEAP)] for number in range(count - len(found))]
    random.shuffle(found)
    return found


def struck(machines: Machines, kind: str, random: Random) -> Kill | None:
    """Kill a process of a kind, if there comes one."""
    until = time.monotonic() + SEEK_S
    while time.monotonic() < until:
        found = machines.victim(kind, random)
        if found is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(found[1], signal.SIGKILL)
                return Kill(kind, found[0], time.monotonic())
        time.sleep(0.02)
    return None


def report(
    options: argparse.Namespace,
    kills: list[Kill],
    watch: Watch,
    told: list[dict[str, object]],
    taken: float,
    wrong: list[str],
) -> list[str]:
    """What came of it, as Markdown."""
    ends = Counter(f"{one['kind']} {one['state']}" for one in told)
    attempts = Counter(int(str(one["attempts"])) for one in told)
    again = ", ".join(f"{many} after {n}" for n, many in sorted(attempts.items()))
    return [
        f"{len(told)} tasks, {len(kills)} kills in {taken:.0f} s. Seed {options.seed}, leases of "
        f"{LEASE_S} s, searches of at most {options.search:g} s, {options.trials} candidates.",
        provenance(),
        "",
        *rows(kills, watch),
        "",
        f"Ends: {', '.join(f'{many} {name}' for name, many in sorted(ends.items()))}.",
        f"Leases that it took: {again}.",
        f"Servers: {', '.join(f'{many} {name}' for name, many in watch.outcomes.most_common())}.",
        "",
        *(wrong or ["Nothing is wrong."]),
    ]


def shown(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in counts.items())


def say(begun: float, words: str) -> None:
    print(f"{time.monotonic() - begun:7.1f} s  {words}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
