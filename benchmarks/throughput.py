"""How many candidates a search measures in a minute, where the time goes, and what it takes.

    python benchmarks/throughput.py [--target sequential] [--candidates 200] [--strategy S] [--json]

Searches recipes for a double matrix product whose untuned nest runs for about a millisecond, on all
cores that the process may use, for each target. Prints candidates a minute, the seconds that
builders spent on applying recipes and on compiling, the runner on measuring and the tuner on
waiting, how many candidates had the same code as an earlier one, and the largest resident memory of
the tuner's own process, of its builders and of its runner. ``--candidates 5000`` tells whether
memory grows with the search.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from loopbook.targets import TARGETS, named

PROGRAM = """\
import numpy as np

PARAMETERS = {"S": {"N": 40}, "MILLISECOND": {"N": 130}}


def initialize(N):
    random = np.random.default_rng(N)
    return {"A": random.random((N, N)), "B": random.random((N, N)), "C": np.zeros((N, N))}


def kernel(A, B, C):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""

PRESET = "MILLISECOND"

INTERVAL = 0.2
"""Seconds between two looks at the processes' memory."""


class Watch:
    """Notes the largest resident memory of the tuner, its builders and its runner, in MiB."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.peak: Counter[str] = Counter()

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(INTERVAL):
            runner, builders = self._session.pool.pids
            for name, pids in {
                "tuner": [os.getpid()],
                "runner": [runner],
                "builder": builders,
            }.items():
                self.peak[name] = max(self.peak[name], *map(_resident, pids))


def _resident(pid: int) -> int:
    """Resident memory of a process that is not shared with files, MiB; 0 if there is none."""
    try:
        words = Path(f"/proc/{pid}/statm").read_text().split()
    except OSError:
        return 0
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def measure(target: str, candidates: int, strategy: str, folder: Path) -> dict[str, Any]:
    """One search."""
    from loopbook.client.hardware import local_profile
    from loopbook.tuner.log import TrialLog
    from loopbook.tuner.search import search
    from loopbook.tuner.session import Session
    from loopbook.tuner.settings import Settings
    from loopbook.tuner.task import PythonTask
    from loopbook.workloads.workload import load_workload

    path = folder / "product.py"
    path.write_text(PROGRAM)
    hardware = local_profile(named(target).threads)
    log = TrialLog(folder / f"{target}.jsonl", {})
    task = PythonTask(load_workload(path))
    with Session(task, PRESET, target, threads=hardware.threads) as session:
        _ = session.pool  # the watch must not make it
        begun = time.monotonic()
        with Watch(session) as watch:
            search(session, hardware, Settings(target, candidates, strategy), log)
        seconds = time.monotonic() - begun
        usage = session.usage
    known = sum("same code" in trial.message for trial in log.trials)
    return {
        "target": target,
        "strategy": strategy,
        "candidates": candidates,
        "seconds": round(seconds, 1),
        "per_minute": round(60 * candidates / seconds, 1),
        "baseline_ms": round(1e3 * session.baseline_s, 3),
        "best_speedup": round(max(trial.speedup for trial in log.trials), 2),
        "applying_s": round(usage.steps, 1),
        "compiling_s": round(usage.compiling, 1),
        "measuring_s": round(usage.measuring, 1),
        "waiting_s": round(usage.waiting, 1),
        "compiled": usage.built,
        "measured": usage.measured,
        "same_code": known,
        "status": dict(Counter(trial.status for trial in log.trials)),
        "peak_mib": dict(watch.peak),
    }


def show(row: dict[str, Any]) -> None:
    print(
        f"{row['target']}, {row['strategy']}: {row['candidates']} candidates in"
        f" {row['seconds']:.0f} s, {row['per_minute']:.0f} a minute"
        f" (baseline {row['baseline_ms']:.2f} ms, best {row['best_speedup']:.1f}×)"
    )
    for name in ("applying", "compiling", "measuring", "waiting"):
        each = 1e3 * row[f"{name}_s"] / row["candidates"]
        print(f"  {name:<10} {row[f'{name}_s']:>8.1f} s {each:>8.0f} ms a candidate")
    print(
        f"  compiled {row['compiled']}, measured {row['measured']}, same code {row['same_code']};",
        ", ".join(f"{kind} {count}" for kind, count in row["status"].items()),
    )
    print("  memory", ", ".join(f"{name} {mib} MiB" for name, mib in row["peak_mib"].items()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Count candidates a minute, time and memory.")
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--strategy", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    from loopbook.toolchain.compiler import activate
    from loopbook.tuner.strategies import DEFAULT

    activate()
    with tempfile.TemporaryDirectory() as folder:
        for target in options.target or TARGETS:
            row = measure(target, options.candidates, options.strategy or DEFAULT, Path(folder))
            if options.json:
                print(json.dumps(row), flush=True)
            else:
                show(row)


if __name__ == "__main__":
    main()
