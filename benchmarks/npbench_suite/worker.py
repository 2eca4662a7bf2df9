"""One system and one program in a process of its own.

    python -m benchmarks.npbench_suite.worker JOB

``JOB`` is JSON (see `Job`). Answers and requests are JSON lines on standard output and input.
``ready`` and ``ran`` come by themselves: the program is loaded, its first call is over (which
compiles), its results are in the job's file. Then the worker answers:

- ``turn`` with the seconds of some runs, how many cores they kept busy and its resident memory;
- ``calls N`` with the seconds of N calls and its resident memory after them;
- ``overhead`` with the seconds of a call that has next to nothing to do, for the same arguments.

``failed`` ends it. What the system itself prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

from benchmarks.systems.child import die_with_parent

TURN_SECONDS = 0.05
TURN_RUNS = 10
"""A turn of a short program is several runs: no more than so many, and none begins later."""


@dataclass(frozen=True)
class Job:
    """What a worker does.

    Attributes:
        checkout: of NPBench.
        version: of the program, ``numpy`` or ``numba_np``.
        cores: what the process may use.
        memory: bytes of data that the process may have.
        data: the folder with the arguments, which the first worker makes.
        results: the file for the first call's results (``.npz``); empty if nobody wants them.
        call: whether there is a first call (``overhead`` needs none).
        nudge: change arguments by up to one unit in the last place, at random from this seed; 0:
            leave them.
    """

    checkout: str
    program: str
    system: str
    version: str
    preset: str
    threads: int
    cores: tuple[int, ...]
    memory: int
    data: str
    results: str = ""
    call: bool = True
    nudge: int = 0

    def text(self) -> str:
        return json.dumps(asdict(self))


SETTLING_SECONDS = 60.0
"""After first calls of more seconds, those that follow are timed whatever they do."""


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    die_with_parent()
    os.sched_setaffinity(0, set(job.cores))
    resource.setrlimit(resource.RLIMIT_DATA, (job.memory, job.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(event: str, **content: Any) -> None:
        answers.write(json.dumps({"event": event, **content}) + "\n")

    try:
        _serve(job, sys.stdin, answer)
    except Exception as error:
        words = " ".join(str(error).split())[:300]
        answer("failed", kind="failed", reason=f"{type(error).__name__}: {words}")
        raise


def _serve(job: Job, requests: TextIO, answer: Callable[..., None]) -> None:
    # What follows reads the environment and the cores when it is imported.
    import numpy as np

    from benchmarks.npbench_suite import inputs, programs, systems

    program = programs.find(Path(job.checkout))[job.program]
    folder = Path(job.data)
    if folder.exists():
        values = inputs.load(folder)
    else:
        values = program.arguments(job.preset)
        inputs.save(folder, values)
    if job.nudge:
        values = inputs.nudged(values, job.nudge)
    begun = time.perf_counter()
    ready = systems.ready(job.system, program, job.version, job.preset, values, job.threads)
    answer("ready", seconds=time.perf_counter() - begun)
    kept = {place: np.copy(v) for place, v in enumerate(values) if isinstance(v, np.ndarray)}

    def once() -> tuple[float, float, Any]:
        for place, value in kept.items():
            np.copyto(values[place], value)
        begun, spent = time.perf_counter(), time.process_time()
        returned = ready.call(values)
        return time.perf_counter() - begun, time.process_time() - spent, returned

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        taken, _, returned = once() if job.call else (0.0, 0.0, None)
        if job.results:
            np.savez(job.results, allow_pickle=False, **program.results(values, returned))
        del returned
    # What a run leaves as it was need not be kept twice: at the largest sizes these are gigabytes.
    for place in [p for p, v in kept.items() if _same(values[p], v)]:
        del kept[place]
    answer("ran", seconds=taken, notes=ready.notes(warned), resident=_resident())
    unlike = ready.settling if taken < SETTLING_SECONDS else 0
    for request in requests:
        what, *rest = request.split()
        if what == "turn":
            times, processor = [], 0.0
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                for _ in range(unlike):
                    once()
                unlike = 0
                while not times or (sum(times) < TURN_SECONDS and len(times) < TURN_RUNS):
                    taken, spent, _ = once()
                    times.append(taken)
                    processor += spent
            answer(
                what,
                seconds=times,
                busy=processor / sum(times),
                resident=_resident(),
                notes=systems.how(warned),
            )
        elif what == "calls":
            seconds = sum(once()[0] for _ in range(int(rest[0])))
            answer(what, seconds=seconds, resident=_resident())
        elif what == "overhead":
            from benchmarks.npbench_suite.overhead import overhead

            answer(what, seconds=overhead(job.system, program, values, job.threads))


def _same(one: Any, other: Any) -> bool:
    import numpy as np

    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


def _resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
