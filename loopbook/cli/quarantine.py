"""``loopbook quarantine``: the records that were contributed to a server, and wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook import display
from loopbook.cli import options, style
from loopbook.cli.answers import UNSET, Answer, Left, answers, listed, write
from loopbook.cli.progress import progress
from loopbook.cli.stores import Store, location_of, none_yet
from loopbook.errors import InputError
from loopbook.targets import named

if TYPE_CHECKING:
    from rich.text import Text

    from loopbook.server.quarantine import Quarantine

app = typer.Typer(help="Look through the records that were contributed.", no_args_is_help=True)

MOST_MEASURED = 1000
"""Records that one command measures."""

SCREEN = 25
"""Records that are shown."""

Records = Annotated[list[str], typer.Argument(help="ids of records")]


class Waiting(Answer):
    """A record in quarantine.

    Attributes:
        contributor: id of the token that it came with; empty for one that was served.
        received: ISO 8601 in UTC.
        confirmations: tokens that the same recipe for the same nest came with.
        misses: how often the nest was asked for in vain.
        why: what was last found out about it.
    """

    id: str
    fingerprint: str
    target: str
    recipe: str
    speedup: float
    contributor: str
    received: str
    confirmations: int
    misses: int
    why: str


class Measured(Answer, kw_only=True):
    """What measuring a record came to.

    Attributes:
        decision: promote, reject, keep or wait.
        served: id of the record that is served now.
        status: ok, or how it failed; unmeasured where nothing could be.
        speedup: over docc's own compile; 0 for a failure.
        sizes: that it was measured at.
        message: why it failed.
        baseline_s: seconds of docc's own compile.
        spread: relative spread of the ratio of the two times.
        runs: how many pairs were timed.
        trips: loop to how often it runs at these sizes.
    """

    id: str
    decision: str
    served: str | Left | None = UNSET
    status: str
    speedup: float
    sizes: dict[str, int]
    message: str
    baseline_s: float
    spread: float
    runs: int
    trips: dict[str, int]


class Decided(Answer):
    """What became of records.

    Attributes:
        promoted, rejected: their ids.
    """

    promoted: list[str] | Left = UNSET
    rejected: list[str] | Left = UNSET


@app.command("list")
@answers(list[Waiting])
def list_(store: Store = None, json: options.Json = False) -> None:
    """Show the records that wait, in the order in which to measure them, and why those that were
    measured already still wait, or wait again."""
    found = []
    if not none_yet(store):
        with _quarantine(store) as quarantine:
            found = quarantine.all()
    if json:
        write(list[Waiting], [one._asdict() for one in found])
        return
    if not found:
        style.tell("no record waits")
        return
    for one in found[:SCREEN]:
        name = style.text(one.id, style.NAME)
        asked = f"by {one.confirmations}, missed {one.misses} times"
        style.tell(style.joined(name, one.target, style.gain(one.speedup), asked))
        whence = f"from {one.contributor or 'the book'}"
        style.tell(style.indented(f"{whence}: {one.why}" if one.why else whence))
    if len(found) > SCREEN:
        style.tell(f"… {len(found) - SCREEN} more records (--json has all)")


@app.command()
@answers(Decided)
def promote(records: Records, store: Store = None, json: options.Json = False) -> None:
    """Move records into the book."""
    with _quarantine(store) as quarantine:
        _decided("promoted", records, quarantine.promote, json)


@app.command()
@answers(Decided)
def reject(records: Records, store: Store = None, json: options.Json = False) -> None:
    """Throw records away."""
    with _quarantine(store) as quarantine:
        _decided("rejected", records, quarantine.reject, json)


def _decided(what: str, records: Sequence[str], decide: Callable[[str], bool], json: bool) -> None:
    for one in records:
        if not decide(one):
            raise InputError(f"no record {one[:40]} waits")
    if json:
        write(Decided, {what: records})
    else:
        style.tell(f"{display.counted(len(records), 'record')} {what}")


@app.command()
@answers(list[Measured])
def measure(
    records: Annotated[
        list[str] | None, typer.Argument(help="ids of records; default all that wait")
    ] = None,
    served: Annotated[bool, typer.Option(help="all that are served, not those that wait")] = False,
    keep: Annotated[bool, typer.Option(help="say what would be done, and do nothing")] = False,
    store: Store = None,
    json: options.Json = False,
) -> None:
    """Measure records on this machine, which has to be one that you trust. What waits and gains
    here is promoted with what was measured; what is wrong or breaks, or gains nothing on the kind
    of machine that it was made on, is rejected. What is served and loses waits again."""
    with (
        listed(Measured, json) as found,
        progress("opening the book", stopped="what was decided is kept") as shown,
        _quarantine(store) as quarantine,
    ):
        ids = quarantine.served if served else lambda limit: [w.id for w in quarantine.all(limit)]
        chosen = records or ids(MOST_MEASURED)
        shown.stage("measuring records")
        for number, one in enumerate(chosen):
            shown.at(number, len(chosen), one)
            told = _measured(quarantine, one, keep=keep)
            found.append(told)
            if not json:
                shown.tell(_words(told))
    if not found and not json:
        style.tell("no record waits")


def _measured(quarantine: Quarantine, one: str, *, keep: bool) -> dict[str, Any]:
    """Measure a record, and do what follows from it."""
    from loopbook.client.hardware import local_profile
    from loopbook.server.trust import Judgement
    from loopbook.tuner.reconfirmation import verdict_of

    waiting = quarantine.record(one)
    record = waiting or quarantine.served_record(one)
    if record is None:
        raise InputError(f"no record {one[:40]} waits or is served")
    here = local_profile(named(record.target).threads)
    verdict = verdict_of(record, here)
    judgement = Judgement(verdict.status, here, verdict.measurement, verdict.message)
    decision = judgement.decision(record, served=waiting is None)
    told = {"id": one, "decision": decision, **asdict(verdict)}
    judged = None if keep else quarantine.judge(one, judgement)
    if judged is not None:
        told |= {"decision": judged.decision, "served": judged.id}
    return told


def _words(told: dict[str, Any]) -> Text:
    gain = style.gain(told["speedup"]) if told["status"] == "ok" else told["status"]
    return style.joined(style.text(told["id"], style.NAME), told["decision"], gain, told["message"])


@contextmanager
def _quarantine(store: str | None) -> Iterator[Quarantine]:
    """The quarantine of a store."""
    from loopbook.recipes.book import Book
    from loopbook.server.quarantine import Quarantine
    from loopbook.server.tables import open_tables

    location = location_of(store)
    with closing(open_tables(location)) as database, Book.open(location) as book:
        yield Quarantine(database, book)
