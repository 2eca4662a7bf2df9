"""The parent's side of the comparison: one worker for each system, run in turn."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks.systems.child import LONG_RUN, Child, Failed, noting
from benchmarks.systems.registry import REFERENCE, Entry
from benchmarks.systems.worker import Job
from loopbook.errors import WrongResultError
from loopbook.toolchain.run import compare

COMPILE_SECONDS = 1200.0
"""Limit for getting ready: loopbook measures there, Numba and DaCe compile."""


@dataclass(frozen=True)
class Setting:
    """What all systems of one comparison share.

    Attributes:
        cores: what workers may use, as many as threads.
        rounds: how often each system gets its turn.
        budget: seconds of measuring after which a system gets no more turns, once it has two runs.
        limit: seconds that one run may take.
    """

    kernel: str
    preset: str
    threads: int
    cores: tuple[int, ...]
    rounds: int = 7
    budget: float = 20.0
    limit: float = 120.0


class Compared:
    """A system in its worker, checked by its first run. A context manager: leaving ends it."""

    def __init__(self, entry: Entry, setting: Setting, folder: Path) -> None:
        self.entry = entry
        self.times: list[float] = []
        self.busy: list[float] = []
        self.compile_s = 0.0
        self.results: list[np.ndarray] = []
        self._setting = setting
        self._folder = folder / entry.name
        self._folder.mkdir()
        self._child: Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        if self._child is not None:
            self._child.__exit__()

    def prepare(self) -> None:
        """Start, compile and run once; `results` are there afterwards.

        Raises:
            Failed: if any of that fails.
        """
        file = self._folder / "results.npz"
        self._child = child = self._start(file)
        self.compile_s = child.answer(COMPILE_SECONDS, "compiling")["seconds"]
        first = child.answer(self._setting.limit, "its first run")["seconds"]
        child.pause()
        if first > LONG_RUN:
            self.times.append(first)
        with np.load(file) as stored:
            self.results = [stored[name] for name in stored.files]

    def turn(self) -> None:
        """Run and add to `times`; nothing if they are enough.

        Raises:
            Failed: if a run fails or takes too long.
        """
        if len(self.times) >= 2 and sum(self.times) > self._setting.budget:
            return
        assert self._child is not None
        answer = self._child.ask("run", self._setting.limit, "a run")
        self.times += answer["seconds"]
        self.busy.append(answer["processor"])

    def _start(self, results: Path) -> Child:
        setting = self._setting
        python = self.entry.python()
        if python is None:
            raise Failed("missing", f"{self.entry.requires} is not installed")
        job = Job(
            module=self.entry.module,
            attribute=self.entry.attribute,
            kernel=setting.kernel,
            preset=setting.preset,
            threads=setting.threads,
            results=str(results),
            cores=setting.cores,
        )
        command = [python, "-m", "benchmarks.systems.worker", job.text()]
        return Child(command, self._folder, setting.threads)


@dataclass
class Outcome:
    """What became of one system at one kernel.

    Attributes:
        status: ``ok``, or a `Failed.kind`.
        reason: why, if not ``ok``.
        busy: how many cores each turn kept busy.
    """

    status: str = "ok"
    reason: str = ""
    times: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    compile_s: float = 0.0

    def to_json(self) -> dict[str, Any]:
        if self.status != "ok":
            return {"status": self.status, "reason": self.reason}
        return {
            "status": "ok",
            "min_s": min(self.times),
            "median_s": statistics.median(self.times),
            "runs": len(self.times),
            "busy": statistics.median(self.busy) if self.busy else None,
            "compile_s": self.compile_s,
        }


def comparison(entries: Sequence[Entry], setting: Setting) -> dict[str, Outcome]:
    """Compile with all systems, check all their numbers, time those that are right in turn.

    Raises:
        Failed: if the reference itself fails.
    """
    outcomes = {entry.name: Outcome() for entry in entries}
    with (
        tempfile.TemporaryDirectory(prefix="loopbook-") as folder,
        contextlib.ExitStack() as stack,
    ):
        expected = reference(setting, Path(folder))
        running = []
        for entry in entries:
            compared = stack.enter_context(Compared(entry, setting, Path(folder)))
            with noting(outcomes[entry.name]):
                compared.prepare()
                _check(compared, expected)
                running.append(compared)
        for _ in range(setting.rounds):
            for compared in running:
                outcome = outcomes[compared.entry.name]
                if outcome.status == "ok":
                    with noting(outcome):
                        compared.turn()
        for compared in running:
            outcome = outcomes[compared.entry.name]
            outcome.times, outcome.busy = compared.times, compared.busy
            outcome.compile_s = compared.compile_s
    return outcomes


def reference(setting: Setting, folder: Path) -> list[np.ndarray]:
    """The right results.

    Raises:
        Failed: if docc cannot compute them.
    """
    with Compared(REFERENCE, setting, folder) as compared:
        compared.prepare()
        return compared.results


def first_run(entry: Entry, setting: Setting) -> float:
    """Seconds of a system's first run.

    Raises:
        Failed: if it fails, or takes too long.
    """
    with (
        tempfile.TemporaryDirectory(prefix="loopbook-") as folder,
        Compared(entry, setting, Path(folder)) as compared,
    ):
        compared.prepare()
        return min(compared.times, default=0.0)


def _check(compared: Compared, expected: list[np.ndarray]) -> None:
    try:
        compare(compared.results, expected)
    except WrongResultError as error:
        raise Failed("wrong", str(error)) from None
    compared.results = []
