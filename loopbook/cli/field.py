"""``loopbook field``: how recipes did where they ran."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from loopbook import targets
from loopbook.cli import options
from loopbook.errors import BookError, InputError
from loopbook.printable import show

app = typer.Typer(help="How recipes did where they ran.", no_args_is_help=True)

Store = Annotated[
    str | None, typer.Option("--store", help="the book: a path or a database URL; default yours")
]
RecordId = Annotated[str, typer.Argument(help="id of a record")]


@app.command("send-trace")
def send_trace(
    trace: Annotated[Path, typer.Argument(help="of docc's runtime, with the recipe")],
    reference: Annotated[
        Path, typer.Option("--reference", help="a trace of the same program by docc alone")
    ],
    record: Annotated[
        str, typer.Option(help="the record that was used: region_id in the server's answer")
    ],
    element: Annotated[
        list[int] | None,
        typer.Option(help="only these regions of the first trace, by element id; repeatable"),
    ] = None,
    reference_element: Annotated[
        list[int] | None, typer.Option(help="the same for the second trace; repeatable")
    ] = None,
    target: options.Target = targets.DEFAULT,
    server: Annotated[str | None, typer.Option(help="default $LOOPBOOK_SERVER")] = None,
    json: options.Json = False,
) -> None:
    """Tell a server how a recipe did, from the traces of docc's runtime (aggregate or not): of the
    whole program, or of some of its loops."""
    from loopbook.client.hardware import local_profile
    from loopbook.client.remote.client import Client
    from loopbook.recipes.reports import Report

    seconds = _sum(trace, element), _sum(reference, reference_element)
    key = local_profile(targets.named(target).threads, measured=False).key
    report = Report(record, key, seconds[1], seconds[0])
    with Client(server) as client:
        (status,) = client.report([report])
    if json:
        options.print_json(report.to_json() | {"status": status})
    else:
        show(f"{record}  {math.exp(report.log_speedup):.2f}× on {key}: {status}")


def _sum(trace: Path, elements: list[int] | None) -> float:
    """Seconds of a program, or of some of its regions: the fastest run of each."""
    from loopbook.toolchain.trace_file import read

    found = read(trace)
    if len({region.program for region in found}) > 1 and not elements:
        raise InputError(f"{trace} is of several programs: say which regions with --element")
    chosen = [s for region, s in found.items() if not elements or region.element in elements]
    if not chosen:
        raise InputError(f"{trace} has no such regions: {sorted(one.element for one in found)}")
    return math.fsum(chosen)


@app.command("show")
def show_(record: RecordId, store: Store = None, json: options.Json = False) -> None:
    """Show what was reported of a record, for each class of machines."""
    from loopbook.recipes.reports import LOST
    from loopbook.recipes.standing import standing

    with _book(store, write=False) as book:
        found = book.record(record)
        told: list[dict[str, Any]] = []
        for key, opinions in sorted(book.reports.opinions(record).items()):
            prior = math.log(found.speedup) if found else 0.0
            elsewhere = found is not None and found.hardware.key != key
            stands = standing(prior, opinions, elsewhere=elsewhere)
            told.append(
                {
                    "hardware_key": key,
                    "voices": len(opinions),
                    "reports": sum(one.count for one in opinions),
                    "expected": round(math.exp(stands.posterior.mean), 3),
                    "served": book.shifts(key).get(record) != LOST,
                }
            )
    if json:
        options.print_json(told)
        return
    for one in told:
        served = "" if one["served"] else "  not served"
        what = f"{one['voices']} voices, {one['reports']} reports: {one['expected']:.2f}×"
        show(f"{one['hardware_key']:<24} {what}{served}")


@app.command()
def forget(record: RecordId, store: Store = None) -> None:
    """Drop all that was reported of a record: what was not served because of it is again."""
    with _book(store, write=True) as book:
        show(f"{book.reports.forget(record)} voices forgotten")


def _book(store: str | None, *, write: bool) -> Any:
    """The book of a store; none is made."""
    from loopbook.client.places import own_path
    from loopbook.recipes.book import Book

    location = store or str(own_path())
    if "://" not in location and not Path(location).exists():
        raise BookError(f"there is no book at {location}")
    return Book.open(location, readonly=not write)
