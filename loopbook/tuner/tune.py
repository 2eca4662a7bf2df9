"""Tunes one program: search, confirm at other sizes, and turn the result into records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Record
from loopbook.tuner import records
from loopbook.tuner.builders import Builder
from loopbook.tuner.confirmation import (
    BestRecipes,
    Confirmation,
    best_recipes,
    confirm,
    confirm_more,
    whole_programs,
)
from loopbook.tuner.log import Trial, TrialLog
from loopbook.tuner.records import Round
from loopbook.tuner.search import Progress, Starts, search, search_header, unheard
from loopbook.tuner.served import fastest_served
from loopbook.tuner.session import Session
from loopbook.tuner.settings import Settings
from loopbook.tuner.task import TuningTask
from loopbook.tuner.thresholds import REFINE_SECONDS

REFINING = "transfer"
"""The strategy that begins from given recipes."""


@dataclass
class Tuned:
    """What tuning one program came to.

    Attributes:
        records: at least one for each nest; nests that docc's own schedule suits best have an empty
            recipe.
        times: preset to the seconds of the whole program, under docc's own compile and as tuned.
        failures: kind of failure to how many candidates ended that way.
        trials: of the search, in the order they were measured.
    """

    records: list[Record] = field(default_factory=list)
    times: dict[str, tuple[float, float]] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    trials: list[Trial] = field(default_factory=list)

    @property
    def speedups(self) -> dict[str, float]:
        """Preset to the speedup of the whole program over docc's own compile."""
        return {preset: before / after for preset, (before, after) in self.times.items()}


def tune(
    task: TuningTask,
    preset: str,
    hardware: HardwareProfile,
    settings: Settings,
    *,
    log: Path | None = None,
    starts: Starts = lambda nest: (),
    away: Sequence[Builder] = (),
    progress: Progress = unheard,
) -> Tuned:
    """Search recipes for every nest of a program that matters.

    Args:
        preset: the size to search at.
        log: where trials are logged; a search with the same settings goes on where it stopped.
        starts: recipes to try first, such as those of near neighbours or of another target.
        away: builders on other machines, for the search.

    Raises:
        WrongResultError: docc's own compile gives other numbers than Python.
        LoopbookError: if the program cannot be traced, compiled or run at all.
    """
    progress(0, 0, "numbers: what Python says is right")
    task.check()
    progress(0, 0, "docc's own compile, to be compared with")
    trials = TrialLog(log, search_header(task, preset, hardware, settings))
    last = settings.confirm[-1] if settings.confirm else preset
    rounds: dict[str, Round] = {}

    def note(one: str, session: Session, times: Confirmation) -> None:
        rounds[one] = Round.of(one, task.parameters[one], session, times)

    def told(done: int, total: int, line: str) -> None:
        progress(done, settings.trials + settings.refine, line)

    with Session(
        task,
        preset,
        settings.target,
        timeout=settings.timeout,
        threads=hardware.threads,
        builders=settings.builders,
        away=away,
        regions=settings.regions,
    ) as session:
        search(session, hardware, settings, trials, starts=starts, progress=told)
        best = best_recipes(session, trials, task)
        told(settings.trials, 0, "the best ones as they are served")
        best = fastest_served(session, best, hardware, settings, starts)
        if last != preset:
            told(settings.trials, 0, f"confirmation at {last}")
            best, rounds[last] = _refined(task, last, hardware, settings, log, best, told)
        candidates = whole_programs(best)
        told(settings.trials + settings.refine, 0, f"confirmation at {preset}")
        note(preset, session, confirm(session, candidates))
    for other in settings.confirm:
        if other not in rounds:
            told(settings.trials + settings.refine, 0, f"confirmation at {other}")
            with Session(
                task, other, settings.target, trusted=True, regions=settings.regions
            ) as elsewhere:
                note(other, elsewhere, confirm(elsewhere, candidates))
    ordered = [rounds[p] for p in dict.fromkeys((*settings.confirm, preset))]
    found = records.confirmed(
        task.name,
        task.source,
        settings.target,
        session.text,
        session.tuned,
        ordered,
        hardware,
        seed=settings.seed,
        trials=trials.next_number,
    )
    failures = Counter(trial.status for trial in trials.trials if trial.status != "ok")
    return Tuned(
        found,
        {one.preset: one.times for one in ordered},
        dict(failures),
        trials.trials,
    )


def _refined(
    task: TuningTask,
    preset: str,
    hardware: HardwareProfile,
    settings: Settings,
    log: Path | None,
    found: BestRecipes,
    progress: Progress,
) -> tuple[BestRecipes, Round]:
    """The best recipes at the size that matters most: first those of the search, then, where docc's
    own compile is too slow there for a search from nothing, what a short search around them
    finds."""
    with Session(
        task,
        preset,
        settings.target,
        trusted=True,
        threads=hardware.threads,
        regions=settings.regions,
    ) as session:
        first = confirm(session, whole_programs(found))
        if not settings.refine or not first.tuned:
            return found, Round.of(preset, task.parameters[preset], session, first)
        place, times = min(first.tuned.items(), key=lambda item: min(item[1].seconds))
        session.adopt(session.build(first.programs[place]), min(times.seconds), first.plain)
        affordable = round(REFINE_SECONDS / (0.5 + 5 * min(times.seconds)))
        short = replace(settings, strategy=REFINING, trials=min(settings.refine, affordable))
        path = log.with_name(f"{log.stem}-{preset}{log.suffix}") if log else None
        trials = TrialLog(path, search_header(task, preset, hardware, short))
        search(
            session,
            hardware,
            short,
            trials,
            starts=lambda nest: [Recipe(steps) for steps in found.get(nest.position, ())],
            progress=lambda done, _, line: progress(settings.trials + done, 0, line),
        )
        refined = best_recipes(session, trials, task)
        refined = fastest_served(session, refined, hardware, settings)
        both = {
            position: list(
                dict.fromkeys([*refined.get(position, ()), *found.get(position, ())[:2]])
            )
            for position in sorted({*refined, *found})
        }
        last = confirm_more(session, first, whole_programs(both))
        return both, Round.of(preset, task.parameters[preset], session, last)
