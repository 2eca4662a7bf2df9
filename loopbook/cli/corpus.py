"""``loopbook corpus``: look into the corpus of measured candidates, add to it, export from it."""

from __future__ import annotations

import gzip
import json as jsons
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopbook import display
from loopbook.cli import options, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.progress import progress
from loopbook.errors import CorpusError
from loopbook.targets import here, named

if TYPE_CHECKING:
    from rich.table import Table

    from loopbook.recipes.hardware import HardwareProfile
    from loopbook.tuner.corpus import Group

app = typer.Typer(
    help="Measured candidates: look into the corpus, add to it, export.",
    no_args_is_help=True,
)

Corpus = Annotated[
    Path | None, typer.Option("--corpus", help="the folder; default the one that comes with us")
]
Kernel = Annotated[list[str] | None, typer.Option(help="only this kernel; repeatable")]
Target = Annotated[list[str] | None, typer.Option(help="only this target; repeatable")]
Hardware = Annotated[list[str] | None, typer.Option(help="only this profile's key; repeatable")]
Status = Annotated[list[str] | None, typer.Option(help="only ok, wrong, crash…; repeatable")]


class Candidates(Answer):
    """The measured candidates of one kernel for one target on one kind of machine.

    Attributes:
        hardware: key of its profile.
        statuses: how they ended to how many, the most frequent first.
        nests: how many of the kernel's nests have candidates.
        recipes: how many different recipes were measured with status "ok".
        best: the greatest speedup of a nest; null if no candidate is ok.
        samples: all candidates.
    """

    kernel: str
    target: str
    hardware: str
    statuses: dict[str, int]
    nests: int
    recipes: int
    best: float | None
    samples: int


class Info(Answer):
    """What is in a corpus of measured candidates.

    Attributes:
        corpus: its folder.
        samples: all candidates.
        statuses: how they ended to how many.
    """

    corpus: str
    samples: int
    statuses: dict[str, int]
    groups: list[Candidates]


class Packed(Answer):
    """What was added to a corpus.

    Attributes:
        added: candidates that were new.
        known: candidates that had been there before.
        skipped: lines of the logs that could not be read.
    """

    added: int
    known: int
    skipped: int


class Exported(Answer):
    """What was written to a file.

    Attributes:
        exported: candidates.
    """

    exported: int


class Prepared(Answer):
    """What was measured.

    Attributes:
        added: programs.
    """

    added: int


@app.command()
@answers(Info)
def info(
    corpus: Corpus = None,
    kernel: Kernel = None,
    target: Target = None,
    hardware: Hardware = None,
    json: options.Json = False,
) -> None:
    """Show how many candidates there are, how they ended, and the best of a kernel."""
    from loopbook.tuner.corpus import CORPUS, load, summary

    folder = corpus or CORPUS
    groups = summary(load(folder, kernel=kernel, target=target, hardware=hardware))
    if json:
        total = sum(group.samples for group in groups)
        told = {"corpus": str(folder), "samples": total, "statuses": _statuses(groups)}
        write(Info, {**told, "groups": [group.to_json() for group in groups]})
        return
    for (machine, where), part in _parts(groups).items():
        style.tell(style.heading(machine, where), style.indented(_line(part), 2))
        if kernel:
            style.tell(_table(part))
    style.tell(style.joined(style.text("all", style.HEAD), _line(groups), between="  "))
    if not kernel:
        style.tell("--kernel NAME tells more of one, --json of all")


@app.command()
@answers(Packed)
def pack(
    folder: Annotated[Path, typer.Argument(help="the corpus, made if missing")],
    logs: Annotated[
        list[Path] | None,
        typer.Argument(help="logs or folders of logs; default those beside the book"),
    ] = None,
    book: Annotated[
        Path | None, typer.Option("--book", help="what was tuned into; default the user's book")
    ] = None,
    json: options.Json = False,
) -> None:
    """Add the logs of trials that 'tune' and 'seed' leave beside a book. Trials that are in the
    corpus already are not added again."""
    from loopbook.client.places import own_path
    from loopbook.tuner import corpus

    path = book or own_path()
    found = logs or [path.parent / f"{path.stem}-trials"]
    packed = corpus.pack(found, folder, profiles=_profiles(path, named=book is not None))
    if json:
        write(Packed, packed)
        return
    style.tell(f"{packed.added} candidates added, {packed.known} were there already")
    if packed.skipped:
        style.tell(f"{packed.skipped} damaged lines skipped")


@app.command()
@answers(Exported)
def export(
    out: Annotated[Path, typer.Argument(help="JSON lines; compressed if it ends in .gz")],
    corpus: Corpus = None,
    kernel: Kernel = None,
    target: Target = None,
    hardware: Hardware = None,
    status: Status = None,
    json: options.Json = False,
) -> None:
    """Write candidates to a file, one JSON object a line."""
    from loopbook.tuner.corpus import CORPUS, load, samples

    table = load(corpus or CORPUS, kernel=kernel, target=target, hardware=hardware, status=status)
    draft = out.with_name(f".{out.name}.new")
    try:
        with gzip.open(draft, "wt") if out.suffix == ".gz" else draft.open("w") as file:
            for sample in samples(table):
                file.write(jsons.dumps(asdict(sample)) + "\n")
        draft.replace(out)
    except OSError as error:
        raise CorpusError(f"cannot write {out}: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)
    if json:
        write(Exported, {"exported": table.num_rows})
    else:
        style.tell(f"{table.num_rows} candidates exported")


@app.command("preparing")
@answers(Prepared)
def measure_preparing(
    corpus: Corpus = None,
    target: Target = None,
    json: options.Json = False,
) -> None:
    """Measure what preparing each synthetic program of the corpus gains by itself. Stop it any
    time; the same command goes on."""
    added = 0
    with progress("reading the corpus", stopped="what was measured is kept") as shown:
        from loopbook.client.hardware import local_profile
        from loopbook.tuner import preparing
        from loopbook.tuner.corpus import CORPUS, load, samples

        folder = corpus or CORPUS
        for name in target or here():
            threads = named(name).threads
            machine = local_profile(threads, measured=False)
            wanted = preparing.places(samples(load(folder, target=name)), name)
            path = folder / preparing.PATH.name
            known = preparing.load(path)
            missing = [place for place in wanted if place not in known]
            shown.stage(name)
            measured = preparing.measure(missing, path, machine.key, threads)
            for number, one in enumerate(measured, 1):
                added += one is not None
                shown.at(number, len(missing))
    if json:
        write(Prepared, {"added": added})
    else:
        style.tell(f"{display.counted(added, 'program')} measured")


def _profiles(path: Path, *, named: bool) -> dict[str, HardwareProfile]:
    """Key to profile of the machines in a book; logs of former versions tell the key alone."""
    from loopbook.recipes.book import Book

    if not named and not path.exists():
        return {}
    if not path.exists():
        raise CorpusError(f"there is no book at {path}")
    with Book.open(path, readonly=True) as book:
        return {record.hardware.key: record.hardware for record in book.records()}


def _parts(groups: Sequence[Group]) -> dict[tuple[str, str], list[Group]]:
    parts: dict[tuple[str, str], list[Group]] = {}
    for group in sorted(groups, key=lambda g: (g.hardware, g.target, g.kernel)):
        parts.setdefault((group.hardware, group.target), []).append(group)
    return parts


def _table(groups: Sequence[Group]) -> Table:
    columns = ("kernel", "nests", "candidates", "recipes", "best")
    rows = style.table(*columns, right=columns[1:])
    for one in groups[:SCREEN]:
        best = style.gain(one.best) if one.best else "-"
        style.add(rows, one.kernel, one.nests, one.samples, one.recipes, best)
    return rows


SCREEN = 20
"""Kernels of one machine that are shown."""


def _statuses(groups: Sequence[Group]) -> dict[str, int]:
    total = Counter[str]()
    for group in groups:
        total.update(group.statuses)
    return dict(total.most_common())


def _line(groups: Sequence[Group]) -> str:
    kernels = len({group.kernel for group in groups})
    total = sum(group.samples for group in groups)
    return f"{total} candidates of {kernels} kernels ({options.counts(_statuses(groups))})"
