"""``loopbook field``: how recipes did where they ran."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from loopbook import display, targets
from loopbook.cli import options, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.stores import Store, existing
from loopbook.errors import InputError

app = typer.Typer(help="How recipes did where they ran.", no_args_is_help=True)

RecordId = Annotated[str, typer.Argument(help="id of a record")]


class Sent(Answer):
    """A report of how a recipe did, and what the server says to it.

    Attributes:
        record: id of the record that it is from.
        hardware_key: class of the machine.
        reference_s: seconds with docc's own schedule.
        time_s: seconds with the recipe.
        status: of the report.
    """

    record: str
    hardware_key: str
    reference_s: float
    time_s: float
    status: str


class Reported(Answer):
    """What was reported of a record from one class of machines.

    Attributes:
        voices: those who reported.
        reports: of all of them.
        expected: speedup to be expected there.
        served: whether the record is served there.
    """

    hardware_key: str
    voices: int
    reports: int
    expected: float
    served: bool


class Forgotten(Answer):
    """What `field forget` did.

    Attributes:
        forgotten: voices.
    """

    forgotten: int


@app.command("send-trace")
@answers(Sent)
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
        write(Sent, report.to_json() | {"status": status})
    else:
        gain = style.gain(math.exp(report.log_speedup))
        style.tell(style.joined(style.text(record, style.NAME), gain, f"on {key}: {status}"))


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
@answers(list[Reported])
def show_(record: RecordId, store: Store = None, json: options.Json = False) -> None:
    """Show what was reported of a record, for each class of machines."""
    from loopbook.recipes.reports import LOST
    from loopbook.recipes.standing import standing

    with existing(store) as book:
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
        write(list[Reported], told)
        return
    if not told:
        style.tell("nothing was reported of this record")
        return
    columns = ("machine", "gain", "voices", "reports", "")
    rows = style.table(*columns, right=["gain", "voices", "reports"])
    for one in told:
        cells = one["hardware_key"], style.gain(one["expected"]), one["voices"], one["reports"]
        style.add(rows, *cells, "" if one["served"] else style.verdict(False, "not served"))
    style.tell(rows)


@app.command()
@answers(Forgotten)
def forget(record: RecordId, store: Store = None, json: options.Json = False) -> None:
    """Drop all that was reported of a record: what was not served because of it is again."""
    with existing(store, write=True) as book:
        count = book.reports.forget(record)
    if json:
        write(Forgotten, {"forgotten": count})
    else:
        style.tell(f"{display.counted(count, 'voice')} forgotten")
