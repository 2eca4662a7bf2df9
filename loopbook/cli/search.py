"""Commands that measure for long: tune, seed. All show progress and resume."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopbook.cli import options, tuning
from loopbook.cli.answers import answers
from loopbook.cli.progress import progress
from loopbook.cli.source import load_source, load_workload
from loopbook.errors import InputError
from loopbook.targets import choice, here, runnable

if TYPE_CHECKING:
    from loopbook.tuner.log import Trial
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
Regions = Annotated[
    bool,
    typer.Option(help="tune neighbouring nests that hand data to each other, as one"),
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
        regions: Regions = False,
        book: OwnBook = None,
        json: options.Json = False,
    ) -> Search:
        """The search that a command line's words ask for.

        Raises:
            InputError: if one of them names nothing that there is.
        """
        with progress("loading the tuner"):
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
            regions=regions,
        )
        return cls([runnable(name).name for name in target or here()], settings, book, json)


@answers(list[tuning.Searched])
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
) -> None:
    """Search recipes for a program by measuring, and keep them."""
    with progress(f"reading {file}"):
        from loopbook.tuner.plot import check_picture, plot_searches
        from loopbook.tuner.seed import Job

        if plot is not None:
            check_picture(plot)
        source = load_source(file, preset, options.read_sizes(size))
        source.check()
        task = source.task()
    wanted = search.settings.regions
    jobs = [Job(task, target, source.preset, wanted) for target in search.targets]
    searched: dict[str, Sequence[Trial]] = {}
    try:
        tuning.tune(jobs, search, searched)
    finally:  # somebody who stops a search wants to see what it has found so far
        if plot is not None and any(searched.values()):
            plot_searches(searched, plot)


@seed_app.command("polybench")
@answers(list[tuning.Searched])
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
    return _seeded(map(suite.load, only or suite.names()), preset, search)


@seed_app.command("synthetic")
@answers(list[tuning.Searched])
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
@answers(list[tuning.Searched])
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
@answers(list[tuning.Searched])
@options.made_by(Search.of)
def files(
    search: Search,
    file: Annotated[list[str], typer.Argument(help="FILE.py[:FUNC]…")],
    preset: Annotated[
        str, typer.Option(help="search and confirm at this size only; default the smallest ones")
    ] = "",
) -> int:
    """Tune workload files. Stop it any time; the same command goes on."""
    return _seeded((load_workload(name) for name in file), preset, search)


def _seeded(workloads: Iterable[Workload], preset: str, search: Search) -> int:
    """Tune workloads that the book does not know yet.

    Raises:
        WorkloadError: one of them has no such preset.
    """
    with progress("reading programs"):
        from loopbook.tuner.seed import jobs
        from loopbook.tuner.task import PythonTask

        todo = list(workloads)
        for workload in todo if preset else ():
            workload.sizes(preset)
        wanted = search.settings.regions
        planned = jobs(map(PythonTask, todo), search.targets, preset, regions=wanted)
    return tuning.seed(planned, search)
