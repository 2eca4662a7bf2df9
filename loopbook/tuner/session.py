"""Measures candidate recipes inside their program.

A session holds one program at one size and target: its unoptimised results, docc's own schedule,
and the prepared program without recipes. A candidate gives some of its nests recipes. It is built,
its numbers are checked against the unoptimised program's, and it is timed in turn with the
reference; timers inside tell what each nest took.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopbook.errors import (
    CompilerError,
    DeadlineError,
    IllegalStepError,
    KernelError,
    LoopbookError,
    MemoryLimitError,
    WrongResultError,
)
from loopbook.recipes.step import Step
from loopbook.sdfg import program
from loopbook.sdfg.build import Built, build_baseline, build_tuned
from loopbook.sdfg.run import RUN_SECONDS, Schedule, Times
from loopbook.tuner.subject import Subject

SEARCH = Schedule(repeats=9, seconds=0.4, at_least=2, give_up=3.0)

SLOW_REFERENCE = 1.5
"""A prepared program this many times slower than docc's own compile is not run again and again."""

Candidate = Mapping[int, tuple[Step, ...]]
"""Nest position to its recipe; nests that are not named get docc's own schedule."""

FAILURES: dict[type[LoopbookError], str] = {
    IllegalStepError: "illegal",
    WrongResultError: "wrong",
    DeadlineError: "hang",
    MemoryLimitError: "memory",
    KernelError: "crash",
    CompilerError: "compiler",
}


@dataclass(frozen=True)
class Outcome:
    """What came of one candidate.

    Attributes:
        status: "ok", or the kind of failure: "illegal", "wrong", "hang", "memory", "crash",
            "compiler", "error".
        recipes: the steps that docc accepted.
        seconds: the whole program's fastest run.
        reference_s: the reference's fastest run, timed in turn.
        nests: nest position to its speedup over docc's own schedule.
        code: hash of the generated C++.
        message: why it failed.
    """

    status: str
    recipes: dict[int, tuple[Step, ...]] = field(default_factory=dict)
    seconds: float = 0.0
    reference_s: float = 0.0
    nests: dict[int, float] = field(default_factory=dict)
    code: str = ""
    message: str = ""

    @property
    def speedup(self) -> float:
        """Of the whole program over the reference; 0 for a failure."""
        return self.reference_s / self.seconds if self.status == "ok" else 0.0


class Session:
    """One program, size and target. Use as a context manager: it keeps builds in a folder.

    Attributes:
        text: the prepared program's SDFG.
        nests: of the prepared program.
        baseline: docc's own compile, without any of our passes.
        plain: the prepared program without recipes.
        baseline_s, plain_s: their fastest runs, seconds; 0 in a trusted session.
        baseline_s, plain_s: their fastest runs, before the search.
        shares: nest position to its share of the plain program's time.
        folder: where its builds are.
    """

    def __init__(
        self,
        subject: Subject,
        preset: str,
        target: str,
        *,
        schedule: Schedule = SEARCH,
        trusted: bool = False,
        timeout: float = RUN_SECONDS,
    ) -> None:
        """
        Args:
            timeout: limit for the run that gives the right numbers, seconds; candidates are limited
                by what docc's own compile takes.
            trusted: for confirming at a size where runs take long: docc's own schedule is taken to
                be right, and `shares` stay empty.
        """
        self.target = target
        self._schedule = schedule
        self.folder = Path(tempfile.mkdtemp(prefix="loopbook-tune-"))
        self._count = 0
        self._seconds_limit = 900.0
        self.baseline_s = self.plain_s = 0.0
        self.shares: dict[int, float] = {}
        self.baseline_s = self.plain_s = 0.0
        self._plain_nests: dict[int, float] = {}
        self._known: dict[str, Outcome] = {}
        try:
            self._begin(subject, subject.arguments(preset), trusted, timeout)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete what was built."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _begin(self, subject: Subject, arguments: list[Any], trusted: bool, timeout: float) -> None:
        traced = subject.text(arguments)
        prepared, self.nests = program.prepare_nests(traced)
        self.text = prepared.to_json()
        self.baseline = build_baseline(traced, self.target, self.folder / "baseline", timers=True)
        right = self.baseline
        if not trusted:
            right = build_baseline(traced, "none", self.folder / "none")
        self._binding = subject.binding(arguments)
        self.expected = self._binding.results(right.library, seconds=timeout)
        self.plain = build_tuned(self.text, self.target, {}, self.folder / "plain", timers=True)
        if not trusted:
            self._look_around()

    def _look_around(self) -> None:
        """Time docc's own compile and the prepared program, and see where the time goes."""
        times = self.time([self.baseline, self.plain])
        self._seconds_limit = 10 + 40 * max(max(t.seconds) for t in times)
        self.baseline_s, self.plain_s = (min(t.seconds) for t in times)
        self._plain_nests = _fastest(times[1])
        total = sum(self._plain_nests.values()) or 1.0
        self.shares = {p: self._plain_nests.get(p, 0.0) / total for p in range(len(self.nests))}

    def time(self, builts: Sequence[Built], schedule: Schedule | None = None) -> list[Times]:
        """Check the numbers of `builts` and time them in turn.

        Raises:
            LoopbookError: see `loopbook.sdfg.run.Binding.measure`.
        """
        return self._binding.measure(
            builts,
            schedule or self._schedule,
            self.expected,
            seconds=self._seconds_limit,
        )

    def measure(self, candidate: Candidate, *, lenient: bool = True) -> Outcome:
        """Build, check and time one candidate. Failures are outcomes, not exceptions.

        Args:
            lenient: leave out steps that docc refuses; else they make the outcome "illegal".
        """
        self._count += 1
        folder = self.folder / f"c{self._count}"
        recipes: dict[int, tuple[Step, ...]] = {}
        try:
            built = build_tuned(
                self.text,
                self.target,
                candidate,
                folder,
                timers=True,
                lenient=lenient,
                known=frozenset(self._known),
            )
            recipes = {
                position: tuple(Step(op, args) for op, args in built.recipes[position])
                for position in candidate
            }
            known = self._known.get(built.code)
            if known is not None:
                return Outcome(
                    known.status,
                    recipes,
                    known.seconds,
                    known.reference_s,
                    known.nests,
                    built.code,
                    known.message or "the same code as an earlier candidate",
                )
            outcome = self._timed(built, recipes)
            self._known[built.code] = outcome
        except LoopbookError as error:
            status = next((s for kind, s in FAILURES.items() if isinstance(error, kind)), "error")
            return Outcome(status, recipes or dict(candidate), message=str(error))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return outcome

    def _timed(self, built: Built, recipes: dict[int, tuple[Step, ...]]) -> Outcome:
        """Time a build in turn with the prepared program; with docc's own compile where that is
        much faster, which then only tells how fast the machine is at the moment."""
        slow = self.plain_s > SLOW_REFERENCE * self.baseline_s
        reference, tuned = self.time([self.baseline if slow else self.plain, built])
        reference_s, after = min(reference.seconds), _fastest(tuned)
        if slow:
            pace = reference_s / self.baseline_s
            before = {p: seconds * pace for p, seconds in self._plain_nests.items()}
            reference_s = self.plain_s * pace
        else:
            before = _fastest(reference)
        nests = {p: before[p] / after[p] for p in before if after.get(p, 0.0) > 0}
        return Outcome("ok", recipes, min(tuned.seconds), reference_s, nests, built.code)


def _fastest(times: Times) -> dict[int, float]:
    """Each nest's fastest run: other programs on the machine only ever make runs slower."""
    return {position: min(runs) for position, runs in times.nests.items()}
