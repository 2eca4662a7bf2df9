"""A worker's child may die in any way: that is the failure of one job, and the next one is done."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sdfg_kit import children
from wait_kit import wait_until

from loopbook.errors import (
    CompilerError,
    DeadlineError,
    IllegalStepError,
    KernelError,
    LoopbookError,
    MemoryLimitError,
)
from loopbook.toolchain import worker as workers
from loopbook.toolchain.worker import Worker


def do(what: str, *args: Any) -> Any:
    """The jobs of these tests, by name."""
    return JOBS[what](*args)


def _raise(error: BaseException) -> None:
    raise error


def _say_and_abort(words: bytes) -> None:
    os.write(2, words)
    os.abort()


def _start(path: str) -> None:
    """Start a process that outlives us, tell its id, and hang."""
    Path(path).write_text(str(subprocess.Popen(["sleep", "300"]).pid))
    while True:
        time.sleep(1)


def _wait(path: str) -> None:
    """End when there is such a file."""
    assert wait_until(Path(path).exists)


def _count(path: str, end: str) -> None:
    """Write on and on, until there is a file `end`."""
    while not Path(end).exists():
        with open(path, "a") as file:
            file.write(".")
        time.sleep(0.005)


ROOT = Path(__file__).parents[2]

JOBS = {
    "pid": os.getpid,
    "cores": lambda: os.sched_getaffinity(0),
    "same": lambda value: value,
    "raise": _raise,
    "exit": os._exit,
    "kill": lambda number: os.kill(os.getpid(), number),
    "say": _say_and_abort,
    "sleep": time.sleep,
    "wait": _wait,
    "memory": lambda: np.ones(1 << 30),
    "start": _start,
    "count": _count,
    "function": lambda: lambda: None,
}


@pytest.fixture
def worker() -> Iterator[Worker[Any]]:
    with Worker(do, memory=3 << 30, what="the guest") as made:
        yield made


def job(worker: Worker[Any], *args: Any, seconds: float = 60.0) -> Any:
    worker.send(*args, seconds=seconds)
    return worker.receive()


def state(pid: int) -> str:
    """The letter that /proc gives a process: R, S, T…; empty if it is gone or a zombie."""
    try:
        letter = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if letter == "Z" else letter


def test_one_child_does_job_after_job(worker):
    first = job(worker, "pid")
    assert first == worker.pid != os.getpid()
    assert [job(worker, "same", n) for n in range(5)] == [0, 1, 2, 3, 4]
    assert job(worker, "pid") == first


def test_big_jobs_and_answers_come_whole(worker):
    sent = np.random.default_rng(0).random(1_000_000)
    assert np.array_equal(job(worker, "same", sent), sent)


def test_it_stays_on_its_cores():
    core = max(os.sched_getaffinity(0))
    with Worker(do, cores=[core]) as worker:
        assert job(worker, "cores") == {core}


def test_it_can_be_waited_for(worker, tmp_path):
    worker.send("wait", str(tmp_path / "end"), seconds=60)
    assert not worker.over
    (tmp_path / "end").touch()
    assert select.select([worker], [], [], 60) == ([worker], [], [])
    assert worker.over
    assert worker.receive() is None


@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        (("kill", signal.SIGSEGV), KernelError, "the guest crashed .SIGSEGV"),
        (("kill", signal.SIGKILL), KernelError, "SIGKILL"),
        (("exit", 0), KernelError, "exit code 0"),
        (("raise", ValueError("two\nlines")), KernelError, "^ValueError: two lines$"),
        (("raise", SystemExit(3)), KernelError, "exit code 70"),
        (("raise", IllegalStepError("step 3: no", 2)), IllegalStepError, "step 3: no"),
        (("say", b"x.cpp:3:4: error: no such thing\n"), CompilerError, "no such thing"),
        (("say", b"std::bad_alloc"), MemoryLimitError, "ran out of its memory"),
        (("memory",), MemoryLimitError, "MiB of memory"),
        (("function",), LoopbookError, "exit code 70"),
        (("sleep", 60), DeadlineError, r"did not end within 0\.3 s"),
    ],
)
def test_a_failure_is_that_jobs_own(worker, what, kind, message):
    assert job(worker, "same", 1) == 1
    with pytest.raises(kind, match=message):
        job(worker, *what, seconds=0.3 if what[0] == "sleep" else 60)
    assert worker.killed == (what == ("kill", signal.SIGKILL))
    assert job(worker, "same", 2) == 2
    assert not worker.killed


def test_one_that_died_while_idle_is_replaced(worker):
    before = job(worker, "pid")
    os.kill(before, signal.SIGKILL)
    assert wait_until(lambda: not state(before))
    assert job(worker, "pid") != before


def test_what_it_said_before_is_not_taken_for_its_last_words(worker):
    with pytest.raises(CompilerError):
        job(worker, "say", b"x.cpp: error: old\n")
    with pytest.raises(KernelError):
        job(worker, "kill", signal.SIGSEGV)


def test_it_is_renewed():
    with Worker(do, renew=2) as worker:
        pids = [job(worker, "pid") for _ in range(5)]
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]


def test_while_paused_nothing_runs_and_no_time_is_lost(worker, tmp_path):
    counted, end = tmp_path / "counted", tmp_path / "end"
    worker.send("count", str(counted), str(end), seconds=60)
    assert wait_until(counted.exists)
    worker.pause()
    assert worker.paused
    assert wait_until(lambda: state(worker.pid) == "T")
    before, left = counted.stat().st_size, worker.left()
    time.sleep(0.1)
    assert counted.stat().st_size == before
    assert worker.left() == left
    resumed = time.monotonic()
    worker.resume()
    assert not worker.paused
    assert left >= worker.left() >= left - (time.monotonic() - resumed)
    assert wait_until(lambda: counted.stat().st_size > before)
    end.touch()
    assert worker.receive() is None


def test_the_deadline_waits_for_a_paused_worker(worker, monkeypatch):
    passed = 0.0
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + passed)
    monkeypatch.setattr(workers, "time", clock)
    worker.send("same", 5, seconds=60)
    worker.pause()
    passed = 1000.0
    worker.resume()
    assert worker.receive() == 5


def test_an_idle_worker_is_not_paused(worker):
    worker.pause()
    assert not worker.paused
    assert job(worker, "same", 1) == 1


@pytest.mark.parametrize("how", ["close", "deadline", "paused"])
def test_all_that_it_started_ends_with_it(worker, tmp_path, how):
    told = tmp_path / "pid"
    worker.send("start", str(told), seconds=0.2 if how == "deadline" else 60)
    assert wait_until(lambda: told.exists() and told.read_text())
    if how == "deadline":
        with pytest.raises(DeadlineError):
            worker.receive()
    else:
        if how == "paused":
            worker.pause()
        worker.close()
    assert wait_until(lambda: not state(int(told.read_text())))
    assert worker.pid == 0


ORPHANS = """
import os, signal, sys, time
from pathlib import Path
sys.path[:0] = sys.argv[1].split(os.pathsep)
from tests.toolchain.test_worker import do
from wait_kit import wait_until
from loopbook.toolchain.worker import Worker
workers = [Worker(do) for _ in range(2)]
for worker, path in zip(workers, sys.argv[2:4]):
    worker.send("start", path, seconds=60)
    assert wait_until(lambda: Path(path).exists() and Path(path).read_text())
if sys.argv[4] == "paused":
    workers[0].pause()
for worker in workers:
    with open(sys.argv[2] + "s", "a") as file:
        print(worker.pid, worker._warden, file=file)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["running", "paused"])
def test_it_dies_with_its_parent_and_so_does_what_it_started(tmp_path, how):
    paths = [tmp_path / "one", tmp_path / "two"]
    modules = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "kits")])
    words = [modules, *map(str, paths), how]
    done = subprocess.run([sys.executable, "-c", ORPHANS, *words], timeout=600, check=False)
    assert done.returncode == -signal.SIGKILL
    pids = [int(word) for path in (*paths, tmp_path / "ones") for word in path.read_text().split()]
    assert len(pids) == 6
    assert wait_until(lambda: not any(map(state, pids))), [(pid, state(pid)) for pid in pids]


def test_no_descriptors_or_zombies_are_left():
    others = children()
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with Worker(do) as worker:
            job(worker, "same", 1)
            for failure in (("exit", 3), ("kill", signal.SIGKILL)):
                with pytest.raises(KernelError):
                    job(worker, *failure)
            with pytest.raises(DeadlineError):
                job(worker, "sleep", 60, seconds=0.05)
            job(worker, "same", 1)
    assert sorted(os.listdir("/proc/self/fd")) == before
    assert children() <= others
