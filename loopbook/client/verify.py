"""Measures what the book offers and keeps what is right and fastest, for each nest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from loopbook.client.decision import Choice, Plan
from loopbook.client.plan import build_plan
from loopbook.client.thresholds import KEEP, TRIES
from loopbook.errors import CompilerError, IllegalStepError, RunError
from loopbook.sdfg.build import build_baseline
from loopbook.toolchain.built import Built
from loopbook.toolchain.run import Binding
from loopbook.toolchain.times import Schedule, Times

QUICK = Schedule(repeats=15, seconds=1.0, at_least=1)

RUN_SECONDS = 900.0
"""Limit for all runs of one comparison together."""

Tell = Callable[[str], None]
"""Called with each stage of what takes long."""


def unheard(stage: str) -> None:
    """What is told where nobody listens."""


Picks = Mapping[int, Choice]
"""Nest position to the choice to use; nests that are not named get docc's own schedule."""


@dataclass(frozen=True)
class Verdict:
    """What `Verifier.choose` kept.

    Attributes:
        plan: what was kept; without recipes when docc's own compile was.
        built: its library.
        speedup: over docc's own compile, timed in turn; 1 when that was kept.
        rejected: one line for each thing that was tried and not kept.
    """

    plan: Plan
    built: Built
    speedup: float
    rejected: tuple[str, ...] = ()


@dataclass
class Verifier:
    """One program with its arguments, docc's compile of it, and the numbers that are right.

    Args:
        text: the program's SDFG, not prepared.
        binding: runs libraries that are built from it.
        folder: where builds go.
        seconds: limit for all runs of one comparison together.
        tell: told each stage.

    Raises:
        LoopbookError: if docc cannot compile or run the program without optimisation.
    """

    text: str
    binding: Binding
    target: str
    folder: Path
    seconds: float = RUN_SECONDS
    tell: Tell = unheard
    baseline: Built = field(init=False)
    expected: list[np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        self.tell("docc's code without a schedule, whose numbers are right")
        plain = build_baseline(self.text, "none", self.folder / "none")
        self.expected = self.binding.results(plain.library, seconds=self.seconds)
        self.tell("docc's own compile")
        self.baseline = build_baseline(self.text, self.target, self.folder / "baseline")
        self._count = 0

    def build(self, plan: Plan) -> Built:
        """Compile `plan`; docc's own compile where its code is the same.

        Raises:
            LoopbookError: see `loopbook.sdfg.build.build_tuned`.
        """
        built = self.compiled(plan) if plan.active else self.baseline
        return self.baseline if built.code == self.baseline.code else built

    def compiled(self, plan: Plan, *, timers: bool = False) -> Built:
        """Compile `plan` into a folder of its own.

        Raises:
            LoopbookError: see `loopbook.sdfg.build.build_tuned`.
        """
        return build_plan(self.text, plan, self._fresh(), timers=timers)

    def check(self, built: Built) -> None:
        """Run once.

        Raises:
            WrongResultError: the numbers differ from the unoptimised program's.
            RunError: it crashed, hung or took too much memory.
        """
        once = Schedule(repeats=0, at_least=0)
        self.binding.measure([built], once, self.expected, seconds=self.seconds)

    def time(self, built: Built, schedule: Schedule) -> tuple[float, float]:
        """Seconds of docc's own compile and of `built`, run in turn: the fastest run of each.

        Others on the machine can only slow runs down, and on a busy one they do so to half of them:
        medians of one and the same library then differ by a factor of two. Where `built` is docc's
        own compile, it is timed once and both are that.
        """
        if built is self.baseline:
            times = self.binding.measure([built], schedule, seconds=self.seconds)
            fastest = min(times[0].seconds)
            return fastest, fastest
        times = self.binding.measure([self.baseline, built], schedule, seconds=self.seconds)
        return min(times[0].seconds), min(times[1].seconds)

    def choose(self, plan: Plan, schedule: Schedule = QUICK, *, tries: int = TRIES) -> Verdict:
        """Keep what is right and fastest: for each nest one of its choices or docc's own schedule,
        and docc's own compile where that beats all of it.

        Where no choice is kept, the prepared program is tried without any: loops of their own names
        and unfused nests alone sometimes gain. What is illegal, does not compile, crashes or gives
        other numbers is not kept.
        """
        rejected: list[str] = []
        reason = "measured: slower than docc's own schedule"
        try:
            plain = self.compiled(replace(plan, choices={}, prepared=True), timers=True)
            picks = self._pick(plan, plain, schedule, tries, rejected)
            kept = plan.only(picks, reason)
            for candidate in (kept, replace(kept.without_recipes(reason), prepared=True)):
                if not candidate.active:
                    continue
                self.tell("the best of each nest, all together")
                built = self.build(candidate)
                self.check(built)
                before, after = self.time(built, schedule)
                if plan.prepared or before > KEEP * after:
                    return Verdict(candidate, built, before / after, tuple(rejected))
                rejected.append(f"all together: {before / after:.2f}× docc's own speed")
        except (IllegalStepError, CompilerError, RunError) as error:
            rejected.append(str(error))
        reason = "; ".join(rejected) or "nothing was faster than docc's own schedule"
        return Verdict(plan.without_recipes(reason), self.baseline, 1.0, tuple(rejected))

    def _pick(
        self,
        plan: Plan,
        plain: Built,
        schedule: Schedule,
        tries: int,
        rejected: list[str],
    ) -> dict[int, Choice]:
        """The best choice of each nest by its own time, next to the `plain` prepared program."""
        best: dict[int, tuple[float, Choice]] = {}
        for number, picks in enumerate(_rounds(plan, tries), 1):
            self.tell(f"choice {number} of {_most(plan, tries)} for each nest")
            for part, gains in self._gains(plan, picks, plain, schedule, rejected):
                for position, choice in part.items():
                    least = KEEP if len(choice.recipe) else 0.0
                    if gains[position] > max(least, best.get(position, (0.0, None))[0]):
                        best[position] = (gains[position], choice)
        return {position: choice for position, (_, choice) in best.items()}

    def _gains(
        self,
        plan: Plan,
        picks: Picks,
        plain: Built,
        schedule: Schedule,
        rejected: list[str],
    ) -> Iterator[tuple[Picks, dict[int, float]]]:
        """Speedup of each nest over docc's own schedule; nests one by one if all together fail."""
        try:
            built = self.compiled(plan.only(picks, ""), timers=True)
            self.check(built)
            times = self.binding.measure([plain, built], schedule, seconds=self.seconds)
        except (IllegalStepError, CompilerError, RunError) as error:
            if len(picks) == 1:
                names = ", ".join(choice.name for choice in picks.values())
                rejected.append(f"recipe of {names}: {error}")
                return
            for position, choice in picks.items():
                yield from self._gains(plan, {position: choice}, plain, schedule, rejected)
        else:
            yield picks, {position: _gain(times, position) for position in picks}

    def _fresh(self) -> Path:
        self._count += 1
        return self.folder / f"build{self._count}"


def _rounds(plan: Plan, tries: int) -> Iterator[Picks]:
    """The first choice of every nest, then the second of those that have one, and so on."""
    for number in range(tries):
        picks = {p: c[number] for p, c in plan.choices.items() if number < len(c)}
        if not picks:
            return
        yield picks


def _most(plan: Plan, tries: int) -> int:
    """How many choices some nest has, of those that are tried."""
    return min(tries, max(map(len, plan.choices.values()), default=0))


def _gain(times: Sequence[Times], position: int) -> float:
    """How much faster the nest got; the whole program, where timers could not tell nests apart."""
    before, after = (t.nests.get(position) or t.seconds for t in times)
    return min(before) / max(min(after), 1e-12)
