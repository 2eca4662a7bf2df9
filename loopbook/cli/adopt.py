"""``loopbook adopt``: makes the book fit for this machine within minutes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import options, style
from loopbook.cli.answers import UNSET, Answer, Left, answers, write
from loopbook.cli.progress import Progress, progress
from loopbook.printable import one_line
from loopbook.targets import choice, here, runnable

if TYPE_CHECKING:
    from rich.text import Text

    from loopbook.farm.adopt.adoption import Adoption, Step
    from loopbook.farm.adopt.gains import Standing


class Measured(Answer):
    """A nest that was measured here.

    Attributes:
        stage: what was done with it.
        speedup: here.
        elsewhere: what it is on other machines.
        error: why it could not be measured; empty if it was.
        seconds: that it took.
        share: of the expected gain that is there now.
    """

    nest: str
    fingerprint: str
    target: str
    stage: str
    speedup: float
    elsewhere: float
    error: str
    seconds: float
    share: float


class Adopted(Answer):
    """How far the books fit this machine.

    Attributes:
        share: of the expected gain that is there.
        nests: that the books know from other machines.
        measured: nests that were measured here.
        searched: nests of these that were searched for.
        failed: nests that could not be measured.
        carried_over: share of what was expected that was found here.
        steps: what this command has done, in its order; left out with --status.
    """

    share: float
    nests: int
    measured: int
    searched: int
    failed: int
    carried_over: float | None
    steps: list[Measured] | Left = UNSET


@answers(Adopted)
def adopt(
    book: Annotated[
        Path | None, typer.Option("--book", help="where records go; default the user's book")
    ] = None,
    minutes: Annotated[float, typer.Option(help="how long it may take", min=0)] = 20.0,
    target: Annotated[
        list[str] | None, typer.Option(help=f"{choice()}; repeatable; default all")
    ] = None,
    trials: Annotated[
        int, typer.Option(help="candidates to measure for a nest that is searched for", min=1)
    ] = 24,
    status: Annotated[
        bool, typer.Option("--status", help="only say how much of the expected gain is there")
    ] = False,
    json: options.Json = False,
) -> None:
    """Measure here what the books know from other machines.

    The most useful comes first. What turns out slower than expected is searched for. Stop it any
    time; the same command goes on.
    """
    targets = [runnable(name).name for name in target or here()]
    kept = "what was measured is kept, and the same command goes on"
    with progress("opening the books", stopped="" if status else kept) as shown:
        from loopbook.farm.adopt.adoption import Settings
        from loopbook.farm.adopt.opening import adoption as opened
        from loopbook.toolchain.compiler import activate

        activate()
        with opened(book, targets, Settings(trials=trials), readonly=status) as adoption:
            steps: list[dict[str, Any]] = []
            try:
                if not status:
                    _run(adoption, minutes, json, shown, steps)
            finally:  # also when it is stopped
                told = adoption.standing
                if json and (steps or not sys.exc_info()[0]):
                    write(Adopted, _standing(told) | ({} if status else {"steps": steps}))
    if not json:
        style.tell(_line(told))


def _run(
    adoption: Adoption, minutes: float, json: bool, shown: Progress, steps: list[dict[str, Any]]
) -> None:
    """Measure, a line for each nest, until all is done or the time is up.

    Args:
        steps: takes what was done.
    """
    shown.stage("measuring nests", left=60.0 * minutes)
    for step in adoption.run(60.0 * minutes):
        done = step.standing
        percent = f"{100 * done.share:.1f} % of the expected gain"
        shown.at(done.measured + done.failed, len(adoption.entries), percent)
        steps.append(_told(step))
        if not json:
            shown.tell(_words(step, percent))


def _words(step: Step, percent: str) -> Text:
    name = style.text(f"{step.entry.record.nest} {step.entry.record.target}", style.NAME)
    if step.error:
        return style.joined(name, style.text(f"✗ {one_line(step.error, 200)}", style.BAD))
    elsewhere = style.text(f"{step.expected:.2f}× elsewhere; {percent}", style.QUIET)
    return style.joined(name, step.stage, style.gain(step.speedup), elsewhere, between="  ")


def _told(step: Step) -> dict[str, Any]:
    record = step.entry.record
    return {
        "nest": record.nest,
        "fingerprint": record.fingerprint,
        "target": record.target,
        "stage": step.stage,
        "speedup": round(step.speedup, 3),
        "elsewhere": round(step.expected, 3),
        "error": step.error,
        "seconds": round(step.seconds, 1),
        "share": round(step.standing.share, 4),
    }


def _standing(told: Standing) -> dict[str, Any]:
    return {
        "share": round(told.share, 4),
        "nests": told.nests,
        "measured": told.measured,
        "searched": told.searched,
        "failed": told.failed,
        "carried_over": round(told.carried, 3),
    }


def _line(told: Standing) -> str:
    failed = f", {told.failed} failed" if told.failed else ""
    return (
        f"{100 * told.share:.1f} % of the expected gain: {told.measured} of {told.nests} nests"
        f" measured here, {told.searched} of them searched for{failed}"
    )
