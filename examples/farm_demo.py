"""The loop that loopbook is for, on one machine: what nobody knew is learnt, and found next time.

    make farm-demo

A server over a book in PostgreSQL that knows nothing; a Ray cluster of three nodes, processes of
this machine that differ by instruction set or threads; docc's own client, unmodified, which asks
for five programs, gets docc's schedule, and asks again when the farm has tuned them. Each answer of
a program is compared with the Python function, at a size that Python can do, and is timed in turn
with docc's own schedule: machines are busier at one time than at another.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kits"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import farm_programs
from postgres_kit import Server

from benchmarks.serving import serve
from loopbook.recipes.book import Book
from loopbook.recipes.hardware import ISAS
from loopbook.recipes.tasks import DONE, LEASED, STATES, WAITING

TRIALS = 16
PATIENCE_S = 480.0
"""For all tasks together."""

ASSUMED = 1000
"""What the server takes sizes for: docc's client does not tell them, and runs of the products at
its usual 2000 would take most of the demo's time."""

SMALL = {"n": 30, "m": 41}
ROUNDS = 20
TARGET = "sequential"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--out", type=Path, help="JSON of all that was seen")
    options = parser.parse_args()
    if options.client:
        print(json.dumps(client(options.client)))
        return 0
    with ExitStack() as stack:
        return loop(stack, options)


def loop(stack: ExitStack, options: argparse.Namespace) -> int:
    """All of it, one thing after the other."""
    begun = time.monotonic()
    database = stack.enter_context(closing(Server()))
    store = database.database()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    say(begun, "PostgreSQL runs")
    serving, url, token = serve(store, "--no-starter", "--assumed-size", str(ASSUMED))
    stack.callback(end, serving)
    asking = {**os.environ, "RPC_SERVER": f"{url}/docc", "DOCC_ACCESS_TOKEN": token}
    say(begun, f"the server runs at {url}")
    before = {one.__name__: ask(one.__name__, asking) for one in farm_programs.PROGRAMS}
    show(begun, before)
    kinds, _ = cluster(stack, store, folder, options.trials)
    for kind in kinds:
        say(begun, f"node {kind}")
    history = wait(store, begun)
    after = {one.__name__: ask(one.__name__, asking) for one in farm_programs.PROGRAMS}
    show(begun, after)
    mean = statistics.geometric_mean(map(gain, after.values()))
    good = all(row["right"] for row in (*before.values(), *after.values()))
    say(begun, f"geometric mean {mean:.1f}x, numbers {'right' if good else 'WRONG'}")
    if options.out:
        told = {"before": before, "after": after, "mean": mean, "history": history}
        options.out.write_text(json.dumps(told, indent=1))
    return 0 if good and mean >= 2.0 else 1


def say(begun: float, words: str) -> None:
    print(f"{time.monotonic() - begun:6.1f} s  {words}", flush=True)


def show(begun: float, rows: dict[str, dict[str, Any]]) -> None:
    for name, row in rows.items():
        docc, own = row["docc_s"] * 1e3, row["seconds"] * 1e3
        say(begun, f"{name:<18} {docc:8.1f} -> {own:8.1f} ms  {gain(row):5.1f}x  {right(row)}")


def gain(row: dict[str, Any]) -> float:
    return row["docc_s"] / row["seconds"]


def right(row: dict[str, Any]) -> str:
    return "right" if row["right"] else "WRONG"


def ask(name: str, env: dict[str, str]) -> dict[str, Any]:
    """A new process of docc's user: nothing is kept from the last one."""
    words = [sys.executable, __file__, "--client", name]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1:]}")
    return json.loads(done.stdout.splitlines()[-1])


def client(name: str) -> dict[str, Any]:
    """Compile with docc's client, compare with Python, and time in turn with docc alone."""
    import numpy as np

    from loopbook.toolchain import compiler

    compiler.activate()  # docc asks for a clang of a certain name; nothing else is ours here
    from docc.python import native

    function = getattr(farm_programs, name)
    docc = native(target=TARGET)(function)
    program = native(target=TARGET, remote_tuning=True)(function)
    expected, got = (farm_programs.arguments(name, **SMALL) for _ in range(2))
    function(*expected)
    program(*got)
    good = all(np.allclose(a, b, rtol=1e-9) for a, b in zip(expected, got, strict=True))
    given = farm_programs.arguments(name, **farm_programs.PARAMETERS["L"])
    docc(*given)
    times: dict[str, list[float]] = {"docc_s": [], "seconds": []}
    for _ in range(ROUNDS):
        for what, compiled in (("docc_s", docc), ("seconds", program)):
            begun = time.perf_counter()
            compiled(*given)
            times[what].append(time.perf_counter() - begun)
    return {"right": good, **{what: min(each) for what, each in times.items()}}


def cluster(stack: ExitStack, store: str, folder: Path, trials: int) -> tuple[list[str], str]:
    """A head and two nodes, by what this machine can do; what each is, in words, and the head's
    address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    kinds = nodes()
    words = [sys.executable, "-m", "loopbook", "farm", "start"]
    head = [*words, "--store", store, "--head", address, "--trials", str(trials)]
    for number, env in enumerate(kinds.values()):
        command = [*words, "--join", address] if number else head
        log = (folder / f"node{number}.log").open("wb")
        stack.callback(log.close)
        own = {**os.environ, "XDG_CACHE_HOME": str(folder / f"node{number}"), **env}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=own)
        stack.callback(end, process)
    return list(kinds), address


def nodes() -> dict[str, dict[str, str]]:
    """Three nodes that differ: by instruction set, as far as the processor has so many."""
    flags = Path("/proc/cpuinfo").read_text()
    here = [n for n, isa in ISAS.items() if isa.march and all(f in flags for f in isa.flags)]
    found = {f"{one}": {"LOOPBOOK_MARCH": ISAS[one].march} for one in here}
    found[here[0]] = {}  # as it is
    for threads in range(1, 4):
        if len(found) < 3:
            found[f"{here[0]}, {threads} threads"] = {"OMP_NUM_THREADS": str(threads)}
    return dict(list(found.items())[:3])


def wait(store: str, begun: float) -> list[dict[str, Any]]:
    """Wait until nothing waits or is leased; every task with its times."""
    until = time.monotonic() + PATIENCE_S
    counts: dict[str, int] = {}
    with Book.open(store, readonly=True) as book:
        while time.monotonic() < until:
            now = book.queue.counts()
            if now != counts:
                counts = now
                say(begun, ", ".join(f"{count} {state}" for state, count in counts.items()))
            if counts[DONE] and not counts[WAITING] and not counts[LEASED]:
                break
            time.sleep(1)
        else:
            print("the farm did not finish in time", file=sys.stderr)
        return [task.told(book.queue.now()) for task in book.queue.all(STATES)[0]]


def end(process: subprocess.Popen[Any]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    raise SystemExit(main())
