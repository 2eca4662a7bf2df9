"""Carries out what `tune` and `seed` ask for, and tells what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from loopbook import display
from loopbook.cli import style
from loopbook.cli.answers import Answer, listed
from loopbook.cli.progress import Progress, progress
from loopbook.errors import BookError, LoopbookError
from loopbook.targets import runnable

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType
    from rich.text import Text

    from loopbook.cli.search import Search
    from loopbook.recipes.hardware import HardwareProfile
    from loopbook.tuner.log import Trial
    from loopbook.tuner.search import Progress as Heard
    from loopbook.tuner.seed import Done, Job

KEPT = "the trials so far are kept, and the same command goes on from them"

NESTS = 6
"""Recipes that are shown of all searches; the book has the others."""

STEPS = 24
"""Steps that are shown of these."""


class Kept(Answer):
    """A record that came of a search.

    Attributes:
        record: its id.
        nest: that it is about.
        speedup: geometric mean over the sizes measured.
        recipe: its steps, a line each.
    """

    record: str
    nest: str
    speedup: float
    recipe: str


class Searched(Answer):
    """What came of the search for one program and target.

    Attributes:
        skipped: the book knew it already.
        error: why it could not be tuned; empty if it was.
        seconds: that it took.
        speedups: size to how many times faster the whole program became.
        failures: kind of failure to how many candidates ended that way.
    """

    kernel: str
    target: str
    skipped: bool
    error: str
    seconds: float
    speedups: dict[str, float]
    failures: dict[str, int]
    records: list[Kept]


def tune(jobs: Sequence[Job], search: Search, searched: dict[str, Sequence[Trial]]) -> None:
    """Tune one program, also if the book knows it, and show what was found.

    Args:
        searched: takes the trials of each search, by what people call it; also those of one that
            is stopped.

    Raises:
        LoopbookError: it cannot be tuned.
    """
    from loopbook.tuner.log import read_trials
    from loopbook.tuner.seed import log_of

    path, logs = _places(search)
    measured: set[Job] = set()
    with (
        listed(Searched, search.json) as found,
        progress("opening the book", len(jobs), "target", stopped=KEPT) as shown,
    ):
        try:
            for result in _done(jobs, search, shown, again=True, measured=measured):
                if result.error:
                    raise LoopbookError(f"{result.job.task.name}: {result.error}")
                found.append(told(result))
                if not search.json:
                    log = log_of(logs, result.job)
                    shown.tell(*outcome(result, path, log, 1 / len(jobs)), "")
        finally:
            for job in jobs:
                if job in measured:
                    searched[title(job)] = read_trials(log_of(logs, job))


def seed(jobs: Sequence[Job], search: Search) -> int:
    """Tune what the book does not know yet, a line for each. Exit code 1 if one failed."""
    failed = False
    with (
        listed(Searched, search.json) as found,
        progress("opening the book", len(jobs), "program", stopped=KEPT) as shown,
    ):
        for result in _done(jobs, search, shown, again=False, measured=set()):
            failed |= bool(result.error)
            if result.skipped:
                shown.restart()
            found.append(told(result))
            if not search.json:
                shown.tell(style.joined(f"{title(result.job):<28}", _brief(result)))
    return 1 if failed else 0


def title(job: Job) -> str:
    """What people call a search."""
    return f"{job.task.name} {job.target}"


def _places(search: Search) -> tuple[Path, Path]:
    """The book, and the folder of the logs of trials."""
    from loopbook.client.places import own_path

    path = search.book or own_path()
    return path, path.parent / f"{path.stem}-trials"


def _done(
    jobs: Sequence[Job], search: Search, shown: Progress, *, again: bool, measured: set[Job]
) -> Iterator[Done]:
    """Do jobs and keep what comes out.

    Args:
        again: also those that the book knows.
        measured: takes the jobs of which candidates have been measured.
    """
    from loopbook.client.opening import open_book
    from loopbook.embed.inference import Encoder
    from loopbook.recipes.book import Book
    from loopbook.toolchain.compiler import activate
    from loopbook.tuner.keep import Keeper
    from loopbook.tuner.neighbours import ported_neighbours
    from loopbook.tuner.seed import seed as run

    activate()
    path, logs = _places(search)
    with Book.open(path) as opened:
        if opened.readonly:  # better said now than after hours of measuring
            raise BookError(f"book {path} is read-only: name another one with --book")
        encoder = Encoder.load()
        keeper = Keeper(opened, encoder, _profile)
        layered = open_book(path, encoder=encoder)
        done = run(
            jobs,
            _profile,
            search.settings,
            logs=logs,
            known=keeper.known,
            keep=keeper.keep,
            neighbours=lambda nest, job: ported_neighbours(layered, nest, job.target),
            again=again,
            progress=lambda job: _heard(shown, job, measured),
        )
        for number, result in enumerate(done, 1):
            yield result
            shown.job(number)


def _heard(shown: Progress, job: Job, measured: set[Job]) -> Heard:
    """What a search calls with how far it has got."""

    def heard(done: int, total: int, line: str) -> None:
        if not total:
            shown.stage(f"{title(job)}, {line}")
            return
        if job not in measured:
            measured.add(job)
            shown.stage(f"{title(job)}, candidates")
        shown.at(done, total, line)

    return heard


def _profile(target: str) -> HardwareProfile:
    from loopbook.client.hardware import local_profile

    return local_profile(runnable(target).threads)


def told(result: Done) -> dict[str, Any]:
    """What ``--json`` says of a job."""
    return {
        "kernel": result.job.task.name,
        "target": result.job.target,
        "skipped": result.skipped,
        "error": result.error,
        "seconds": round(result.seconds, 1),
        "speedups": result.tuned.speedups if result.tuned else {},
        "failures": result.tuned.failures if result.tuned else {},
        "records": [
            {"record": r.id, "nest": r.nest, "speedup": r.speedup, "recipe": r.recipe.text()}
            for r in result.kept
        ],
    }


def _brief(result: Done) -> Text:
    """What came of a job, on one line."""
    if result.skipped:
        return style.text("in the book already", style.QUIET)
    if result.tuned is None:
        return style.text(f"✗ {result.error}", style.BAD)
    gains = [
        style.joined(style.text(preset, style.QUIET), style.gain(gain))
        for preset, gain in result.tuned.speedups.items()
    ]
    return style.joined(*gains, between="   ")


def outcome(result: Done, book: Path, log: Path, share: float) -> Iterator[RenderableType]:
    """What a search has found: before and after, the recipe, and where it went.

    Args:
        share: of the lines that may be printed.
    """
    tuned = result.tuned
    assert tuned is not None
    tried = f"{len({trial.number for trial in tuned.trials})} candidates"
    yield style.heading(title(result.job), f"{tried}, {display.seconds(result.seconds)}")
    times = style.table("size", "docc", "tuned", "gain", right=["docc", "tuned", "gain"])
    for preset, (before, after) in tuned.times.items():
        gain = style.gain(before / after)
        style.add(times, preset, display.seconds(before), display.seconds(after), gain)
    yield times
    yield ""
    found = [record for record in result.kept if len(record.recipe)]
    if not found:
        yield style.text("No recipe was faster than docc's own schedule.")
    first = found[: int(NESTS * share) or 1]
    for record in first:
        yield style.joined(
            style.text(record.nest, style.NAME),
            style.gain(record.speedup),
            style.text(f"record {record.id[:12]}", style.QUIET),
            between="  ",
        )
        steps = record.recipe.text().splitlines()
        for line in style.some(steps, max(int(STEPS * share) // len(first), 2), "steps"):
            yield f"    {line}"
    if len(found) > len(first):
        yield f"… {len(found) - len(first)} more recipes in the book"
    if found:
        yield ""
    new = len({record.id for record in result.kept} & {record.id for record in tuned.records})
    yield style.pairs(
        ("book", book),
        ("records", f"{new} new, {len(result.kept) - new} known already"),
        ("trials", log),
    )
