"""The parent's side: one worker for each system, checked against NumPy's, run in turn with it."""

from __future__ import annotations

import contextlib
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from benchmarks.npbench_suite import systems
from benchmarks.npbench_suite.compare import difference, moved, within_rounding
from benchmarks.npbench_suite.programs import Program
from benchmarks.npbench_suite.worker import Job
from benchmarks.systems.child import LONG_RUN, Child, Failed, noting
from benchmarks.systems.registry import PEERS

COMPILE_SECONDS = 600.0
"""Limit for a first call, over that for a run: systems compile there."""

NUDGES = (1, 2, 3)
"""Seeds of the nudged arguments that NumPy runs where somebody's results differ."""

Results = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Setting:
    """What all systems share.

    Attributes:
        checkout: of NPBench.
        cores: what workers may use, as many as threads.
        rounds: how often each system gets its turn; 0 checks numbers only.
        budget: seconds of measuring after which a system gets no more turns.
        limit: seconds that one run may take.
        memory: bytes that one worker may have.
        together: bytes that all workers of a comparison may have: with more to hold, the systems
            are compared with NumPy one after the other.
    """

    checkout: Path
    preset: str
    threads: int
    cores: tuple[int, ...]
    rounds: int = 7
    budget: float = 20.0
    limit: float = 120.0
    memory: int = 8 << 30
    together: int = 12 << 30


@dataclass
class Outcome:
    """What became of one system at one program.

    Attributes:
        status: ``ok``, or a `Failed.kind`.
        reason: why, if not ``ok``.
        numpy: NumPy's times in the same comparison.
        busy: how many cores each turn kept busy.
        first_s: the first call, which compiles.
        version: of the program, as NPBench's files are called.
        notes: what the system said of itself.
    """

    status: str = "ok"
    reason: str = ""
    times: list[float] = field(default_factory=list)
    numpy: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    first_s: float | None = None
    version: str = ""
    notes: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"status": self.status, "version": self.version}
        if self.reason:
            found["reason"] = self.reason
        if self.notes:
            found["notes"] = self.notes
        if self.first_s is not None:
            found["first_s"] = self.first_s
        if self.status == "ok" and self.times and self.numpy:
            found |= {
                "min_s": min(self.times),
                "median_s": statistics.median(self.times),
                "runs": len(self.times),
                "busy": statistics.median(self.busy) if self.busy else None,
                "numpy_min_s": min(self.numpy),
                "numpy_median_s": statistics.median(self.numpy),
            }
        return found


class Compared:
    """A system with one version of a program. A context manager: leaving ends it."""

    def __init__(
        self, system: str, version: str, program: Program, setting: Setting, folder: Path
    ) -> None:
        self.system, self.version = system, version
        self.times: list[float] = []
        self.busy: list[float] = []
        self.first_s = 0.0
        self.resident = 0
        self.notes: dict[str, Any] = {}
        self._program, self._setting = program, setting
        self._folder = folder
        self._child: Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.end()

    def end(self) -> None:
        """End the worker, if there is one."""
        if self._child is not None:
            self._child.__exit__()

    def prepare(self, *, results: bool = True, call: bool = True, nudge: int = 0) -> Path:
        """Start and call once.

        Args:
            results: whether they are wanted.
            call: whether that call is wanted.
            nudge: see `Job`.

        Returns:
            The file with the results.

        Raises:
            Failed: if any of that fails.
        """
        setting = self._setting
        entry = systems.SYSTEMS[self.system]
        python = entry.python()
        if python is None:
            raise Failed("missing", f"{entry.requires} is not installed: {PEERS}")
        folder = Path(tempfile.mkdtemp(prefix=f"{self.system}-", dir=self._folder))
        file = folder / "results.npz"
        job = Job(
            checkout=str(setting.checkout.resolve()),
            program=self._program.name,
            system=self.system,
            version=self.version,
            preset=setting.preset,
            threads=setting.threads,
            cores=setting.cores,
            memory=setting.memory,
            data=str(self._folder / "data"),
            results=str(file) if results else "",
            call=call,
            nudge=nudge,
        )
        command = [python, "-m", "benchmarks.npbench_suite.worker", job.text()]
        private = {"DACE_CONFIG": str(folder / "dace.conf"), "DOCC_TMP": str(folder)}
        self._child = child = Child(command, folder, setting.threads, private)
        made = child.answer(COMPILE_SECONDS, "getting ready")["seconds"]
        more = 0.0 if self.system == systems.NUMPY else COMPILE_SECONDS
        ran = child.answer(setting.limit + more, "its first call")
        child.pause()
        self.first_s, self.notes = made + ran["seconds"], ran["notes"]
        self.resident = ran["resident"]
        if self.system == systems.NUMPY and ran["seconds"] > LONG_RUN:
            self.times.append(ran["seconds"])
        return file

    def turn(self) -> None:
        """Run and add to `times`; nothing if they are enough.

        Raises:
            Failed: if a run fails or takes too long.
        """
        if self.times and sum(self.times) > self._setting.budget:
            return
        if self.times and self.resident > self._setting.memory / 2:
            return  # one that keeps memory at every call: what it has shown is enough
        answer = self.ask("turn", self._setting.limit, "a run")
        self.times += answer["seconds"]
        if answer["notes"]["how"] != "compiled":  # it has found out that Python is faster
            self.notes |= answer["notes"]
        self.busy.append(answer["busy"])
        self.resident = answer["resident"]

    def ask(self, request: str, seconds: float, doing: str) -> dict[str, Any]:
        """See `Child.ask`."""
        assert self._child is not None
        return self._child.ask(request, seconds, doing)


class Reference:
    """What NumPy's version gives, which everybody's results are compared with."""

    def __init__(self, program: Program, setting: Setting, folder: Path, expected: Results) -> None:
        self._program, self._setting, self._folder = program, setting, folder
        self._expected = expected
        self._nudged: list[dict[str, float]] = []  # not the results: they may be gigabytes

    def check(self, compared: Compared, found: Results) -> None:
        """Note where a difference is no more than rounding that the program amplifies.

        Raises:
            Failed: if the results are wrong.
        """
        same = compared.system in systems.SAME_PROGRAM
        words = difference(self._program, found, self._expected, same_program=same)
        if not words:
            return
        if not self._nudged:
            self._nudged = [moved(self._run(seed), self._expected) for seed in NUDGES]
        rounding = within_rounding(found, self._expected, self._nudged)
        if rounding is None:
            raise Failed("wrong", words)
        compared.notes |= {"rounding": f"{words}; {rounding}"}

    def _run(self, seed: int) -> Results:
        numpy = Compared(systems.NUMPY, "numpy", self._program, self._setting, self._folder)
        with numpy:
            return _results(numpy.prepare(nudge=seed))


def comparison(
    program: Program,
    names: Sequence[str],
    setting: Setting,
    chosen: Mapping[str, str] | None = None,
) -> dict[str, Outcome]:
    """Call all systems once, check all their numbers, time those that are right in turn.

    Args:
        names: of systems; NumPy takes part in any case.
        chosen: by system, the version to take, where an earlier comparison has shown which is best.

    Raises:
        Failed: if NumPy fails.
    """
    others = [name for name in names if name != systems.NUMPY]
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="npbench-") as folder, contextlib.ExitStack() as stack:
        numpy = Compared(systems.NUMPY, "numpy", program, setting, Path(folder))
        stack.enter_context(numpy)
        reference = Reference(program, setting, Path(folder), _results(numpy.prepare()))
        fitting = max(1, setting.together // max(numpy.resident, 1) - 1)
        for start in range(0, max(len(others), 1), fitting):
            group = others[start : start + fitting]
            numpy.times = numpy.times[:1] if numpy.first_s > LONG_RUN else []
            numpy.busy = []
            outcomes |= _group(
                program, group, setting, chosen or {}, numpy, reference, Path(folder)
            )
    return outcomes


def _group(
    program: Program,
    names: Sequence[str],
    setting: Setting,
    chosen: Mapping[str, str],
    numpy: Compared,
    reference: Reference,
    folder: Path,
) -> dict[str, Outcome]:
    """The comparison of some systems with NumPy, at the same time."""
    outcomes = {name: Outcome() for name in [systems.NUMPY, *names]}
    with contextlib.ExitStack() as stack:
        running = [numpy]
        for name in names:
            with noting(outcomes[name]):
                versions = systems.versions(name, program)
                if not versions:
                    raise Failed("unsupported", "NPBench has no version for it")
                if chosen.get(name) in versions:
                    versions = [chosen[name]]
                candidates = [
                    stack.enter_context(Compared(name, version, program, setting, folder))
                    for version in versions
                ]
                running.append(_best(candidates, reference, setting, outcomes[name]))
        for _ in range(setting.rounds):
            for compared in running:
                outcome = outcomes[compared.system]
                if outcome.status == "ok":
                    with noting(outcome):
                        compared.turn()
        for compared in running:
            outcome = outcomes[compared.system]
            outcome.times, outcome.busy = compared.times, compared.busy
            outcome.numpy = numpy.times
            outcome.first_s, outcome.notes = compared.first_s, compared.notes
            outcome.version = compared.version
    return outcomes


def _best(
    versions: Sequence[Compared],
    reference: Reference,
    setting: Setting,
    outcome: Outcome,
) -> Compared:
    """The fastest of those that are right, prepared; all others are ended.

    Without rounds nobody is timed, and the first that is right is as good as any.

    Raises:
        Failed: as the first of them, if none is right.
    """
    best: Compared | None = None
    failures: list[Failed] = []
    for compared in versions:
        outcome.version = compared.version
        try:
            file = compared.prepare()
            outcome.notes = compared.notes
            reference.check(compared, _results(file))
            if not setting.rounds:
                return compared
            if len(versions) > 1:
                compared.turn()
        except Failed as failed:
            failures.append(failed)
            compared.end()
            continue
        if best is None:
            best = compared
        elif min(compared.times) < min(best.times):
            best.end()
            best = compared
        else:
            compared.end()
    if best is None:
        raise failures[0]
    return best


def _results(file: Path) -> dict[str, np.ndarray]:
    with np.load(file) as stored:
        found = {name: stored[name] for name in stored.files}
    file.unlink()
    return found
