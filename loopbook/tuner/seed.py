"""Fills a book from a suite of programs, one by one, and goes on where it was stopped."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from loopbook.errors import DeadlineError, LoopbookError
from loopbook.program.nest import Nest
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.recipe import Recipe
from loopbook.recipes.record import Record
from loopbook.rules.threads import threaded
from loopbook.sdfg.build import build_baseline
from loopbook.targets import DEFAULT, named
from loopbook.toolchain import scratch
from loopbook.toolchain.run import RUN_SECONDS
from loopbook.toolchain.times import Schedule
from loopbook.tuner.search import Progress, Starts, unheard
from loopbook.tuner.settings import Settings
from loopbook.tuner.task import TuningTask
from loopbook.tuner.thresholds import LONG_ENOUGH, TOO_LONG
from loopbook.tuner.tune import Tuned, tune


@dataclass(frozen=True)
class Job:
    """One program for one target.

    Attributes:
        preset: the size to search at; chosen by how long a run takes if empty.
        regions: what is tuned: see `loopbook.tuner.settings.Settings`.
    """

    task: TuningTask
    target: str
    preset: str = ""
    regions: bool = False


@dataclass(frozen=True)
class Done:
    """What became of a job: its records, or why there are none.

    Attributes:
        skipped: it had been done before.
        seconds: it took.
        kept: the records as the book has them: in place of one that says nothing new, the one that
            was there.
    """

    job: Job
    tuned: Tuned | None
    error: str = ""
    skipped: bool = False
    seconds: float = 0.0
    kept: tuple[Record, ...] = ()


def jobs(
    tasks: Iterable[TuningTask],
    targets: Sequence[str],
    preset: str = "",
    *,
    regions: bool = False,
) -> list[Job]:
    """All programs for the first target, then all for the next, which can start from the first."""
    listed = list(tasks)
    return [Job(task, target, preset, regions) for target in targets for task in listed]


def seed(
    todo: Sequence[Job],
    hardware: Callable[[str], HardwareProfile],
    settings: Settings,
    *,
    logs: Path,
    known: Callable[[Job], Sequence[Record]],
    keep: Callable[[Sequence[Record]], Sequence[Record]],
    neighbours: Callable[[Nest, Job], Sequence[Recipe]] = lambda nest, job: (),
    again: bool = False,
    progress: Callable[[Job], Progress] = lambda job: unheard,
) -> Iterator[Done]:
    """Tune jobs and keep their records.

    A job whose records are known is skipped; one that was stopped half-way goes on from its log.

    Args:
        hardware: target to the profile to tune for.
        logs: folder for the logs of trials.
        known: a job's records that have been kept before.
        keep: stores a job's records, all or none; returns them as they are kept.
        neighbours: recipes of near neighbours, ported to a nest, nearest first.
        again: do also jobs whose records are known.
        progress: makes the callback for a job's search.
    """
    for job in todo:
        if not again and known(job):
            yield Done(job, None, skipped=True)
            continue
        started = time.monotonic()
        told = progress(job)
        try:
            told(0, 0, "sizes: how long it takes without a recipe")
            preset, confirm = sizes_for(job, settings.timeout)
            machine = hardware(job.target)
            tuned = tune(
                job.task,
                preset,
                machine,
                replace(settings, target=job.target, confirm=confirm),
                log=log_of(logs, job),
                starts=_starts(job, machine.threads, known, neighbours),
                progress=told,
            )
        except LoopbookError as error:
            yield Done(job, None, str(error), seconds=time.monotonic() - started)
            continue
        kept = tuple(keep(tuned.records))
        yield Done(job, tuned, seconds=time.monotonic() - started, kept=kept)


def log_of(logs: Path, job: Job) -> Path:
    """Where a job's trials are logged."""
    return logs / f"{job.task.name}-{job.target}{'-regions' if job.regions else ''}.jsonl"


def sizes_for(job: Job, timeout: float = RUN_SECONDS) -> tuple[str, tuple[str, ...]]:
    """The preset to search at, and the presets to confirm at, smallest first."""
    if job.preset:
        return job.preset, (job.preset,)
    names = job.task.measured_at
    times: dict[str, float] = {}
    for name in names:
        try:
            times[name] = _baseline_seconds(job, name, timeout)
        except DeadlineError:
            if not times:
                raise
            break
        if times[name] > TOO_LONG:
            break
    confirm = tuple(name for name in names if times.get(name, math.inf) <= TOO_LONG)
    search = next(
        (name for name in confirm if times[name] >= LONG_ENOUGH), (names[0], *confirm)[-1]
    )
    return search, confirm


def _baseline_seconds(job: Job, preset: str, timeout: float) -> float:
    """One run of docc's own compile; the fastest of two, where that takes no time."""
    arguments = job.task.arguments(preset)
    with scratch.folder() as folder:
        built = build_baseline(job.task.text(arguments), job.target, folder)
        schedule = Schedule(repeats=2, seconds=0.5, at_least=1)
        times = job.task.binding(arguments).measure([built], schedule, seconds=timeout)
    return min(times[0].seconds)


def _starts(
    job: Job,
    threads: int,
    known: Callable[[Job], Sequence[Record]],
    neighbours: Callable[[Nest, Job], Sequence[Recipe]],
) -> Starts:
    """What was found for one thread, with threads in several ways; then the recipes of near
    neighbours."""
    if not named(job.target).parallel:
        return lambda nest: neighbours(nest, job)
    own: dict[str, list[Recipe]] = {}
    for record in known(Job(job.task, DEFAULT)):
        own.setdefault(record.fingerprint, []).extend(
            Recipe(tuple(steps)) for steps in threaded(record.recipe.steps, threads)
        )
    return lambda nest: [*own.get(nest.fingerprint, ()), *neighbours(nest, job)]
