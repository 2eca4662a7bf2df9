"""``loopbook queue``: the work that is to be done on a book."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loopbook import display
from loopbook.cli import options, style
from loopbook.cli.answers import UNSET, Answer, Left, answers, write
from loopbook.cli.stores import Store, existing, none_yet
from loopbook.errors import InputError
from loopbook.printable import one_line

if TYPE_CHECKING:
    from loopbook.recipes.queue import Queue

app = typer.Typer(
    help="The work to be done on a book: tasks to tune and the like.", no_args_is_help=True
)

Tasks = Annotated[list[str], typer.Argument(help="ids of tasks")]

ALL = "all"

SCREEN = 25
"""Tasks that are shown by default."""

NOTHING = "Nothing is queued. 'loopbook serve' queues what it is asked for in vain."


class Task(Answer):
    """Work to be done on a book, once, by one machine.

    Attributes:
        kind: tune, confirm, remeasure or reembed.
        hardware_key: the class of machines that it is for.
        subject: what it is about besides the nest, such as a record.
        sizes: that the nest was asked for with, the latest first.
        asked: how often.
        asked_last, due, created, changed: ISO 8601 in UTC; null for never.
        cost_s: seconds that a run of the nest takes.
        gain: how many times faster it may become.
        worth_s: seconds of run time that it is expected to save.
        state: waiting, leased, done or dead.
        attempts: leases since it was asked for, without those lost.
        lost: leases whose worker was not heard of again.
        lease: id of the last one.
        worker: that had or has it.
        error: what went wrong last.
        records: ids of the records that came of it.
        nest: the nest's SDFG as JSON text, with --nest.
    """

    id: str
    kind: str
    fingerprint: str
    target: str
    hardware_key: str
    subject: str
    sizes: list[dict[str, int]]
    asked: int
    asked_last: str | None
    cost_s: float
    gain: float
    worth_s: float
    state: str
    due: str | None
    attempts: int
    lost: int
    lease: str
    worker: str
    error: str
    records: list[str]
    created: str | None
    changed: str | None
    nest: str | Left = UNSET


class Listed(Answer):
    """The tasks of a book.

    Attributes:
        counts: state to how many tasks there are of it.
        damaged: tasks that can't be read.
        tasks: the most wanted first.
    """

    counts: dict[str, int]
    damaged: int
    tasks: list[Task]


class Raised(Answer):
    """What `queue raise` did.

    Attributes:
        raised: ids of tasks.
    """

    raised: list[str]


class Dropped(Answer):
    """What `queue drop` did.

    Attributes:
        dropped: ids of tasks.
    """

    dropped: list[str]


@app.command("list")
@answers(Listed)
def list_(
    state: Annotated[
        list[str] | None,
        typer.Option(
            help="waiting, leased, done, dead or all; repeatable; default waiting, leased"
        ),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="tune, confirm, remeasure or reembed; repeatable")
    ] = None,
    limit: Annotated[int, typer.Option(help="tasks to show at most", min=1)] = SCREEN,
    store: Store = None,
    json: options.Json = False,
) -> int:
    """Show the tasks, the most wanted first. Exit code 1 if some can't be read."""
    from loopbook.recipes.tasks import KINDS, LEASED, STATES, WAITING

    states = _known(state or [WAITING, LEASED], "state", (*STATES, ALL))
    kinds = kind and _known(kind, "kind", KINDS)
    if none_yet(store):
        told: dict[str, Any] = {"counts": dict.fromkeys(STATES, 0), "damaged": 0, "tasks": []}
    else:
        with _queue(store) as queue:
            tasks, damaged = queue.all(STATES if ALL in states else states, kinds, limit)
            counts, now = queue.counts(), queue.now()
        found = [task.told(now) for task in tasks]
        told = {"counts": counts, "damaged": damaged, "tasks": found}
    if json:
        write(Listed, told)
    else:
        _show(told)
    return 1 if told["damaged"] else 0


def _show(told: Mapping[str, Any]) -> None:
    for one in told["tasks"]:
        worth = f"asked {one['asked']} times, worth {one['worth_s']:.3g} s"
        style.tell(style.joined(style.text(one["id"], style.NAME), one["state"], worth))
        style.tell(style.indented(f"{one['kind']} {one['target']} {one['hardware_key']}".rstrip()))
        if one["error"]:
            style.tell(style.indented(one_line(one["error"], 150)))
    style.tell(options.counts(told["counts"]) if any(told["counts"].values()) else NOTHING)
    if told["damaged"]:
        style.tell(style.verdict(False, f"{told['damaged']} tasks are damaged"))


@app.command("show")
@answers(Task)
def show_(
    task: Annotated[str, typer.Argument(help="id of a task")],
    nest: Annotated[bool, typer.Option("--nest", help="with the nest's SDFG (--json)")] = False,
    store: Store = None,
    json: options.Json = False,
) -> None:
    """Show all of a task."""
    with _queue(store) as queue:
        found, document = queue.show(task)
        told = found.told(queue.now())
    if json:
        write(Task, told | ({"nest": document} if nest else {}))
        return
    sizes = [" ".join(f"{name}={size}" for name, size in one.items()) for one in told["sizes"]]
    more = {"sizes": "; ".join(sizes), "records": " ".join(told["records"])}
    style.tell(style.pairs(*(told | more).items()))


@app.command("raise")
@answers(Raised)
def raise_(tasks: Tasks, store: Store = None, json: options.Json = False) -> None:
    """Put tasks before all others; those that are dead get new attempts."""
    with _queue(store, write=True) as queue:
        raised = [queue.raise_(one) for one in tasks]
    if json:
        write(Raised, {"raised": [one.id for one in raised]})
    else:
        style.tell(f"{display.counted(len(raised), 'task')} raised")


@app.command()
@answers(Dropped)
def drop(tasks: Tasks, store: Store = None, json: options.Json = False) -> None:
    """Remove tasks, whatever their state."""
    with _queue(store, write=True) as queue:
        for one in tasks:
            if not queue.drop(one):
                raise InputError(f"there is no task {one_line(one, 40)}")
    if json:
        write(Dropped, {"dropped": tasks})
    else:
        style.tell(f"{display.counted(len(tasks), 'task')} dropped")


@contextmanager
def _queue(store: str | None, *, write: bool = False) -> Iterator[Queue]:
    """The queue of a store; no book is made for it."""
    with existing(store, write=write) as book:
        yield book.queue


def _known(given: list[str], what: str, names: tuple[str, ...]) -> list[str]:
    for one in given:
        if one not in names:
            raise InputError(f"there is no {what} {one_line(one, 40)!r}; take {', '.join(names)}")
    return given
