"""``loopbook adopt``: makes the book fit for this machine within minutes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook.cli import options
from loopbook.cli.bars import bars, say
from loopbook.printable import one_line, show
from loopbook.targets import choice, here, runnable

if TYPE_CHECKING:
    from loopbook.farm.adopt.adoption import Adoption, Step
    from loopbook.farm.adopt.gains import Standing


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
    """Measure here what the books know from other machines, the most useful first.

    What turns out slower than expected is searched for. Stop it any time; the same command goes
    on.
    """
    from loopbook.farm.adopt.adoption import Settings
    from loopbook.farm.adopt.opening import adoption as opened
    from loopbook.toolchain.compiler import activate

    activate()
    targets = [runnable(name).name for name in target or here()]
    with opened(book, targets, Settings(trials=trials), readonly=status) as adoption:
        if not status:
            _run(adoption, minutes, json)
        told = adoption.standing
    if json:
        options.print_json(_standing(told))
    else:
        show(_line(told))


def _run(adoption: Adoption, minutes: float, json: bool) -> None:
    with bars(hidden=json, elapsed=True) as progress:
        bar = progress.add_task("", total=len(adoption.entries))
        for step in adoption.run(60.0 * minutes):
            done = step.standing
            percent = f"{100 * done.share:.1f} % of the expected gain"
            progress.update(bar, completed=done.measured + done.failed, description=percent)
            if json:
                options.print_json(_told(step))
            else:
                say(progress, one_line(f"{_words(step)}; {percent}", 200))


def _words(step: Step) -> str:
    name = f"{step.entry.record.nest} {step.entry.record.target}"
    if step.error:
        return f"{name}: {step.error}"
    return f"{name}: {step.stage}, {step.speedup:.2f}× ({step.expected:.2f}× elsewhere)"


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
