"""One system in a process of its own: compiles a kernel once, runs it when asked.

    python -m benchmarks.systems.worker JOB

``JOB`` is JSON (see `Job`). Answers and requests are JSON lines on standard output and input:
``compiled`` and ``checked`` come by themselves, the results of the first run are in the job's file
by then; each line ``run`` is answered by ``ran`` with the seconds of some runs and how many cores
they kept busy (``processor``). ``failed`` ends it. What the system itself prints goes to standard
error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TextIO

from benchmarks.systems.child import die_with_parent

TURN_SECONDS = 0.05
TURN_RUNS = 10
"""A turn of a short kernel is several runs: no more than so many, and none begins later."""


@dataclass(frozen=True)
class Job:
    """What a worker does.

    Attributes:
        module: where the system is.
        attribute: its name there.
        results: the file for the first run's results (``.npz``).
        cores: what the process may use.
    """

    module: str
    attribute: str
    kernel: str
    preset: str
    threads: int
    results: str
    cores: tuple[int, ...]

    def text(self) -> str:
        return json.dumps(asdict(self))


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    die_with_parent()
    os.sched_setaffinity(0, set(job.cores))
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(event: str, **content: Any) -> None:
        answers.write(json.dumps({"event": event, **content}) + "\n")

    try:
        _serve(job, sys.stdin, answer)
    except Exception as error:
        kind = "unsupported" if type(error).__name__ == "Unsupported" else "failed"
        words = " ".join(str(error).split())[:300]
        own = kind == "unsupported" or type(error).__module__.startswith("loopbook")
        answer("failed", kind=kind, reason=words if own else f"{type(error).__name__}: {words}")
        raise


def _serve(job: Job, requests: TextIO, answer: Callable[..., None]) -> None:
    # What follows reads the environment and the cores when it is imported.
    import numpy as np

    from loopbook.workloads import polybench

    begun = time.perf_counter()
    system = getattr(importlib.import_module(job.module), job.attribute)
    workload = polybench.load(job.kernel)
    given = workload.arguments(job.preset)

    def copies() -> list[Any]:
        return [v.copy() if isinstance(v, np.ndarray) else v for v in given]

    run = system.compile(job.kernel, workload, copies(), job.threads)
    answer("compiled", seconds=time.perf_counter() - begun)
    values = copies()

    def once() -> tuple[float, float, Any]:
        for place, value in enumerate(given):
            if isinstance(value, np.ndarray):
                np.copyto(values[place], value)
        begun, spent = time.perf_counter(), time.process_time()
        returned = run(values)
        return time.perf_counter() - begun, time.process_time() - spent, returned

    taken, _, returned = once()
    results = workload.results(values)
    if returned is not None:
        more = returned if isinstance(returned, tuple | list) else [returned]
        results = results + [np.asarray(value) for value in more]
    np.savez(job.results, *results)
    answer("checked", seconds=taken)
    for _ in requests:
        times, processor = [], 0.0
        while not times or (sum(times) < TURN_SECONDS and len(times) < TURN_RUNS):
            taken, spent, _ = once()
            times.append(taken)
            processor += spent
        answer("ran", seconds=times, processor=processor / sum(times))


if __name__ == "__main__":
    main()
