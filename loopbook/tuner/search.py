"""The search proper: strategies propose, the session measures, the log remembers.

Several candidates are under way at a time, so that builders and runner always have something to do;
strategies are told of each as soon as it is done.
"""

from __future__ import annotations

import datetime
import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypedDict

from loopbook.program.nest import Nest
from loopbook.program.trips import trip_counts
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext
from loopbook.steps import Step
from loopbook.toolchain.compiler import find_compiler
from loopbook.tuner.log import Trial, TrialLog
from loopbook.tuner.neighbours import by_rules_alone
from loopbook.tuner.session import Candidate, Outcome, Session
from loopbook.tuner.settings import Settings
from loopbook.tuner.strategies import STRATEGIES, Problem, Strategy
from loopbook.tuner.task import TuningTask
from loopbook.tuner.thresholds import WORTH_TUNING

Progress = Callable[[int, int, str], None]
"""Called with trials done, trials in all, and a line about the best so far; before there are any,
with 0, 0 and what comes before them."""


def unheard(done: int, total: int, line: str) -> None:
    """The progress of what nobody watches."""


Starts = Callable[[Nest], Sequence[Recipe]]
"""Recipes worth trying first on a nest, most promising first: those of near neighbours."""


@dataclass
class _UnderWay:
    """A candidate that is being measured.

    Attributes:
        number: of the trial; its nests share it when they are measured one by one.
    """

    number: int
    candidate: Candidate


def search(
    session: Session,
    hardware: HardwareProfile,
    settings: Settings,
    log: TrialLog,
    *,
    starts: Starts = lambda nest: (),
    progress: Progress = unheard,
) -> None:
    """Measure `settings.trials` candidates of all nests that matter, into `log`.

    A candidate holds a recipe for every such nest; timers tell how each did. Where one of them
    fails, its nests are measured one by one.

    Args:
        log: what it holds already is not measured again: an interrupted search goes on.
        starts: those that call BLAS are left out unless `settings.libraries` are asked for.
    """
    strategies = _strategies(session, hardware, settings, starts)
    trials = settings.trials
    for trial in log.trials:
        if trial.nest in strategies:
            strategies[trial.nest].ask()  # draws what was drawn then: nothing is proposed twice
            strategies[trial.nest].tell(trial.recipe.steps, trial.speedup or None)
    best = Best(log)
    number, done = log.next_number, log.next_number
    under_way: dict[int, _UnderWay] = {}
    open_parts: dict[int, int] = {}

    def submit(number: int, candidate: Candidate) -> None:
        under_way[session.submit(candidate)] = _UnderWay(number, candidate)
        open_parts[number] = open_parts.get(number, 0) + 1

    while strategies and (number < trials or under_way):
        while number < trials and len(under_way) < session.places:
            submit(number, {position: s.ask() for position, s in strategies.items()})
            number += 1
        ticket, outcome = session.finished()
        job = under_way.pop(ticket)
        open_parts[job.number] -= 1
        if outcome.status != "ok" and len(job.candidate) > 1:
            for position, steps in job.candidate.items():
                submit(job.number, {position: steps})
        else:
            measured = [
                _trial(session, job.number, position, proposed, outcome)
                for position, proposed in job.candidate.items()
            ]
            for trial in measured:
                strategies[trial.nest].tell(trial.recipe.steps, trial.speedup or None)
            log.add(*measured)
            best.add(*measured)
        if not open_parts[job.number]:
            del open_parts[job.number]
            done += 1
            progress(done, trials, best.line())


def search_header(
    task: TuningTask,
    preset: str,
    hardware: HardwareProfile,
    settings: Settings,
) -> dict[str, Any]:
    """What a search is: the first line of its log."""
    return {
        "kernel": task.name,
        "preset": preset,
        "sizes": dict(task.parameters[preset]),
        "target": settings.target,
        "strategy": settings.strategy,
        "seed": settings.seed,
        "hardware": hardware.key,
        "versions": versions(),
        "profile": hardware.to_json(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        # Left out where it is not so: logs from before there were libraries go on.
        **({"libraries": True} if settings.libraries else {}),
        **({"regions": True} if settings.regions else {}),
    }


class Versions(TypedDict):
    docc: str
    compiler: str
    loopbook: str


def versions() -> Versions:
    """Of what decides how fast a recipe is."""
    return {
        "docc": importlib.metadata.version("docc-compiler"),
        "compiler": find_compiler().version,
        "loopbook": importlib.metadata.version("loopbook"),
    }


def _strategies(
    session: Session,
    hardware: HardwareProfile,
    settings: Settings,
    starts: Starts,
) -> dict[int, Strategy]:
    """One for each nest that matters, by position."""
    return {
        nest.position: STRATEGIES[settings.strategy](
            _problem(nest, session, hardware, settings, starts)
        )
        for nest in session.tuned
        if session.shares[nest.position] >= WORTH_TUNING
    }


def _problem(
    nest: Nest, session: Session, hardware: HardwareProfile, settings: Settings, starts: Starts
) -> Problem:
    trips = trip_counts(nest, session.symbols)
    context = TuningContext.of(hardware, session.target, trips, libraries=settings.libraries)
    recipes = dict.fromkeys((*by_rules_alone(nest, context), *starts(nest)))
    return Problem(
        nest=nest,
        context=context,
        random=Random(f"{settings.seed} {nest.fingerprint} {nest.position}"),
        starts=tuple(
            recipe.steps
            for recipe in recipes
            if settings.libraries or all(step.op != "library" for step in recipe.steps)
        ),
    )


def _trial(
    session: Session,
    number: int,
    position: int,
    proposed: tuple[Step, ...],
    outcome: Outcome,
) -> Trial:
    """What is logged: the steps that docc accepted, and how they did."""
    before, after = outcome.nests.get(position, (0.0, 0.0))
    return Trial(
        number,
        position,
        session.nests[position].fingerprint,
        Recipe(outcome.recipes.get(position, proposed)),
        outcome.status,
        round(outcome.nest_speedup(position), 4),
        round(outcome.seconds, 9),
        outcome.message,
        before_s=round(before, 9),
        after_s=round(after, 9),
        code=outcome.code,
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


class Best:
    """The fastest recipe of each nest so far."""

    def __init__(self, log: TrialLog) -> None:
        self._speedups: dict[int, float] = {}
        self.add(*log.trials)

    def add(self, *trials: Trial) -> None:
        for trial in trials:
            if trial.status == "ok" and trial.speedup > self._speedups.get(trial.nest, 0.0):
                self._speedups[trial.nest] = trial.speedup

    def line(self) -> str:
        """Such as "nest 0: 1.20×, nest 2: 8.31×"."""
        return ", ".join(
            f"nest {nest}: {gain:.2f}×" for nest, gain in sorted(self._speedups.items())
        )


def ranking(log: TrialLog, position: int) -> list[Trial]:
    """A nest's distinct measured recipes, best first."""
    best: dict[Recipe, Trial] = {}
    for trial in log.trials:
        if trial.nest == position and trial.status == "ok" and trial.speedup > 0:
            known = best.get(trial.recipe)
            if known is None or trial.speedup > known.speedup:
                best[trial.recipe] = trial
    return sorted(best.values(), key=lambda trial: -trial.speedup)
