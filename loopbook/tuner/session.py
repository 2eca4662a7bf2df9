"""Measures candidate recipes inside their program.

A session holds one program at one size and target: its unoptimised results, docc's own schedule,
and the prepared program without recipes. A candidate gives some of its nests recipes. It is built,
its numbers are checked against the unoptimised program's, and it is timed in turn with the
reference; timers inside tell what each nest took.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
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
from loopbook.program.regions import is_region
from loopbook.sdfg import program
from loopbook.sdfg.build import build_baseline, build_tuned
from loopbook.steps import Step
from loopbook.toolchain import scratch
from loopbook.toolchain.built import Built
from loopbook.toolchain.run import RUN_SECONDS
from loopbook.toolchain.runner import Runner
from loopbook.toolchain.times import Schedule, Times
from loopbook.tuner.builder_pool import BuilderPool, Ticket, Usage
from loopbook.tuner.builders import Builder
from loopbook.tuner.task import TuningTask
from loopbook.tuner.thresholds import DISTURBED, LOST, ONE_RUN, SLOW_REFERENCE

SEARCH = Schedule(repeats=40, seconds=0.25, at_least=1, give_up=3.0, width=0.03)

Candidate = dict[int, tuple[Step, ...]]
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
        nests: nest position to its seconds without and with its recipe.
        code: hash of the generated C++.
        message: why it failed.
    """

    status: str
    recipes: dict[int, tuple[Step, ...]] = field(default_factory=dict)
    seconds: float = 0.0
    reference_s: float = 0.0
    nests: dict[int, tuple[float, float]] = field(default_factory=dict)
    code: str = ""
    message: str = ""

    @property
    def speedup(self) -> float:
        """Of the whole program over the reference; 0 for a failure."""
        return self.reference_s / self.seconds if self.status == "ok" else 0.0

    def nest_speedup(self, position: int) -> float:
        """Of one nest over docc's own schedule of it; 0 for a failure or where it is not known."""
        before, after = self.nests.get(position, (0.0, 0.0))
        return before / after if after else 0.0


class Session:
    """One program, size and target. Use as a context manager: it keeps builds in a folder.

    Attributes:
        text: the prepared program's SDFG.
        symbols: values of its size symbols.
        nests: of the prepared program.
        tuned: those that recipes are searched for: all, or the regions.
        baseline: docc's own compile, without any of our passes.
        plain: the prepared program without recipes.
        baseline_s, plain_s: their fastest runs before the search, seconds; 0 in a trusted session.
        shares: nest position to its share of the plain program's time.
        folder: where its builds are.
    """

    def __init__(
        self,
        task: TuningTask,
        preset: str,
        target: str,
        *,
        trusted: bool = False,
        timeout: float = RUN_SECONDS,
        threads: int = 1,
        builders: int = 0,
        away: Sequence[Builder] = (),
        regions: bool = False,
    ) -> None:
        """
        Args:
            regions: its regions are nests.
            away: builders on other machines, which are closed with the session.
            builders: processes that compile; default one a core.
            threads: that a run uses; the runner has so many cores for itself.
            timeout: limit for the run that gives the right numbers, seconds; candidates are limited
                by what docc's own compile takes.
            trusted: for confirming at a size where runs take long: docc's own compile is taken to
                be right, and `shares` stay empty.
        """
        self.target = target
        self.folder = scratch.make()
        self.baseline_s = self.plain_s = 0.0
        self.shares: dict[int, float] = {}
        self._plain_nests: dict[int, float] = {}
        self._threads = threads
        self._builders, self._away = builders, away
        self._trusted = trusted
        self._regions = regions
        self._kept = 0
        self._pool: BuilderPool | None = None
        self._incumbent: Built | None = None
        self._incumbent_s = 0.0
        self._best = 0.0
        try:
            self._begin(task, task.arguments(preset), trusted, timeout)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End builders and runner, and delete what was built."""
        if self._pool is not None:
            self._pool.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _begin(self, task: TuningTask, arguments: list[Any], trusted: bool, timeout: float) -> None:
        traced = task.text(arguments)
        self.text, self.nests = program.prepare_apart(traced)
        self.tuned = self.nests
        if self._regions:
            self.text, self.nests = program.in_regions(self.text)
            self.tuned = [nest for nest in self.nests if is_region(nest.loop)]
        self.symbols = task.symbols(arguments)
        self._binding = task.binding(arguments)
        self.baseline = build_baseline(traced, self.target, self.folder / "baseline", timers=True)
        self.plain = build_tuned(self.text, self.target, {}, self.folder / "plain", timers=True)
        right = self.baseline
        if not trusted:
            right = build_baseline(traced, "none", self.folder / "none")
        self.expected, self._first = self._binding.run_once(right, seconds=timeout)
        self._seconds_limit = 60 + 10 * self._first.seconds[0]
        if not trusted:
            self._look_around()

    def _look_around(self) -> None:
        """Time docc's own compile and the prepared program, and see where the time goes."""
        times = self.time([self.baseline, self.plain])
        self._seconds_limit = 4 + 40 * max(max(t.seconds) for t in times)
        self.baseline_s, self.plain_s = (min(t.seconds) for t in times)
        self._plain_nests = _fastest(times[1])
        total = sum(self._plain_nests.values()) or 1.0
        self.shares = {p: self._plain_nests.get(p, 0.0) / total for p in range(len(self.nests))}

    def build(self, candidate: Candidate) -> Built:
        """A candidate's library, with timers, which stays until the session is closed.

        Raises:
            LoopbookError: see `loopbook.sdfg.build.build_tuned`.
        """
        self._kept += 1
        folder = self.folder / f"kept{self._kept}"
        return build_tuned(self.text, self.target, candidate, folder, timers=True)

    def race(self, builts: Sequence[Built], schedule: Schedule) -> tuple[Times, Times, list[Times]]:
        """Times of docc's own compile, of the prepared program and of `builts`, taken in turn; the
        latter are empty for a library with wrong numbers.

        In a trusted session, a run of docc's own compile that took seconds is not repeated.

        Raises:
            LoopbookError: see `loopbook.toolchain.run.Binding.measure`.
        """
        if self._trusted and self._first.seconds[0] > ONE_RUN:
            plain, *rest = self.time([self.plain, *builts], schedule, tolerant=True)
            return self._first, plain, rest
        baseline, plain, *rest = self.time(
            [self.baseline, self.plain, *builts], schedule, tolerant=True
        )
        return baseline, plain, rest

    def check(self, built: Built) -> None:
        """Run `built` once and check its numbers.

        Raises:
            LoopbookError: see `loopbook.toolchain.run.Binding.measure`.
        """
        once = Schedule(repeats=0, at_least=0)
        self._binding.measure([built], once, self.expected, seconds=self._seconds_limit)

    def time(
        self, builts: Sequence[Built], schedule: Schedule | None = None, *, tolerant: bool = False
    ) -> list[Times]:
        """Check the numbers of `builts` and time them in turn.

        Args:
            tolerant: those with wrong numbers get no times, instead of an error.

        Raises:
            LoopbookError: see `loopbook.toolchain.run.Binding.measure`.
        """
        return self._binding.measure(
            builts,
            schedule or SEARCH,
            self.expected,
            tolerant=tolerant,
            seconds=self._seconds_limit * len(builts),
        )

    @property
    def pool(self) -> BuilderPool:
        """Builders and runner; made when first needed."""
        if self._pool is None:
            reference = self._incumbent or (self.baseline if self._slow else self.plain)
            self._pool = BuilderPool(
                self.text,
                self.target,
                Runner(self._binding, reference, self.expected),
                self.folder,
                schedule=SEARCH,
                seconds=self._seconds_limit,
                builders=self._builders,
                threads=self._threads,
                away=self._away,
            )
        return self._pool

    @property
    def usage(self) -> Usage:
        """Where the time has gone so far."""
        return self._pool.usage if self._pool else Usage()

    @property
    def places(self) -> int:
        """How many candidates should be under way to keep builders and runner busy."""
        return self.pool.places

    def measure(self, candidate: Candidate, *, lenient: bool = True) -> Outcome:
        """Build, check and time one candidate. Failures are outcomes, not exceptions.

        Args:
            lenient: leave out steps that docc refuses; else they make the outcome "illegal".
        """
        number = self.submit(candidate, lenient=lenient)
        while True:
            finished, outcome = self.finished()
            if finished == number:
                return outcome

    def submit(self, candidate: Candidate, *, lenient: bool = True) -> int:
        """Begin to measure a candidate; its number, by which `finished` gives it back."""
        lost = LOST * self._best
        return self.pool.submit(candidate, lenient=lenient, lost=lost).number

    def finished(self) -> tuple[int, Outcome]:
        """The next candidate that is done, whatever the order they were submitted in.

        Raises:
            LookupError: nothing is under way.
        """
        ticket = self.pool.finished()
        outcome = self._outcome(ticket)
        self._best = max(self._best, outcome.speedup)
        return ticket.number, outcome

    def _outcome(self, ticket: Ticket) -> Outcome:
        recipes = {p: tuple(Step(*step) for step in steps) for p, steps in ticket.plan.items()}
        code = ""
        if ticket.built is not None:
            code = ticket.built.code
            recipes = {
                position: tuple(Step(op, args) for op, args in ticket.built.recipes[position])
                for position in ticket.plan
            }
        source = ticket.twin or ticket
        if source.error is not None:
            kinds = (s for kind, s in FAILURES.items() if isinstance(source.error, kind))
            return Outcome(next(kinds, "error"), recipes, code=code, message=str(source.error))
        assert source.times is not None
        message = "the same code as an earlier candidate" if ticket.twin else ""
        return self._compared(*source.times, recipes, code, message)

    def adopt(self, built: Built, seconds: float, plain: Times) -> None:
        """Measure candidates next to `built` from now on, instead of next to the prepared program,
        which takes too long: it tells how fast the machine is at the moment. Before the first
        candidate is submitted.

        Args:
            built: a program whose numbers are right.
            seconds: its fastest run, in turn with `plain`.
            plain: times of the prepared program without recipes.
        """
        assert self._pool is None, "there is a reference already"
        self._incumbent, self._incumbent_s = built, seconds
        self.plain_s, self._plain_nests = min(plain.seconds), _fastest(plain)
        total = sum(self._plain_nests.values()) or 1.0
        self.shares = {p: self._plain_nests.get(p, 0.0) / total for p in range(len(self.nests))}
        self._best = self.plain_s / seconds
        self._seconds_limit = 4 + 60 * seconds

    @property
    def _slow(self) -> bool:
        """Whether the prepared program is so slow that docc's own compile is the reference, which
        then only tells how fast the machine is at the moment."""
        return self.plain_s > SLOW_REFERENCE * self.baseline_s

    def _compared(
        self,
        reference: Times,
        tuned: Times,
        recipes: dict[int, tuple[Step, ...]],
        code: str,
        message: str,
    ) -> Outcome:
        reference_s, after = min(reference.seconds), _fastest(tuned)
        usual_s = self._incumbent_s or (self.baseline_s if self._slow else 0.0)
        if usual_s:
            pace = min(reference_s / usual_s, DISTURBED)
            before = {p: seconds * pace for p, seconds in self._plain_nests.items()}
            reference_s = self.plain_s * pace
        else:
            before = _fastest(reference)
            for p, seconds in before.items():
                best = self._plain_nests[p] = min(seconds, self._plain_nests.get(p, seconds))
                before[p] = min(seconds, DISTURBED * best)
        nests = {p: (before[p], after[p]) for p in before if after.get(p, 0.0) > 0}
        return Outcome("ok", recipes, min(tuned.seconds), reference_s, nests, code, message)


def _fastest(times: Times) -> dict[int, float]:
    """Each nest's fastest run: other programs on the machine only ever make runs slower."""
    return {position: min(runs) for position, runs in times.nests.items()}
