"""What candidates, and whoever has a ``kill -9``, may do to a search."""

from __future__ import annotations

import os
import random
import shlex
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tuner_kit import bad_library, descendants, task

from loopbook.recipes.hardware import read
from loopbook.sdfg.build import build_once
from loopbook.sdfg.transformed import Recipes
from loopbook.steps import Step
from loopbook.toolchain import runner
from loopbook.toolchain.built import Built
from loopbook.toolchain.compiler import find_compiler
from loopbook.toolchain.times import Schedule
from loopbook.tuner import builder_pool, builders
from loopbook.tuner.builders import Here
from loopbook.tuner.log import TrialLog
from loopbook.tuner.search import search
from loopbook.tuner.session import Session
from loopbook.tuner.settings import Settings
from loopbook.tuner.strategies import STRATEGIES, Problem

pytestmark = pytest.mark.long

KERNELS = {
    "wrong": "C[0] += 1;",
    "past the end": "C[-1] = 1;",
    "segfault": "*(volatile int *)8 = 1;",
    "hang": "int pause(); for (;;) pause();",
    "memory": "for (;;) *(volatile char *)new char[1l << 26] = 1;",
}
"""Bodies of kernels that do damage, by what they do. What takes memory touches little of it: that
may last long."""

COMPILERS = {
    "compile error": "echo 'x.cpp:1:2: error: no such thing' >&2; exit 1",
    "compiler crash": "kill -SEGV $$",
    "compiler hang": "sleep 1000",
}
"""Shell scripts that stand for compilers."""

STATUS = {
    "wrong": "wrong",
    "past the end": "wrong",
    "segfault": "crash",
    "hang": "hang",
    "memory": "memory",
    "compile error": "compiler",
    "compiler crash": "compiler",
    "compiler hang": "hang",
    "builder crash": "crash",
}
"""What each of them, and a builder that ends, is logged as."""

HANGING_S = 2.0
"""After how long those that are known to hang are given up. How long the others take depends on the
machine."""


class Proposals:
    """A strategy that has it all written down."""

    def __init__(self, recipes: list[tuple[Step, ...]]) -> None:
        self._recipes = iter(recipes)
        self.told: list[float | None] = []

    def ask(self) -> tuple[Step, ...]:
        return next(self._recipes)

    def tell(self, steps: tuple[Step, ...], score: float | None) -> None:
        self.told.append(score)


def good(number: int) -> tuple[Step, ...]:
    """One recipe that is right for each number."""
    return (Step("tile", ("L1", number + 2)), Step("vectorize", ("L0",)))


@pytest.fixture(scope="module")
def session(tmp_path_factory) -> Iterator[Session]:
    others = descendants(os.getpid())
    with Session(task(tmp_path_factory.mktemp("faults")), "S", "sequential") as opened:
        yield opened
    assert not opened.folder.exists()
    known = {process.pid for process in others}
    assert [process for process in descendants(os.getpid()) if process.pid not in known] == []


@pytest.fixture
def run(session, monkeypatch) -> Iterator[Callable[[list[tuple[Step, ...]]], TrialLog]]:
    """Searches with the given proposals."""
    monkeypatch.setattr(session, "_seconds_limit", 300.0)

    def run(recipes: list[tuple[Step, ...]]) -> TrialLog:
        def proposals(problem: Problem) -> Proposals:
            return Proposals(recipes)

        monkeypatch.setitem(STRATEGIES, "written", proposals)
        log = TrialLog(None, {})
        search(session, read(1), Settings(strategy="written", trials=len(recipes)), log)
        return log

    yield run
    session._pool.close()
    session._pool = None


def marked(kind: str) -> tuple[Step, ...]:
    """A recipe whose first step, which fits no nest, tells what goes wrong with it."""
    number = [*STATUS].index(kind)
    return (Step("tile", ("L9", 2 + number)), *good(40 + number))


def mark(plan: Recipes) -> str:
    """What goes wrong with a recipe that is `marked`; empty for others."""
    return next((kind for kind in STATUS if marked(kind)[0] == Step(*next(iter(plan[0])))), "")


class Builder(Here):
    """Knows which compilers hang."""

    def send(self, *args: Any, seconds: float) -> None:
        plan = next((one for one in args if isinstance(one, dict)), None)
        hangs = plan is not None and mark(plan) == "compiler hang"
        super().send(*args, seconds=HANGING_S if hangs else seconds)


def measured(hanging: bytes) -> Callable[..., Any]:
    """`Runner.measure`, which knows what library hangs."""
    measure = runner.Runner.measure

    def known(
        self: runner.Runner, built: Built, schedule: Schedule, lost: float, seconds: float
    ) -> Any:
        hangs = built.library.read_bytes() == hanging
        return measure(self, built, schedule, lost, HANGING_S if hangs else seconds)

    return known


def sabotaged(libraries: dict[str, Path], folder: Path) -> Callable[..., Any]:
    """`build_once`, but for recipes that are `marked`: the library that comes out, the compiler or
    the builder itself is another one then."""
    scripts = {
        kind: _script(folder / f"cxx{n}", COMPILERS[kind]) for n, kind in enumerate(COMPILERS)
    }

    def build(text: str, target: str, recipes: Recipes, *args: Any) -> Any:
        kind = mark(recipes)
        if kind in scripts:
            os.environ["LOOPBOOK_CXX"] = str(scripts[kind])
        if kind == "builder crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        try:
            built = build_once(text, target, recipes, *args)
        finally:
            os.environ.pop("LOOPBOOK_CXX", None)
        if kind in libraries:
            built.library.write_bytes(libraries[kind].read_bytes())
        return built

    return build


def _script(path: Path, line: str) -> Path:
    """A compiler that says its version, and does `line` when it is to compile."""
    version = shlex.quote(find_compiler().version)
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo {version} && exit\n{line}\n')
    path.chmod(0o700)
    return path


def address_space() -> int:
    """Bytes that this process has mapped: its children begin with as many."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_what_candidates_do_is_their_own_failure(session, run, monkeypatch, tmp_path):
    """Good candidates between bad ones of every kind, all in one search."""
    libraries = {
        kind: bad_library(session.text, tmp_path / f"{n}", KERNELS[kind])
        for n, kind in enumerate(KERNELS)
    }
    monkeypatch.setattr(builders, "build_once", sabotaged(libraries, tmp_path))
    monkeypatch.setattr(builder_pool, "Here", Builder)
    monkeypatch.setattr(runner.Runner, "measure", measured(libraries["hang"].read_bytes()))
    monkeypatch.setattr(runner, "RUN_BYTES", address_space() + (1 << 30))
    recipes = [steps for n, kind in enumerate(STATUS) for steps in (marked(kind), good(n))]
    log = run(recipes)
    by_number = {trial.number: trial for trial in log.trials}
    assert sorted(by_number) == list(range(len(recipes)))
    told = {kind: by_number[2 * n].status for n, kind in enumerate(STATUS)}
    assert told == STATUS, [by_number[2 * n].message for n in range(len(STATUS))]
    for n in range(len(STATUS)):
        failed, right = by_number[2 * n], by_number[2 * n + 1]
        assert (failed.speedup, failed.seconds) == (0.0, 0.0)
        assert failed.message
        assert "\n" not in failed.message
        assert (right.status, right.speedup > 0, right.recipe.steps) == ("ok", True, good(n))
    assert [*session.folder.glob("c*[0-9]")] == []


def test_kill_9_of_builders_and_runner_loses_nothing(session, run):
    """Every candidate is measured all the same, for one whose process is killed is tried again."""
    chance, over, killed = random.Random(1), threading.Event(), Counter[str]()

    def kill() -> None:
        while not over.wait(chance.uniform(0.1, 0.5)) and killed.total() < 12:
            measurer, builders = session.pool.pids
            victim = chance.choice([measurer, *builders])
            if victim:
                os.kill(victim, signal.SIGKILL)
                killed["runner" if victim == measurer else "builder"] += 1

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        log = run([good(n) for n in range(16)])
    finally:
        over.set()
        killer.join()
    assert sorted(trial.number for trial in log.trials) == list(range(16))
    failed = [trial.message for trial in log.trials if trial.status != "ok"]
    assert all("SIGKILL" in message for message in failed), failed
    assert len(failed) <= killed.total() // 2, "nobody fails who was not killed twice"
    assert killed["builder"], killed
    assert [*session.folder.glob("c*[0-9]")] == []
