"""Tunes one program: search, confirm at other sizes, and turn the result into records."""

from __future__ import annotations

import datetime
import importlib.metadata
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from loopbook.errors import LoopbookError
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Measurement, Provenance, Record
from loopbook.recipes.step import Step
from loopbook.sdfg import program
from loopbook.sdfg.build import Built, build_tuned
from loopbook.sdfg.compiler import find_compiler
from loopbook.sdfg.run import RUN_SECONDS, Schedule, Times
from loopbook.tuner.log import Trial, TrialLog
from loopbook.tuner.moves import Surroundings
from loopbook.tuner.recheck import right_elsewhere
from loopbook.tuner.session import Candidate, Outcome, Session
from loopbook.tuner.strategies import STRATEGIES, Strategy
from loopbook.tuner.subject import Subject

WORTH_TUNING = 0.02
"""Nests that take a smaller share of their program's time are left to docc."""

SLOWER = 0.97
"""A finalist that does worse than this against docc's own schedule at any size is out."""

FINALISTS = 2

CONFIRM = Schedule(repeats=9, seconds=2.0, at_least=2)

Progress = Callable[[int, int, str], None]
"""Called with trials done, trials in all, and a line about the best so far."""


@dataclass(frozen=True)
class Settings:
    """How to search.

    Attributes:
        target: "sequential" or "openmp".
        trials: candidates to measure.
        strategy: a name in `STRATEGIES`.
        seed: of every random choice.
        confirm: presets at which finalists are compared with docc's own schedule as well.
        timeout: limit for a run of the unoptimised program, seconds.
    """

    target: str = "sequential"
    trials: int = 40
    strategy: str = "evolution"
    seed: int = 0
    confirm: Sequence[str] = ()
    timeout: float = RUN_SECONDS


@dataclass
class Tuned:
    """What tuning one program came to.

    Attributes:
        records: one for each nest; nests that docc's own schedule suits best have an empty recipe.
        speedups: preset to the speedup of the whole program over docc's own schedule.
        failures: kind of failure to how many candidates ended that way.
    """

    records: list[Record] = field(default_factory=list)
    speedups: dict[str, float] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)


def tune(
    subject: Subject,
    preset: str,
    hardware: HardwareProfile,
    settings: Settings,
    *,
    log: Path | None = None,
    starts: Mapping[str, Sequence[Recipe]] | None = None,
    progress: Progress = lambda done, total, line: None,
) -> Tuned:
    """Search recipes for every nest of a program that matters.

    Args:
        preset: the size to search at.
        log: where trials are logged; a search with the same settings goes on where it stopped.
        starts: fingerprint to recipes to try first (such as those of another target).

    Raises:
        LoopbookError: if the program cannot be traced, compiled or run at all.
    """
    header = {
        "kernel": subject.name,
        "preset": preset,
        "sizes": dict(subject.parameters[preset]),
        "target": settings.target,
        "strategy": settings.strategy,
        "seed": settings.seed,
        "hardware": hardware.key,
    }
    trials = TrialLog(log, header)
    with Session(subject, preset, settings.target, timeout=settings.timeout) as session:
        _search(session, hardware, settings, trials, starts or {}, progress)
        finalists = _finalists(session, trials)
        right = right_elsewhere(subject, settings.target, finalists)
        finalists = [f for f, ok in zip(finalists, right, strict=True) if ok]
        results = {preset: _confirm(session, finalists)}
    for other in settings.confirm:
        if other != preset:
            with Session(subject, other, settings.target, trusted=True) as session:
                results[other] = _confirm(session, finalists)
    return _conclude(subject, hardware, settings, session, trials, finalists, results)


def _search(
    session: Session,
    hardware: HardwareProfile,
    settings: Settings,
    trials: TrialLog,
    starts: Mapping[str, Sequence[Recipe]],
    progress: Progress,
) -> None:
    around = Surroundings.of(hardware, settings.target)
    strategies: dict[int, Strategy] = {}
    waiting: dict[int, list[tuple[Step, ...]]] = {}
    for nest in session.nests:
        if session.shares[nest.position] >= WORTH_TUNING:
            random = Random(f"{settings.seed} {nest.fingerprint} {nest.position}")
            strategies[nest.position] = STRATEGIES[settings.strategy](nest, random, around)
            waiting[nest.position] = [r.steps for r in starts.get(nest.fingerprint, ())]

    def ask(position: int) -> tuple[Step, ...]:
        return waiting[position].pop(0) if waiting[position] else strategies[position].ask()

    for trial in trials.trials:
        if trial.nest in strategies:
            ask(trial.nest)  # draws what was drawn then, so that nothing is proposed twice
            strategies[trial.nest].tell(trial.recipe.steps, trial.speedup or None)
    for number in range(trials.next_number, settings.trials):
        candidate = {position: ask(position) for position in strategies}
        outcome = session.measure(candidate)
        parts = dict.fromkeys(candidate, outcome)
        if outcome.status != "ok" and len(candidate) > 1:
            parts = {p: session.measure({p: steps}) for p, steps in candidate.items()}
        measured = [
            _trial(session, number, position, candidate[position], part)
            for position, part in parts.items()
        ]
        for trial in measured:
            strategies[trial.nest].tell(trial.recipe.steps, trial.speedup or None)
        trials.add(*measured)
        progress(number + 1, settings.trials, _best_line(session, trials))


def _trial(
    session: Session,
    number: int,
    position: int,
    proposed: tuple[Step, ...],
    outcome: Outcome,
) -> Trial:
    """What is logged: the steps that docc accepted, and how they did."""
    speedup = outcome.nests.get(position, 0.0) if outcome.status == "ok" else 0.0
    return Trial(
        number,
        position,
        session.nests[position].fingerprint,
        Recipe(outcome.recipes.get(position, proposed)),
        outcome.status,
        round(speedup, 4),
        round(outcome.seconds, 9),
        outcome.message,
    )


def _ranking(trials: TrialLog, position: int) -> list[Trial]:
    """The nest's distinct measured recipes, best first."""
    best: dict[Recipe, Trial] = {}
    for trial in trials.trials:
        if trial.nest == position and trial.status == "ok" and trial.speedup > 0:
            known = best.get(trial.recipe)
            if known is None or trial.speedup > known.speedup:
                best[trial.recipe] = trial
    return sorted(best.values(), key=lambda trial: -trial.speedup)


def _best_line(session: Session, trials: TrialLog) -> str:
    parts = []
    for nest in session.nests:
        ranking = _ranking(trials, nest.position)
        if ranking:
            parts.append(f"{nest.position}: {ranking[0].speedup:.2f}×")
    return ", ".join(parts)


def _finalists(session: Session, trials: TrialLog) -> list[Candidate]:
    """Whole programs to compare: no recipes, then the best, second best… of every nest."""
    finalists: list[Candidate] = [{}]
    for place in range(FINALISTS):
        candidate = {}
        for nest in session.nests:
            ranking = [t for t in _ranking(trials, nest.position) if t.speedup > 1.02]
            if ranking:
                candidate[nest.position] = ranking[min(place, len(ranking) - 1)].recipe.steps
        if candidate and candidate not in finalists:
            finalists.append(candidate)
    return finalists


@dataclass(frozen=True)
class _Final:
    """One finalist at one size, next to docc's own compile."""

    baseline: Times
    plain: Times
    tuned: Times

    @property
    def speedup(self) -> float:
        return min(self.baseline.seconds) / min(self.tuned.seconds)


def _confirm(session: Session, finalists: Sequence[Candidate]) -> list[_Final | None]:
    """Time all finalists in turn with docc's own compile; None for one that fails."""
    builts: list[Built | None] = []
    for number, candidate in enumerate(finalists):
        try:
            built = build_tuned(
                session.text,
                session.target,
                candidate,
                session.folder / f"final{number}",
                timers=True,
            )
            session.time([built], Schedule(repeats=0))
        except LoopbookError:
            builts.append(None)
        else:
            builts.append(built)
    right = [built for built in builts if built is not None]
    baseline, plain, *tuned = session.time([session.baseline, session.plain, *right], CONFIRM)
    times = iter(tuned)
    return [None if built is None else _Final(baseline, plain, next(times)) for built in builts]


def _conclude(
    subject: Subject,
    hardware: HardwareProfile,
    settings: Settings,
    session: Session,
    trials: TrialLog,
    finalists: Sequence[Candidate],
    results: Mapping[str, list[_Final | None]],
) -> Tuned:
    """Choose the finalist that is best over all sizes; docc's own schedule wins ties."""
    chosen, best = None, 1.0
    for number in range(len(finalists)):
        finals = [results[preset][number] for preset in results]
        speedups = [final.speedup if final else 0.0 for final in finals]
        mean = math.exp(statistics.fmean(math.log(max(s, 1e-9)) for s in speedups))
        if min(speedups) >= SLOWER and mean > max(best, 1.02):
            chosen, best = number, mean
    tuned = Tuned(failures=_failures(trials))
    shown = chosen if chosen is not None else 0
    sizes = {preset: subject.parameters[preset] for preset in results}
    measured = {
        p: final for p, finals in results.items() if finals and (final := finals[shown]) is not None
    }
    tuned.speedups = {
        p: final.speedup if chosen is not None else 1.0 for p, final in measured.items()
    }
    prepared = program.prepare(session.text)
    for nest in session.nests:
        steps = finalists[shown].get(nest.position, ()) if chosen is not None else ()
        tuned.records.append(
            Record(
                fingerprint=nest.fingerprint,
                nest=f"{subject.name}:{nest.position}",
                nest_json=program.cut(prepared, nest),
                target=settings.target,
                hardware=hardware,
                recipe=Recipe(steps),
                measurements=tuple(
                    _measurement(final, nest.position, len(session.nests), sizes[preset])
                    if chosen is not None
                    else _left_to_docc(final, sizes[preset])
                    for preset, final in measured.items()
                ),
                provenance=Provenance(
                    kernel=subject.name,
                    source=subject.source,
                    date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                    docc=importlib.metadata.version("docc-compiler"),
                    compiler=find_compiler().version,
                    loopbook=importlib.metadata.version("loopbook"),
                    seed=settings.seed,
                    trials=trials.next_number,
                ),
            )
        )
    return tuned


def _measurement(final: _Final, position: int, nests: int, sizes: Mapping[str, int]) -> Measurement:
    """The nest's times under docc's own compile and with the recipe.

    docc's own compile fuses nests. Where it keeps as many as we have, they are compared one by one;
    else the nest's part of docc's time is estimated by its part of the prepared program's.
    """
    tuned = _fastest(final.tuned, position)
    if len(final.baseline.nests) == nests:
        baseline = _fastest(final.baseline, position)
    else:
        whole = min(final.baseline.seconds) / min(final.plain.seconds)
        baseline = _fastest(final.plain, position) * whole
    ratios = [b / t for b, t in zip(final.baseline.seconds, final.tuned.seconds, strict=True)]
    return Measurement(
        baseline_s=max(baseline, 1e-9),
        tuned_s=max(tuned, 1e-9),
        spread=_spread(ratios),
        runs=len(ratios),
        sizes={k: int(v) for k, v in sizes.items()},
    )


def _left_to_docc(final: _Final, sizes: Mapping[str, int]) -> Measurement:
    """For a nest of a program that nothing made faster: the whole program, as docc compiles it and
    as we would at best."""
    baseline = min(final.baseline.seconds)
    return Measurement(
        baseline_s=baseline,
        tuned_s=max(baseline, min(final.plain.seconds)),
        spread=_spread(
            [b / p for b, p in zip(final.baseline.seconds, final.plain.seconds, strict=True)]
        ),
        runs=len(final.plain.seconds),
        sizes={k: int(v) for k, v in sizes.items()},
    )


def _fastest(times: Times, position: int) -> float:
    runs = times.nests.get(position)
    return min(runs) if runs else 0.0


def _spread(ratios: Sequence[float]) -> float:
    """Interquartile range over median."""
    if len(ratios) < 4:
        return (max(ratios) - min(ratios)) / statistics.median(ratios)
    low, middle, high = statistics.quantiles(ratios, n=4)
    return (high - low) / middle


def _failures(trials: TrialLog) -> dict[str, int]:
    counts: dict[str, Any] = {}
    for trial in trials.trials:
        if trial.status != "ok":
            counts[trial.status] = counts.get(trial.status, 0) + 1
    return counts
