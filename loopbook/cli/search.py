"""Commands that measure for long: tune, seed. All show progress and resume."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import options
from loopbook.cli.bars import bars, say
from loopbook.cli.source import load_source, load_workload
from loopbook.errors import BookError, InputError, LoopbookError
from loopbook.printable import one_line
from loopbook.targets import choice, here, runnable

if TYPE_CHECKING:
    from loopbook.recipes.hardware import HardwareProfile
    from loopbook.recipes.record import Record
    from loopbook.tuner.log import Trial
    from loopbook.tuner.search import Progress
    from loopbook.tuner.seed import Done, Job
    from loopbook.tuner.settings import Settings
    from loopbook.workloads.workload import Workload

seed_app = typer.Typer(help="Fill a book from a suite of kernels.", no_args_is_help=True)

Trials = Annotated[int, typer.Option(help="candidates to measure for each program", min=1)]
Refine = Annotated[
    int,
    typer.Option(
        help="candidates to measure at the largest size, around the best ones found", min=0
    ),
]
Strategy = Annotated[
    str, typer.Option(help="random, genetic, model or transfer; default the one that wins")
]
Seed = Annotated[int, typer.Option(help="of all random choices")]
Targets = Annotated[list[str] | None, typer.Option(help=f"{choice()}; repeatable; default all")]
Timeout = Annotated[
    float, typer.Option(help="limit for a run of the unoptimised program, seconds", min=0.01)
]
Libraries = Annotated[
    bool, typer.Option(help="let products of matrices become calls of BLAS", show_default=True)
]
Program = Annotated[
    list[str] | None, typer.Option("--only", help="the program of this name; repeatable")
]
OneSize = Annotated[
    str, typer.Option(help="search and confirm at this size only; default S, M and L")
]
OwnBook = Annotated[
    Path | None, typer.Option("--book", help="where records go; default the user's book")
]


@dataclass(frozen=True)
class Search:
    """How to search, and where what is found goes.

    Attributes:
        book: None for the user's.
        json: print JSON.
    """

    targets: Sequence[str]
    settings: Settings
    book: Path | None
    json: bool

    @classmethod
    def of(
        cls,
        target: Targets = None,
        trials: Trials = 100,
        refine: Refine = 40,
        strategy: Strategy = "",
        seed: Seed = 0,
        timeout: Timeout = 120.0,
        libraries: Libraries = False,
        book: OwnBook = None,
        json: options.Json = False,
    ) -> Search:
        """The search that a command line's words ask for.

        Raises:
            InputError: if one of them names nothing that there is.
        """
        from loopbook.tuner.settings import Settings
        from loopbook.tuner.strategies import DEFAULT, STRATEGIES

        strategy = strategy or DEFAULT
        if strategy not in STRATEGIES:
            raise InputError(f"there is no strategy {strategy!r}; take {' or '.join(STRATEGIES)}")
        settings = Settings(
            trials=trials,
            refine=refine,
            strategy=strategy,
            seed=seed,
            timeout=timeout,
            libraries=libraries,
        )
        return cls([runnable(name).name for name in target or here()], settings, book, json)


@options.made_by(Search.of, libraries=True)
def tune(
    search: Search,
    file: options.File,
    preset: options.Preset = "",
    size: options.Size = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="draw the best speedup against the number of candidates: PNG, SVG…"),
    ] = None,
) -> int:
    """Search recipes for one program by measuring, and put them into the book."""
    from loopbook.tuner.plot import plot_searches
    from loopbook.tuner.seed import Job

    source = load_source(file, preset, options.read_sizes(size))
    source.check()
    task = source.task()
    jobs = [Job(task, target, source.preset) for target in search.targets]
    searched: dict[str, Sequence[Trial]] = {}
    code = _run(jobs, search, again=True, searched=searched)
    if plot is not None:
        plot_searches(searched, plot)
    return code


@seed_app.command("polybench")
@options.made_by(Search.of)
def polybench(
    search: Search,
    only: Annotated[list[str] | None, typer.Option(help="this kernel; repeatable")] = None,
    preset: Annotated[
        str, typer.Option(help="search and confirm at this size only; default SMALL to LARGE")
    ] = "",
) -> int:
    """Tune the PolyBench kernels. Stop it any time; the same command goes on.

    Recipes call no BLAS unless asked to, so that they are worth the same on every machine.
    """
    from loopbook.workloads import polybench as suite

    unknown = set(only or ()) - set(suite.names())
    if unknown:
        raise InputError(f"PolyBench has no {', '.join(sorted(unknown))}")
    return _seeded([suite.load(name) for name in only or suite.names()], preset, search)


@seed_app.command("synthetic")
@options.made_by(Search.of)
def synthetic(
    search: Search,
    count: Annotated[int, typer.Option(help="programs to make", min=1)] = 100,
    family: Annotated[list[str] | None, typer.Option(help="this family; repeatable")] = None,
    only: Program = None,
    preset: OneSize = "",
) -> int:
    """Tune synthetic programs, each with a nest of its own. Stop it any time; the same command goes
    on."""
    from loopbook.workloads import synthetic as suite

    unknown = set(family or ()) - set(suite.FAMILIES)
    if unknown:
        known = ", ".join(suite.FAMILIES)
        raise InputError(f"there is no family {', '.join(sorted(unknown))}; there are {known}")
    if preset not in ("", *suite.PRESETS):
        raise InputError(f"there is no preset {preset!r}; take {', '.join(suite.PRESETS)}")
    if only:
        workloads = map(suite.load, only)
    else:
        seed = search.settings.seed
        workloads = suite.generate(count, seed, family or tuple(suite.FAMILIES))
    return _seeded(workloads, preset, search)


@seed_app.command("arrays")
@options.made_by(Search.of)
def arrays(
    search: Search,
    count: Annotated[int, typer.Option(help="programs to make", min=1)] = 100,
    first: Annotated[int, typer.Option(help="number of the first program", min=0)] = 0,
    only: Program = None,
    preset: OneSize = "",
) -> int:
    """Tune generated chains of NumPy statements, each with a nest of its own. Stop it any time; the
    same command goes on."""
    from loopbook.workloads import arrays as suite

    return _seeded(map(suite.load, only) if only else suite.draw(count, first), preset, search)


@seed_app.command("files")
@options.made_by(Search.of)
def files(
    search: Search,
    file: Annotated[list[str], typer.Argument(help="FILE.py[:FUNC]…")],
    preset: Annotated[
        str, typer.Option(help="search and confirm at this size only; default the smallest ones")
    ] = "",
) -> int:
    """Tune workload files. Stop it any time; the same command goes on."""
    return _seeded([load_workload(name) for name in file], preset, search)


def _seeded(workloads: Iterable[Workload], preset: str, search: Search) -> int:
    """Tune workloads that the book does not know yet.

    Raises:
        WorkloadError: one of them has no such preset.
    """
    from loopbook.tuner.seed import jobs
    from loopbook.tuner.task import PythonTask

    todo = list(workloads)
    for workload in todo if preset else ():
        workload.sizes(preset)
    return _run(jobs(map(PythonTask, todo), search.targets, preset), search, again=False)


def _run(
    todo: Sequence[Job],
    search: Search,
    *,
    again: bool,
    searched: dict[str, Sequence[Trial]] | None = None,
) -> int:
    """Do jobs and keep what comes out. Exit code 1 if one failed.

    Args:
        again: it is one program, to be tuned also if the book knows it; a failure is the end then.
        searched: takes the trials of each search, by kernel and target.
    """
    from loopbook.client.opening import open_book
    from loopbook.client.places import own_path
    from loopbook.embed.inference import Encoder
    from loopbook.recipes.book import Book
    from loopbook.toolchain.compiler import activate
    from loopbook.tuner.keep import Keeper
    from loopbook.tuner.neighbours import ported_neighbours
    from loopbook.tuner.seed import seed

    activate()
    path = search.book or own_path()
    logs = path.parent / f"{path.stem}-trials"
    failed = False
    with Book.open(path) as opened, _bars(len(todo), hidden=search.json) as bars:
        if opened.readonly:  # better said now than after hours of measuring
            raise BookError(f"book {path} is read-only: name another one with --book")
        encoder = Encoder.load()
        keeper = Keeper(opened, encoder, _profile)
        layered = open_book(path, encoder=encoder)
        done = seed(
            todo,
            _profile,
            search.settings,
            logs=logs,
            known=keeper.known,
            keep=keeper.keep,
            neighbours=lambda nest, job: ported_neighbours(layered, nest, job.target),
            again=again,
            progress=bars.search,
        )
        for result in done:
            if result.error and again:
                raise LoopbookError(f"{result.job.task.name}: {result.error}")
            failed |= bool(result.error)
            if searched is not None and result.tuned:
                name = f"{result.job.task.name} {result.job.target}"
                searched[name] = result.tuned.trials
            bars.finish(result, quiet=search.json)
            if search.json:
                options.print_json(_told(result))
    return 1 if failed else 0


def _profile(target: str) -> HardwareProfile:
    from loopbook.client.hardware import local_profile

    return local_profile(runnable(target).threads)


def _told(result: Done) -> dict[str, Any]:
    records: Sequence[Record] = result.tuned.records if result.tuned else ()
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
            for r in records
        ],
    }


class _Bars:
    """Two progress bars on stderr: programs and, below, candidates of the present one."""

    def __init__(self, progress: Any, jobs: int) -> None:
        self._progress = progress
        self._all = progress.add_task("programs", total=jobs)
        self._one = progress.add_task("", total=None, visible=False)

    def search(self, job: Job) -> Progress:
        def show(done: int, total: int, line: str) -> None:
            self._progress.update(
                self._one,
                completed=done,
                total=total,
                visible=True,
                description=one_line(f"{job.task.name} {job.target} {line}", 60),
            )

        return show

    def finish(self, result: Done, *, quiet: bool) -> None:
        self._progress.update(self._all, advance=1)
        self._progress.update(self._one, visible=False)
        if quiet:
            return
        if result.skipped:
            outcome = "in the book already"
        elif result.tuned is None:
            outcome = result.error
        else:
            gains = [f"{preset} {gain:.2f}×" for preset, gain in result.tuned.speedups.items()]
            outcome = ", ".join(gains)
        name = f"{result.job.task.name} {result.job.target}"
        say(self._progress, f"{name:<28} {outcome}")


@contextmanager
def _bars(jobs: int, *, hidden: bool) -> Iterator[_Bars]:
    with bars(hidden=hidden, elapsed=True, remaining=True) as progress:
        yield _Bars(progress, jobs)
