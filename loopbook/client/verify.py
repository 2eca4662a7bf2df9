"""Keeps whichever is right and fastest: docc's own compile, or one of the plan's choices."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from loopbook.client.plan import Plan, build_plan
from loopbook.errors import CompilerError, IllegalStepError, LoopbookError, RunError
from loopbook.sdfg import frontend
from loopbook.sdfg.build import Built, build_baseline
from loopbook.sdfg.run import Binding, Schedule

TRIES = 3
"""Choices of every nest that are measured."""

KEEP = 1.02
"""A choice replaces docc's own compile if it is this many times faster."""

QUICK = Schedule(repeats=15, seconds=1.0, at_least=3, give_up=2.0)

RUN_SECONDS = 900.0
"""Limit for all runs of one comparison together."""


@dataclass(frozen=True)
class Verdict:
    """What `Verifier.choose` kept.

    Attributes:
        plan: what was kept; without recipes when docc's own compile was.
        built: its library.
        speedup: over docc's own compile, timed in turn; 1 when that was kept.
        rejected: one line for each plan that was not kept.
    """

    plan: Plan
    built: Built
    speedup: float
    rejected: tuple[str, ...] = ()


@dataclass
class Verifier:
    """One program with its arguments, docc's compile of it, and the numbers that are right.

    Args:
        text: the program's SDFG; default what docc's frontend makes of `func` and `args`.
        folder: where builds go.

    Raises:
        LoopbookError: if docc cannot trace, compile or run the program without optimisation.
    """

    func: Callable[..., Any]
    args: Sequence[Any]
    target: str
    folder: Path
    text: str = ""
    baseline: Built = field(init=False)
    expected: list[np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        self.text = self.text or frontend.trace(self.func, self.args)
        plain = build_baseline(self.text, "none", self.folder / "none")
        self._binding = Binding(self.func, self.args, plain.library)
        self.expected = self._binding.results(plain.library, seconds=RUN_SECONDS)
        self.baseline = build_baseline(self.text, self.target, self.folder / "baseline")

    def build(self, plan: Plan, name: str = "planned") -> Built:
        """Compile `plan`; docc's own compile where its code is the same."""
        if not plan.active:
            return self.baseline
        built = build_plan(self.text, plan, self.folder / name)
        return self.baseline if built.code == self.baseline.code else built

    def check(self, built: Built) -> None:
        """Raise `WrongResultError` if the numbers differ from the unoptimised program's, or another
        `RunError` if it does not run."""
        self._binding.measure(
            [built], Schedule(repeats=0, at_least=0), self.expected, seconds=RUN_SECONDS
        )

    def time(self, built: Built, schedule: Schedule) -> tuple[float, float]:
        """Median seconds of docc's own compile and of `built`, run in turn.

        Two medians of one library where `built` is docc's own.
        """
        times = self._binding.measure([self.baseline, built], schedule, seconds=RUN_SECONDS)
        return statistics.median(times[0].seconds), statistics.median(times[1].seconds)

    def choose(self, plan: Plan, schedule: Schedule = QUICK, *, tries: int = TRIES) -> Verdict:
        """Try the plan and its alternatives, and keep what is right and fastest.

        A choice that is illegal, does not compile, crashes or gives other numbers is rejected; so
        is one that does not beat docc's own compile by `KEEP`.
        """
        rejected: list[str] = []
        best: tuple[float, Plan, Built] | None = None
        seen: set[str] = set()
        for number, alternative in enumerate(plan.alternatives(tries)):
            label = f"choice {number + 1}"
            try:
                built = self.build(alternative, f"planned{number}")
                if built.code in seen:
                    continue
                seen.add(built.code)
                self.check(built)
                before, after = self.time(built, schedule)
            except (IllegalStepError, CompilerError, RunError) as error:
                rejected.append(f"{label}: {error}")
                continue
            speedup = before / after
            if built is self.baseline:
                rejected.append(f"{label}: the same code as docc's own")
            elif speedup < KEEP:
                rejected.append(f"{label}: {speedup:.2f}× docc's own speed")
            elif best is None or speedup > best[0]:
                best = (speedup, alternative, built)
        if best is None:
            reason = "; ".join(rejected) or "nothing to try"
            return Verdict(plan.without_recipes(reason), self.baseline, 1.0, tuple(rejected))
        return Verdict(best[1], best[2], best[0], tuple(rejected))

    def is_right(self, built: Built) -> tuple[bool, str]:
        """Whether a library gives the right numbers, and what is wrong."""
        try:
            self.check(built)
        except LoopbookError as error:
            return False, str(error)
        return True, ""
