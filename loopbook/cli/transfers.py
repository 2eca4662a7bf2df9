"""``loopbook transfers``: measure what the recipes of nests do on other nests, and keep it."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook import targets
from loopbook.cli import options, style
from loopbook.cli.answers import Answer, answers, listed, write
from loopbook.cli.progress import progress
from loopbook.errors import BookError, CorpusError, InputError

if TYPE_CHECKING:
    from loopbook.recipes.hardware import HardwareProfile
    from loopbook.tuner.transfers.measure import Done

app = typer.Typer(
    help="Measure what recipes do on other nests than their own.",
    no_args_is_help=True,
)

MARCHES = ("native", "x86-64-v3", "x86-64-v2")

Folder = Annotated[
    Path | None, typer.Option("--corpus", help="the folder; default the one that comes with us")
]


class Tried(Answer):
    """What became of recipes of other nests on a program.

    Attributes:
        skipped: it had been measured before.
        error: why it could not be measured; empty if it was.
        usage: what time was spent on, to seconds.
        outcomes: outcome to how many pairs of a nest and a recipe.
    """

    program: str
    skipped: bool
    error: str
    seconds: float
    usage: dict[str, float]
    outcomes: dict[str, int]


class Packed(Answer):
    """What was added to a corpus.

    Attributes:
        added: pairs that were new.
        known: pairs that had been there before.
    """

    added: int
    known: int


class Pairs(Answer):
    """The pairs of one target on one kind of machine.

    Attributes:
        hardware: key of its profile.
        outcomes: outcome to how many pairs.
        programs, nests, donors: how many different ones.
        shared: pairs whose generated code is that of another one.
        pairs: all.
    """

    target: str
    hardware: str
    outcomes: dict[str, int]
    programs: int
    nests: int
    donors: int
    shared: int
    pairs: int


class Summary(Answer):
    """What is in a corpus of transfers.

    Attributes:
        corpus: its folder.
        pairs: all.
    """

    corpus: str
    pairs: int
    groups: list[Pairs]


@app.command()
@answers(list[Tried])
def measure(
    logs: Annotated[Path, typer.Argument(help="folder for the logs; what they hold is kept")],
    book: Annotated[
        list[Path] | None, typer.Option(help="whose recipes; repeatable; default the starter book")
    ] = None,
    target: options.Target = targets.DEFAULT,
    march: Annotated[
        list[str] | None,
        typer.Option(help="instruction set to compile for; repeatable; default three"),
    ] = None,
    programs: Annotated[int, typer.Option(min=0, help="synthetic programs to try them on")] = 100,
    kernel: Annotated[
        list[str] | None, typer.Option(help="kernel of PolyBench; repeatable; default all")
    ] = None,
    per_nest: Annotated[int, typer.Option(min=1, help="recipes to try on each nest")] = 30,
    core: Annotated[
        list[int] | None, typer.Option(help="use only this core; repeatable; default all")
    ] = None,
    seed: Annotated[int, typer.Option(help="of the programs and the draw of recipes")] = 0,
    json: options.Json = False,
) -> int:
    """Try recipes of other nests on programs. Stop it any time; the same command goes on."""
    targets.runnable(target)
    if core and not set(core) <= os.sched_getaffinity(0):
        raise InputError(f"this process may not use core {', '.join(map(str, core))}")
    kept = "what the logs hold is kept"
    with listed(Tried, json) as found, progress("reading the books", stopped=kept) as shown:
        from loopbook.embed.inference import Encoder
        from loopbook.toolchain.compiler import activate
        from loopbook.tuner.transfers.donors import Donors
        from loopbook.tuner.transfers.jobs import jobs
        from loopbook.tuner.transfers.measure import Plan
        from loopbook.tuner.transfers.measure import measure as run
        from loopbook.workloads import polybench

        books = book or _starter()
        activate()
        shown.stage("measuring this machine")
        profiles = _profiles(target, march or MARCHES)
        if core:  # the profiles are still of the whole machine
            os.sched_setaffinity(0, core)
        shown.stage("reading the books")
        encoder = Encoder.load()
        donors = Donors.load(books, target, encoder)
        plan = Plan(target, profiles, donors, encoder, logs, per_nest, seed)
        failed, pairs, begun = False, 0, time.monotonic()
        total = programs + len(kernel or polybench.names())
        shown.stage("programs")
        for number, one in enumerate(run(jobs(programs, seed, kernel), plan), 1):
            failed |= bool(one.error)
            pairs += len(one.pairs)
            rate = 60 * pairs / (time.monotonic() - begun)
            shown.at(number, total, f"{pairs} pairs, {rate:.0f} a minute")
            if one.skipped:
                shown.restart()
            found.append(_told(one))
            if not json:
                shown.tell(_words(one))
    return 1 if failed else 0


@app.command()
@answers(Packed)
def pack(
    logs: Annotated[list[Path], typer.Argument(help="folders that 'measure' has filled")],
    corpus: Folder = None,
    json: options.Json = False,
) -> None:
    """Add logs to the corpus. Pairs that are in it already are not added again."""
    from loopbook.tuner.transfers.corpus import FOLDER
    from loopbook.tuner.transfers.corpus import pack as run

    packed = run(logs, corpus or FOLDER)
    if json:
        write(Packed, packed)
    else:
        style.tell(f"{packed.added} pairs added, {packed.known} were there already")


@app.command()
@answers(Summary)
def summary(corpus: Folder = None, json: options.Json = False) -> None:
    """Show how many pairs there are of each kind of machine, and what came of them."""
    from loopbook.tuner.transfers.corpus import FOLDER, load
    from loopbook.tuner.transfers.corpus import summary as summarise

    folder = corpus or FOLDER
    if not folder.is_dir():
        raise CorpusError(f"there is no corpus at {folder}: {WHENCE}")
    groups = summarise(load(folder))
    total = sum(group.pairs for group in groups)
    if json:
        groups_told = [group.to_json() for group in groups]
        write(Summary, {"corpus": str(folder), "pairs": total, "groups": groups_told})
        return
    columns = ("machine", "target", "pairs", "nests", "programs", "records")
    rows = style.table(*columns, right=columns[2:])
    for group in groups:
        cells = group.pairs, group.nests, group.programs, group.donors
        style.add(rows, group.hardware, group.target, *cells)
    outcomes = Counter[str]()
    for group in groups:
        outcomes.update(group.outcomes)
    style.tell(rows, "", f"{total} pairs: {options.counts(dict(outcomes.most_common()))}")


WHENCE = (
    "packages come without; name one with --corpus, or measure one with 'loopbook transfers"
    " measure'"
)


def _starter() -> list[Path]:
    from loopbook.client.places import starter_path

    path = starter_path()
    if path is None:
        raise BookError("there is no starter book: name a book with --book")
    return [path]


def _profiles(target: str, marches: Sequence[str]) -> dict[str, HardwareProfile]:
    """Instruction set to profile, each kind of machine once."""
    from loopbook.client.hardware import local_profile

    found: dict[str, HardwareProfile] = {}
    for march in marches:
        profile = local_profile(targets.named(target).threads, march=march)
        if all(profile.key != other.key for other in found.values()):
            found[march] = profile
    return found


def _told(done: Done) -> dict[str, Any]:
    return {
        "program": done.job.task.name,
        "skipped": done.skipped,
        "error": done.error,
        "seconds": round(done.seconds, 1),
        "usage": {what: round(seconds, 1) for what, seconds in done.usage.items()},
        "outcomes": Counter(pair.outcome for pair in done.pairs),
    }


def _words(done: Done) -> str:
    """What came of a program, on one line."""
    counts = options.counts(Counter(pair.outcome for pair in done.pairs))
    outcome = done.error or ("measured already" if done.skipped else counts)
    return f"{done.job.task.name:<50} {len(done.pairs):>5} {outcome}"
