"""Ctrl-C and ``kill -9`` while seeding: nothing that was shown as done is lost, no process or
folder is left over, and the next run goes on."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from cli_kit import Answer, surroundings
from tuner_kit import marked
from wait_kit import wait_until

from loopbook.recipes.book import Book

KERNELS = ("jacobi-1d", "trisolv", "mvt")
KILLS = 3


def _hear_interrupts() -> None:
    """Shells have background jobs ignore Ctrl-C, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Seeding:
    """``loopbook seed polybench`` as a program of its own, in a process group of its own."""

    def __init__(self, folder: Path) -> None:
        words = ["seed", "polybench", "--preset", "MINI", "--trials", "2"]
        words += ["--target", "sequential"]
        words += [word for kernel in KERNELS for word in ("--only", kernel)]
        (folder / "tmp").mkdir(exist_ok=True)
        self._errors = (folder / "stderr").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "loopbook", *words],
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, **surroundings(folder), "TMPDIR": str(folder / "tmp")},
            start_new_session=True,
            preexec_fn=_hear_interrupts,
        )
        self._book = folder / "own.db"
        self.shown: list[str] = []
        self.promised: dict[str, str] = {}
        self.completed = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.endswith("\n"):
                assert "failed" not in line
                self.shown.append(line.split()[0])
                self.promised |= recorded(self._book)
                self.completed.set()

    def wait(self, seconds: float) -> Answer:
        code = self._process.wait(seconds)
        return self._ended(code)

    def kill(self) -> Answer:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        return self._ended(self._process.wait(300))

    def _ended(self, code: int) -> Answer:
        self._reader.join(300)
        self._errors.seek(0)
        return Answer.of(code, "", self._errors.read())


@pytest.mark.long
def test_interrupted_and_killed_at_random_moments(tmp_path):
    """Ctrl-C ends with one line and exit code 130; ``kill -9`` hits the builds, the runs and the
    records of a kernel, wherever they are on a machine of this speed."""
    promised: dict[str, str] = {}

    def ends(seeding: Seeding) -> None:
        assert wait_until(lambda: not marked(str(tmp_path))), "processes live on"
        check(tmp_path / "own.db", seeding, promised)
        check_logs(tmp_path)

    begun = time.monotonic()
    seeding = Seeding(tmp_path)
    assert seeding.completed.wait(600)
    one_kernel = time.monotonic() - begun
    os.kill(seeding._process.pid, signal.SIGINT)
    answer = seeding.wait(300)
    assert answer.code == 130, "it was done before it could be interrupted"
    assert answer.err.startswith("loopbook: stopped; the trials so far are kept")
    assert answer.err.count("\n") == 1
    ends(seeding)

    chance = random.Random(2)
    ended = []
    for number in range(KILLS):
        seeding = Seeding(tmp_path)
        assert marked(str(tmp_path))
        if number % 3 == 1:  # right after a completion is shown, or while the next one begins
            seeding.completed.wait(600)
            time.sleep(chance.uniform(0, 0.05))
        else:
            time.sleep(chance.uniform(0.1, 0.4) * one_kernel)
        answer = seeding.kill()
        ended.append(answer.code)
        assert answer.err == ""
        ends(seeding)
    assert ended.count(-signal.SIGKILL) >= 2, ended

    last = Seeding(tmp_path)
    answer = last.wait(600)
    assert (answer.code, answer.err) == (0, "")
    assert last.shown == list(KERNELS)
    check(tmp_path / "own.db", last, promised)
    with Book.open(tmp_path / "own.db") as book:
        assert {record.kernel for record in book.records()} == set(KERNELS)
    assert check_logs(tmp_path) == len(KERNELS)
    assert not marked(str(tmp_path))
    left = [path.name for path in (tmp_path / "tmp").glob("*")]
    assert left == [f"loopbook-kept-{os.getuid()}"]
    kept = [path.name for path in (tmp_path / "tmp" / left[0]).glob("*")]
    kinds = {name.removeprefix("loopbook-").split("-")[0] for name in kept}
    # These are there for the next process; all else goes. A compiler that is a script has no note,
    # nor has a BLAS whose kernels a user has chosen.
    assert kinds | {"blas", "compiler"} == {"blas", "compiler", "cxx", "timers", "traces"}, kept


def check_logs(folder: Path) -> int:
    """No log has a torn line but the last, or tells of a candidate twice. How many there are."""
    logs = list((folder / "own-trials").glob("*.jsonl"))
    for log in logs:
        lines = log.read_text().split("\n")
        whole = [json.loads(line) for line in lines[:-1] if line.endswith("}")]
        assert len(lines) - 1 - len(whole) <= KILLS
        places = [(trial["number"], trial["nest"]) for trial in whole[1:]]
        assert len(set(places)) == len(places), f"{log.name}: measured again"
    return len(logs)


def recorded(path: Path) -> dict[str, str]:
    """The records that a book has, with their recipes, while others write to it."""
    with Book.open(path, readonly=True) as book:
        return {record.id: record.recipe.text() for record in book.records()}


def check(path: Path, seeding: Seeding, promised: dict[str, str]) -> None:
    """The book is well and holds all records that it had when a completion was shown."""
    promised |= seeding.promised
    if not path.exists():
        assert not promised
        return
    with Book.open(path) as book:
        assert book.verify() == []
        records = list(book.records())
    assert promised.items() <= {record.id: record.recipe.text() for record in records}.items()
    assert set(seeding.shown) <= {record.kernel for record in records}
    nests = [record.nest for record in records]
    assert len(set(nests)) == len(nests), "a program's records are there twice"
