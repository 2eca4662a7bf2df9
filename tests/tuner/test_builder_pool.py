"""Builders and the runner: who works when, and what is not done twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_kit import PRODUCT
from tuner_kit import VECTORISED, Process, descendants, task

from loopbook.sdfg.transformed import Recipes
from loopbook.toolchain.built import Built
from loopbook.toolchain.runner import Runner
from loopbook.toolchain.times import Schedule, Times
from loopbook.tuner.builder_pool import BuilderPool
from loopbook.tuner.session import Session

CORES = sorted(os.sched_getaffinity(0))
QUICK = Schedule(repeats=5, seconds=0.1, at_least=2)
BIGGER = PRODUCT.replace('"N": 40', '"N": 200')
SEVERAL: list[Recipes] = [
    {0: (("tile", ("L1", size)), ("vectorize", ("L0",)))} for size in (2, 4, 8, 16)
]


@pytest.fixture(scope="module")
def session(tmp_path_factory) -> Iterator[Session]:
    mine = task(tmp_path_factory.mktemp("pool"), text=BIGGER)
    with Session(mine, "M", "sequential") as opened:
        yield opened


@pytest.fixture(scope="module")
def threaded(tmp_path_factory) -> Iterator[Session]:
    mine = task(tmp_path_factory.mktemp("pool"), text=BIGGER)
    with Session(mine, "M", "openmp") as opened:
        yield opened


class Witness(Runner):
    """Notes the runner's cores, and what other processes of the tuner do while it measures."""

    def __init__(self, *args: Any, notes: Path) -> None:
        super().__init__(*args)
        self._notes = notes

    def measure(
        self, built: Built, schedule: Schedule, lost: float, seconds: float
    ) -> tuple[Times, Times]:
        before = self._others()
        times = super().measure(built, schedule, lost, seconds)
        after = self._others()
        # A tick of the clock may be charged late, when the work before is over.
        busy = [p for pid, p in before.items() if pid in after and after[pid].ticks > p.ticks + 1]
        stopped = [pid for pid, p in before.items() if p.state == "T"]
        with self._notes.open("a") as file:
            print(*sorted(os.sched_getaffinity(0)), len(stopped), len(busy), sep=",", file=file)
        return times

    @staticmethod
    def _others() -> dict[int, Process]:
        """What the tuner's other children and theirs have done, on cores of this process."""
        ours, found = os.sched_getaffinity(0), {}
        for process in descendants(os.getppid()):
            try:
                cores = os.sched_getaffinity(process.pid)
            except ProcessLookupError:
                continue
            if process.group != os.getpid() and cores & ours:
                found[process.pid] = process
        return found


def make(session: Session, folder: Path, **settings: Any) -> BuilderPool:
    folder.mkdir(exist_ok=True)
    runner = Witness(session._binding, session.plain, session.expected, notes=folder / "notes")
    return BuilderPool(
        session.text, session.target, runner, folder, schedule=QUICK, seconds=30.0, **settings
    )


def notes(folder: Path) -> list[list[int]]:
    return [[*map(int, line.split(","))] for line in (folder / "notes").read_text().splitlines()]


@pytest.mark.parametrize(("target", "threads"), [("session", 1), ("threaded", len(CORES))])
def test_no_measurement_shares_its_cores(request, tmp_path, target, threads):
    with make(request.getfixturevalue(target), tmp_path, threads=threads) as pool:
        numbers = [pool.submit(plan).number for plan in SEVERAL]
        done = [pool.finished() for _ in numbers]
        with pytest.raises(LookupError):
            pool.finished()
        usage = pool.usage
    assert sorted(ticket.number for ticket in done) == numbers
    assert [ticket.error for ticket in done] == [None] * len(done)
    seen = notes(tmp_path)
    assert usage.measured == len(seen) > 1
    assert all(note[:-2] == CORES[-threads:] for note in seen)
    assert [note[-1] for note in seen] == [0] * len(seen), "a builder worked meanwhile"
    if threads == len(CORES) > 1:  # a builder works while the other's candidate is ready
        assert any(note[-2] for note in seen), "no builder had to be stopped"
    assert usage.steps > 0
    assert usage.compiling > 0
    assert usage.measuring > 0
    assert [*tmp_path.glob("c*[0-9]")] == []


def test_one_core_is_enough(session, tmp_path):
    with make(session, tmp_path, cores=CORES[:1]) as pool:
        for plan in SEVERAL[:3]:
            pool.submit(plan)
        assert all(pool.finished().times for _ in range(3))
        runner, builders = pool.pids
        assert runner
        assert len(builders) == 1
    assert all(note[:-2] == CORES[:1] and note[-1] == 0 for note in notes(tmp_path))


def test_the_same_code_is_measured_once(threaded, tmp_path):
    """docc's C++ for threads differs in the order of its private variables."""
    same: Recipes = {0: tuple((step.op, step.args) for step in VECTORISED)}
    with make(threaded, tmp_path) as pool:
        for plan in (same, same, SEVERAL[0], same):  # the first two are built side by side
            pool.submit(plan)
        done = sorted((pool.finished() for _ in range(4)), key=lambda t: t.number)
        later = pool.submit(same)
        built = pool.usage.built
        assert pool.finished() is later
        assert pool.usage.built == built, "known code was compiled again"
        assert pool.usage.measured == 2
    twins = [ticket for ticket in (*done, later) if ticket.twin]
    (first,) = {id(ticket.twin): ticket.twin for ticket in twins}.values()
    assert first is not None
    assert first.times
    assert len(twins) == 3
    assert len({ticket.built.code for ticket in (first, *twins) if ticket.built}) == 1


def test_only_code_that_has_answered_is_known(session, tmp_path):
    """What a builder compiled before it was killed is nothing that others could wait for."""
    with make(session, tmp_path) as pool:
        pool.submit(SEVERAL[1])
        first = pool.finished()
        assert first.built is not None
        assert [path.name for path in (tmp_path / "codes").iterdir()] == [first.built.code]
