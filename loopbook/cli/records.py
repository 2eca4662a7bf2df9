"""``loopbook book list``, ``search``, ``show`` and ``rm``: the records of a book, one by one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook import display
from loopbook.cli import options, style
from loopbook.cli.answers import Answer, Left, answers, mirrored, told_as, write
from loopbook.cli.books import app, open_book
from loopbook.errors import BookError, InputError
from loopbook.targets import named

if TYPE_CHECKING:
    from loopbook.recipes.book import Book
    from loopbook.recipes.record import Record

SCREEN = 20

KNOWN = "known"
"""The order in which records are shown: programs that people have written come first, then those
that were made to fill books, each with the fastest first. By speedup alone, the first pages would
be made programs so short that docc's schedule only starts threads in vain: that not to do so is
3000 times faster tells nobody anything."""

ORDERS = (KNOWN, "speedup", "kernel")

Which = Annotated[
    Path | None,
    typer.Option("--book", help="the book; default the user's, 'starter' the one shipped"),
]
Family = Annotated[str, typer.Option(help="only this family of programs, see 'book info'")]
Machine = Annotated[str, typer.Option(help="only where the processor or profile is called so")]
Target = Annotated[str, typer.Option(help="only this target")]
Least = Annotated[float, typer.Option(help="only records at least so much faster", min=0)]
Order = Annotated[str, typer.Option("--sort", help="known, speedup or kernel")]
Limit = Annotated[int, typer.Option(help="records to show at most", min=1)]


@dataclass(frozen=True)
class Wanted:
    """Which records are looked for, and how they are shown.

    Attributes:
        target: None for all.
        json: print JSON.
    """

    family: str
    machine: str
    target: str | None
    min_speedup: float
    sort: str
    limit: int
    json: bool

    @classmethod
    def of(
        cls,
        family: Family = "",
        machine: Machine = "",
        target: Target = "",
        min_speedup: Least = 0.0,
        sort: Order = KNOWN,
        limit: Limit = SCREEN,
        json: options.Json = False,
    ) -> Wanted:
        """What a command line's words ask for.

        Raises:
            InputError: there is no such target or order.
        """
        if sort not in ORDERS:
            raise InputError(f"there is no order {sort!a}; take {', '.join(ORDERS)}")
        one = named(target).name if target else None
        return cls(family, machine, one, min_speedup, sort, limit, json)


finding = options.made_by(Wanted.of)
"""Makes a command of a function of `Wanted`."""


class Brief(Answer):
    """A record in brief.

    Attributes:
        hardware_key: class of the machine that it was measured on.
        speedup: geometric mean over the sizes measured.
        recipe: its steps, a line each.
    """

    id: str
    nest: str
    kernel: str
    target: str
    hardware_key: str
    speedup: float
    recipe: str


class Found(Answer):
    """The records of a book that fit.

    Attributes:
        book: its path or address.
        found: how many there are.
        records: the first of them.
    """

    book: str
    found: int
    records: list[Brief]


class Removed(Answer):
    """What was removed from a book.

    Attributes:
        removed: ids of records.
    """

    removed: list[str]


class Steps(Answer):
    """A recipe: for each of its steps the name and the arguments."""

    version: int
    steps: list[list[str | int]]


def _record() -> Any:
    """The type of what 'book show' prints: that of a record's JSON, and more."""
    from loopbook.recipes.hardware import HardwareProfile
    from loopbook.recipes.record import Measurement, Provenance

    return told_as(
        "Record",
        """A tuned nest, with its proof.

        Attributes:
            version: of this form.
            fingerprint: of the nest; the same however its variables are named.
            nest: a name for people: the kernel and the nest's position in it.
            nest_json: the nest as SDFG JSON text, with --nest.
            measurements: one for each size measured.
            speedup: geometric mean over these.
            book: that it is in.
        """,
        id=str,
        version=int,
        fingerprint=str,
        nest=str,
        nest_json=str | Left,
        target=str,
        hardware=mirrored(HardwareProfile),
        recipe=Steps,
        measurements=list[mirrored(Measurement)],
        provenance=mirrored(Provenance),
        speedup=float,
        book=str,
    )


@app.command("list")
@answers(Found)
@finding
def list_(
    wanted: Wanted,
    book: Annotated[
        Path | None, typer.Argument(help="default the user's, 'starter' the one shipped")
    ] = None,
) -> None:
    """Show a book's records: of programs that people know first, then the fastest."""
    _find(book, (), wanted)


@app.command()
@answers(Found)
@finding
def search(
    wanted: Wanted,
    words: Annotated[
        list[str], typer.Argument(help="parts of an id, kernel, machine or recipe; all must fit")
    ],
    book: Which = None,
) -> None:
    """Find records by words."""
    _find(book, words, wanted)


@app.command()
@answers(_record)
def show(
    record: Annotated[str, typer.Argument(help="an id, or as much as only one record begins with")],
    book: Which = None,
    nest: Annotated[bool, typer.Option("--nest", help="with the nest's SDFG (--json)")] = False,
    json: options.Json = False,
) -> None:
    """Show all of a record: its nest, its recipe, what was measured, where it comes from."""
    with _opened(record, book) as opened:
        found = opened.record_like(record)
        where = opened.name
    if json:
        told = {**found.to_json(), "speedup": found.speedup, "book": where}
        write(_record(), told if nest else {k: v for k, v in told.items() if k != "nest_json"})
        return
    _show(found, where)


@app.command()
@answers(Removed)
def rm(
    records: Annotated[list[str], typer.Argument(help="ids, or beginnings of ids")],
    book: Which = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
    json: options.Json = False,
) -> None:
    """Remove records from a book of your own, after asking."""
    with open_book(book, write=True) as opened:
        found = [opened.record_like(one) for one in records]
        if not yes:
            if json or not sys.stdin.isatty():
                raise InputError("nobody can be asked here: say --yes to remove records")
            for one in found:
                style.tell(style.joined(one.id[: style.ID], one.nest, style.gain(one.speedup)))
            typer.confirm(f"Remove {len(found)} from {opened.name}?", abort=True)
        removed = [one.id for one in found if opened.delete(one.id)]
    if json:
        write(Removed, {"removed": removed})
    else:
        style.tell(f"{display.counted(len(removed), 'record')} removed")


def _find(book: Path | None, words: Sequence[str], wanted: Wanted) -> None:
    from loopbook.workloads.families import family_of, is_made

    family = wanted.family
    with open_book(book) as opened:
        entries = opened.search(
            *words,
            target=wanted.target,
            kernels=(lambda kernel: family_of(kernel) == family) if family else None,
            machine=wanted.machine,
            min_speedup=wanted.min_speedup,
            **({} if wanted.sort == KNOWN else {"order": wanted.sort}),
        )
        if wanted.sort == KNOWN:
            entries.sort(key=lambda entry: is_made(entry.kernel))
        found = [opened.record(entry.id) for entry in entries[: wanted.limit]]
        shown = [record for record in found if record is not None]
        name = opened.name
    if wanted.json:
        told = [_brief(record) for record in shown]
        write(Found, {"book": name, "found": len(entries), "records": told})
        return
    rows = style.table(
        "record", "nest", "machine", "target", "gain", "recipe",
        right=["gain"], cut=["nest", "recipe"],
    )  # fmt: skip
    for one in shown:
        cells = one.id[: style.ID], one.nest, one.hardware.isa, one.target, style.gain(one.speedup)
        style.add(rows, *cells, style.recipe(one.recipe.text(), 2))
    if shown:
        style.tell(rows)
    part = f"{len(shown)} of " if len(shown) < len(entries) else ""
    style.tell(f"{part}{len(entries)} records" + (" shown (--limit)" if part else ""))


def _brief(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "nest": record.nest,
        "kernel": record.kernel,
        "target": record.target,
        "hardware_key": record.hardware.key,
        "speedup": record.speedup,
        "recipe": record.recipe.text(),
    }


def _show(record: Record, book: str) -> None:
    origin, machine = record.provenance, record.hardware
    style.tell(
        style.pairs(
            ("record", record.id),
            ("nest", record.nest),
            ("target", record.target),
            ("machine", f"{machine.cpu or machine.isa}, {machine.key}"),
            ("gain", style.gain(record.speedup)),
            ("source", origin.source),
            ("date", origin.date),
            ("made with", ", ".join(filter(None, (origin.compiler, f"docc {origin.docc}")))),
            ("trials", f"{origin.trials}, seed {origin.seed}"),
            ("book", book),
        )
    )
    if record.measurements:
        rows = style.table(
            "sizes", "docc", "recipe", "gain", "runs",
            right=["docc", "recipe", "gain", "runs"], fold=["sizes"],
        )  # fmt: skip
        for one in record.measurements:
            sizes = " ".join(f"{name}={size}" for name, size in one.sizes.items())
            times = display.seconds(one.baseline_s), display.seconds(one.tuned_s)
            style.add(rows, sizes or "-", *times, style.gain(one.speedup), one.runs)
        style.tell("", rows)
    style.tell("", style.text("recipe", style.HEAD))
    lines = record.recipe.text().splitlines() or ["docc's own schedule"]
    style.tell(*style.some(lines, 25, "steps (--json has all)"))


def _opened(record: str, book: Path | None) -> Book:
    """The named book, or the first of those that look-ups ask that has a record."""
    from loopbook.client.places import downloaded_path, own_path, starter_path

    if book is not None:
        return open_book(book)
    places = [path for path in (own_path(), downloaded_path(), starter_path()) if path is not None]
    for path in places:
        if path.exists():
            opened = open_book(path)
            if any(entry.id.startswith(record) for entry in opened.search(record)):
                return opened
            opened.close()
    if not any(path.exists() for path in places):
        raise BookError("there is no book: name one with --book")
    raise InputError(f"there is no record {record[:40]!a} in your books")
