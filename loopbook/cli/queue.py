"""``loopbook queue``: the work that is to be done on a book."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopbook.cli import options
from loopbook.errors import BookError, InputError
from loopbook.printable import one_line, show

if TYPE_CHECKING:
    from loopbook.recipes.queue import Queue

app = typer.Typer(
    help="The work to be done on a book: tasks to tune and the like.", no_args_is_help=True
)

Store = Annotated[
    str | None, typer.Option("--store", help="the book: a path or a database URL; default yours")
]
Tasks = Annotated[list[str], typer.Argument(help="ids of tasks")]

ALL = "all"


@app.command("list")
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
    limit: Annotated[int, typer.Option(help="tasks to show at most", min=1)] = 100,
    store: Store = None,
    json: options.Json = False,
) -> int:
    """Show the tasks, the most wanted first. Exit code 1 if some can't be read."""
    from loopbook.recipes.tasks import KINDS, LEASED, STATES, WAITING

    states = _known(state or [WAITING, LEASED], "state", (*STATES, ALL))
    with _queue(store) as queue:
        wanted = STATES if ALL in states else states
        tasks, damaged = queue.all(wanted, kind and _known(kind, "kind", KINDS), limit)
        counts, now = queue.counts(), queue.now()
    told = [task.told(now) for task in tasks]
    if json:
        options.print_json({"counts": counts, "damaged": damaged, "tasks": told})
        return 1 if damaged else 0
    for one in told:
        what = f"{one['kind']:<9} {one['target']:<10} {one['hardware_key']:<20}"
        worth = f"asked {one['asked']}  worth {one['worth_s']:.3g} s"
        show(f"{one['id']}  {one['state']:<7} {what} {worth}  {one['error']}".rstrip())
    show(", ".join(f"{count} {name}" for name, count in counts.items()))
    if damaged:
        show(f"{damaged} tasks are damaged")
    return 1 if damaged else 0


@app.command("show")
def show_(
    task: Annotated[str, typer.Argument(help="id of a task")],
    nest: Annotated[bool, typer.Option("--nest", help="with the nest's SDFG")] = False,
    store: Store = None,
    json: options.Json = False,
) -> None:
    """Show all of a task."""
    with _queue(store) as queue:
        found, document = queue.show(task)
        told = found.told(queue.now()) | ({"nest": document} if nest else {})
    if json:
        options.print_json(told)
        return
    for name, value in told.items():
        show(f"{name:<12} {'-' if value in ('', None, []) else value}")


@app.command("raise")
def raise_(tasks: Tasks, store: Store = None, json: options.Json = False) -> None:
    """Put tasks before all others; those that are dead get new attempts."""
    with _queue(store, write=True) as queue:
        raised = [queue.raise_(one) for one in tasks]
    if json:
        options.print_json({"raised": [one.id for one in raised]})
    else:
        show(f"{len(raised)} tasks raised")


@app.command()
def drop(tasks: Tasks, store: Store = None, json: options.Json = False) -> None:
    """Remove tasks, whatever their state."""
    with _queue(store, write=True) as queue:
        for one in tasks:
            if not queue.drop(one):
                raise InputError(f"there is no task {one_line(one, 40)}")
    if json:
        options.print_json({"dropped": tasks})
    else:
        show(f"{len(tasks)} tasks dropped")


@contextmanager
def _queue(store: str | None, *, write: bool = False) -> Iterator[Queue]:
    """The queue of a store; no book is made for it."""
    from loopbook.client.places import own_path
    from loopbook.recipes.book import Book

    location = store or str(own_path())
    if "://" not in location and not Path(location).exists():
        raise BookError(f"there is no book at {location}")
    with Book.open(location, readonly=not write) as book:
        yield book.queue


def _known(given: list[str], what: str, names: tuple[str, ...]) -> list[str]:
    for one in given:
        if one not in names:
            raise InputError(f"there is no {what} {one_line(one, 40)!r}; take {', '.join(names)}")
    return given
