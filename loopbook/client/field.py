"""Tells a book, and a server, how what they served did where it ran. Only where the user wants it.

What is told of a program: the id of the one record that was used in it, the class of this machine,
and two times. A program in which several records had a part says nothing about any of them, and one
ported from a neighbour says nothing about the nest that the record is of.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from loopbook.client.decision import Plan
from loopbook.client.layered import LayeredBook
from loopbook.client.places import SERVER_VARIABLE, own_path
from loopbook.errors import LoopbookError
from loopbook.printable import show
from loopbook.recipes.record import Record
from loopbook.recipes.reports import LONGEST_S, SHORTEST_S, Report, Voice
from loopbook.sdfg.build import build_baseline
from loopbook.sdfg.caller import Caller
from loopbook.sdfg.traced import Traced
from loopbook.targets import named
from loopbook.toolchain import scratch
from loopbook.toolchain.interleaved import Runnable, in_turn
from loopbook.toolchain.times import Schedule

if TYPE_CHECKING:
    from loopbook.client.served import Book as AnyBook
    from loopbook.client.verify import Verifier
    from loopbook.recipes.book import Book

VARIABLE = "LOOPBOOK_REPORT"
"""Set to 1, it makes `loopbook.native` and `loopbook bench` report."""

HERE = Voice("local", trusted=True)
"""Who speaks in one's own book: its owner, on his own machine."""

ROUNDS = Schedule(repeats=7, seconds=0.5, at_least=3)
LONGEST_RUN_S = 60.0
"""For all runs together; the program waits for them."""

_silent = False
"""Whether a server did not answer: it is not told anything any more by this process."""


def wanted(report: bool | None) -> bool:
    """Whether to report: what the caller says, else what the environment does."""
    return os.environ.get(VARIABLE, "") == "1" if report is None else report


def sole_record(plan: Plan) -> Record | None:
    """The one record that made a program what it is, used for the very nest that it is about; None
    if there is none, or something else had a part."""
    chosen = [choices[0] for choices in plan.choices.values()]
    records = {one.record.id: one.record for one in chosen if one.record is not None}
    exact = all(one.tier == "exact" and not one.dropped for one in chosen)
    (record,) = records.values() if len(records) == 1 else (None,)
    return record if exact and record is not None and len(record.recipe) else None


def report_of(record: Record, target: str, reference_s: float, time_s: float) -> Report:
    """What one comparison on this machine says.

    Raises:
        InputError: the times are none of a run.
    """
    from loopbook.client.hardware import local_profile

    key = local_profile(named(target).threads, measured=False).key
    return Report(record.id, key, reference_s, time_s)


def tell_of_call(
    traced: Traced, args: Sequence[Any], plan: Plan, library: Path, target: str, book: AnyBook
) -> None:
    """Compare a program that was just compiled with docc's own compile of it, on copies of its
    arguments in a child process, and tell. Whatever goes wrong, the program goes on."""
    record = sole_record(plan)
    if record is None:
        return
    with suppress(LoopbookError, OSError), scratch.folder() as folder:
        own = build_baseline(traced.text, target, folder).library
        arrays = [isinstance(value, np.ndarray) for value in args]
        given = [
            np.ascontiguousarray(value) if array else value
            for value, array in zip(args, arrays, strict=True)
        ]
        load = [partial(Caller, traced, path, arrays) for path in (own, library)]
        times = in_turn([Runnable(one, given) for one in load], ROUNDS, seconds=LONGEST_RUN_S)
        before, after = (one.fastest for one in times)
        if before is not None and after is not None:
            _tell_times(record, target, before, after, book)


def tell_of_bench(verifier: Verifier, plan: Plan, book: LayeredBook) -> None:
    """Compare what the book says, whether it is kept or not, with docc's own compile, and tell."""
    picks = {position: choices[0] for position, choices in plan.choices.items()}
    first = plan.only(picks, "")
    record = sole_record(first)
    if record is None:
        return
    with suppress(LoopbookError):
        built = verifier.build(first)
        verifier.check(built)
        _tell_times(record, plan.target, *verifier.time(built, ROUNDS), book)


def _tell_times(
    record: Record, target: str, reference_s: float, time_s: float, book: AnyBook
) -> None:
    """Times that are too short to tell apart say nothing."""
    if min(reference_s, time_s) >= SHORTEST_S and max(reference_s, time_s) <= LONGEST_S:
        tell(report_of(record, target, reference_s, time_s), record, book)


def tell(report: Report, record: Record, book: AnyBook) -> None:
    """Tell the user's own book, where there is one, and the server that was asked, if any was. A
    server that is away is complained about once."""
    with suppress(LoopbookError):
        _with_own_book(book, lambda own: own.reports.take(report, record, HERE))
    if _asks_a_server(book):
        _send(report)


def _with_own_book(book: AnyBook, do: Callable[[Book], Any]) -> None:
    """Do something with the book that is written to; none is made for that."""
    from loopbook.recipes.book import Book

    if isinstance(book, LayeredBook):
        for own in book.books[:1]:
            if not own.readonly:
                do(own)
        return
    location = own_path() if book is None else book
    if "://" in str(location) or Path(location).exists():
        with Book.open(location) as own:
            do(own)


def _asks_a_server(book: AnyBook) -> bool:
    if isinstance(book, LayeredBook):
        from loopbook.client.remote.layer import RemoteBook

        return any(isinstance(layer, RemoteBook) for layer in book.layers)
    return book is None and bool(os.environ.get(SERVER_VARIABLE))


def _send(report: Report) -> None:
    global _silent
    from loopbook.client.remote.client import Client
    from loopbook.client.remote.flows import Policy

    if _silent:
        return
    try:
        # Somebody waits for his program: one short attempt.
        with Client(policy=Policy(timeout=2.0, attempts=1, deadline=3.0)) as client:
            client.report([report])
    except LoopbookError as error:
        _silent = True
        words = f"loopbook: {error}; how recipes did is not reported"
        show(words, file=sys.stderr, flush=True)
