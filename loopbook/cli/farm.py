"""``loopbook farm``: carries out what the queue of work holds, on this machine or on a cluster."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from loopbook import display
from loopbook.cli import options, style
from loopbook.cli.answers import Answer, answers, write
from loopbook.cli.queue import NOTHING, Task
from loopbook.cli.stores import Store, location_of, none_yet
from loopbook.errors import InputError
from loopbook.farm.settings import FarmSettings
from loopbook.printable import one_line, show

if TYPE_CHECKING:
    import subprocess


app = typer.Typer(
    help="Tune what the queue holds, on this machine or on a cluster.", no_args_is_help=True
)

DAY_S = 86400.0

Address = Annotated[str, typer.Option(help="HOST:PORT of the cluster's head", show_default=False)]
Trials = Annotated[int, typer.Option(help="candidates to measure for each nest", min=1)]
Builders = Annotated[
    int, typer.Option(help="processes that compile; default one a core", min=0, max=256)
]
Seed = Annotated[int, typer.Option(help="of all random choices")]
SearchTime = Annotated[float, typer.Option(help="seconds that a search may take", min=1)]
LeaseTime = Annotated[
    float,
    typer.Option(help="seconds after which the task of a dead worker is given to others", min=1),
]
PauseTime = Annotated[
    float,
    typer.Option(help="seconds before a failed task is tried again, four times as long each time"),
]
Orphans = Annotated[
    float, typer.Option(help="days after which a task is given up that no node can take", min=0)
]


def _settings(
    trials: Trials = 24,
    seed: Seed = 0,
    builders: Builders = 0,
    search_time: SearchTime = 900.0,
    lease_time: LeaseTime = 60.0,
    pause_time: PauseTime = 30.0,
    orphans: Orphans = 7.0,
) -> FarmSettings:
    return FarmSettings(
        trials=trials,
        seed=seed,
        builders=builders,
        search_s=search_time,
        lease_s=lease_time,
        pause_s=pause_time,
        orphan_s=orphans * DAY_S,
    )


@app.command()
@options.made_by(_settings)
def start(
    settings: FarmSettings,
    store: Store = None,
    head: Annotated[
        str, typer.Option(help="HOST:PORT: be the head of a cluster, for others to join")
    ] = "",
    join: Annotated[str, typer.Option(help="HOST:PORT: be a node of the cluster there")] = "",
    build_for_others: Annotated[
        int,
        typer.Option(
            help="processes that compile for nodes that take times; this one then takes none",
            min=0,
            max=256,
        ),
    ] = 0,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="end when nothing is left to do")
    ] = False,
) -> None:
    """Work in the foreground until Ctrl-C or 'loopbook farm stop'. Without --head or --join this
    machine works alone; strangers' programs run in a jail, and not at all where there is none."""
    if head and join:
        raise InputError("a node is the head or joins one: give --head or --join, not both")
    if join and store:
        raise InputError("whoever joins works on the head's book: leave --store out")
    if build_for_others and not (head or join):
        raise InputError("a machine alone builds for nobody else: give --head or --join")
    with _stoppable() as stop:
        if head or join:
            where = _checked(head or join)
            _cluster(store, where, settings, stop, head=bool(head), builds=build_for_others)
        else:
            _alone(store, settings, stop, until_empty=until_empty)


class Node(Answer):
    """A machine of a cluster.

    Attributes:
        hardware: target to the class of its machine.
        jail: strangers' programs can be run on it.
        labels: what Ray knows of it.
    """

    name: str
    hardware: dict[str, str]
    jail: bool
    labels: dict[str, str]


class Status(Answer):
    """What a farm is doing.

    Attributes:
        counts: state to how many tasks there are of it.
        done_last_hour: tasks.
        leased: tasks that somebody works on.
        nodes: of the cluster, if its address is given.
    """

    counts: dict[str, int]
    done_last_hour: int
    leased: list[Task]
    nodes: list[Node]


class Stopped(Answer):
    """What `farm stop` did.

    Attributes:
        stopped: farms.
    """

    stopped: int


SCREEN = 20
"""Rows of each table that are shown."""


@app.command()
@answers(Status)
def status(store: Store = None, address: Address = "", json: options.Json = False) -> None:
    """Show what waits, who works on what, and the nodes of a cluster."""
    from loopbook.farm.status import nothing, status_of

    head = _checked(address) if address else ""
    told = nothing(head) if none_yet(store) else status_of(location_of(store), head)
    if json:
        write(Status, told)
        return
    if any(told["counts"].values()):
        style.tell(
            options.counts(told["counts"]), f"{told['done_last_hour']} done in the last hour"
        )
    else:
        style.tell(NOTHING, "'loopbook farm start' begins when there is something to do.")
    leased, nodes = told["leased"], told["nodes"]
    if leased:
        rows = style.table("task", "kind", "machine", "worker", cut=["task", "worker"])
        for task in leased[:SCREEN]:
            style.add(rows, task["id"], task["kind"], task["hardware_key"], task["worker"])
        style.tell("", rows)
    if nodes:
        rows = style.table("node", "jail", "classes", fold=["classes"])
        for node in nodes[:SCREEN]:
            classes = " ".join(f"{name}={key}" for name, key in node["hardware"].items())
            style.add(rows, node["name"], style.verdict(node["jail"]), classes)
        style.tell("", rows)
    for found, what in ((leased, "tasks"), (nodes, "nodes")):
        if len(found) > SCREEN:
            style.tell(f"… {len(found) - SCREEN} more {what} (--json has all)")


@app.command()
@answers(Stopped)
def stop(json: options.Json = False) -> None:
    """End the farm that runs on this machine, after the tasks at hand are given back."""
    from loopbook.farm.running import stop_here

    count = stop_here()
    if json:
        write(Stopped, {"stopped": count})
    else:
        style.tell(f"{display.counted(count, 'farm')} stopped" if count else "no farm runs here")


@app.command()
@answers(dict[str, str])
def labels(json: options.Json = False) -> None:
    """Print what a cluster calls this machine, as 'ray start --labels' wants it. Where something
    else starts Ray (KubeRay does), the labels have to be given there, and this says which."""
    from loopbook.farm.cluster import labels_text
    from loopbook.farm.machine import Machine

    machine = Machine.here()
    if not machine.jail:
        show(f"no tasks to tune for this node: {one_line(machine.why_not, 500)}", file=sys.stderr)
    if json:
        write(dict[str, str], dict(sorted(machine.labels.items())))
    else:
        show(labels_text(machine.labels))


@app.command()
@options.made_by(_settings)
def dispatch(
    settings: FarmSettings,
    address: Address,
    store: Store = None,
) -> None:
    """Hand tasks to the nodes of a cluster that something else has started. Runs on one of its
    nodes; 'farm start --head' does this itself."""
    from loopbook.embed.inference import Encoder
    from loopbook.farm.cluster import RayCluster
    from loopbook.farm.dispatch import Dispatcher
    from loopbook.farm.vectors import ask_for_vectors
    from loopbook.recipes.book import Book

    location = location_of(store)
    with RayCluster(_checked(address)) as cluster, Book.open(location) as book:
        over = _on_signals()  # Ray has handlers of its own, which it sets when it begins
        ask_for_vectors(book, Encoder.load().version)
        Dispatcher(book, location, cluster, settings, _say).run(over)


def _as_options(settings: FarmSettings) -> list[str]:
    """The words that `_settings` makes them of."""
    told = {
        "trials": settings.trials,
        "seed": settings.seed,
        "builders": settings.builders,
        "search-time": settings.search_s,
        "lease-time": settings.lease_s,
        "pause-time": settings.pause_s,
        "orphans": settings.orphan_s / DAY_S,
    }
    return [f"--{name}={value}" for name, value in told.items()]


def _alone(
    store: str | None, settings: FarmSettings, stop: threading.Event, *, until_empty: bool
) -> None:
    from loopbook.farm.alone import work
    from loopbook.farm.machine import Machine

    machine = Machine.here()
    if not machine.jail:
        _say(f"tasks to tune stay where they are: {machine.why_not}")
    done = work(
        location_of(store),
        machine,
        settings,
        stop=stop,
        until_empty=until_empty,
        told=lambda task, ending: _say(
            f"{task.id} {task.kind} {task.target} {ending.state} {ending.why}".rstrip()
        ),
        away=_say,
    )
    _say(f"{done} tasks done")


def _cluster(
    store: str | None,
    address: str,
    settings: FarmSettings,
    stop: threading.Event,
    *,
    head: bool,
    builds: int,
) -> None:
    from loopbook.farm.cluster import start_node
    from loopbook.farm.keep import Part, keep
    from loopbook.farm.machine import Machine
    from loopbook.private import make_folders
    from loopbook.recipes.folders import cache_folder

    machine = Machine.here()
    if not machine.jail:
        what = "nothing to build" if builds else "no tasks to tune"
        _say(f"{what} for this node: {machine.why_not}")
    folder = cache_folder()
    make_folders(folder)
    log = folder / f"farm-{os.getpid()}.log"

    def node() -> subprocess.Popen[bytes]:
        return start_node(machine, address, head=head, log=log, builds=builds)

    parts = [Part("Ray", node, leads=True)]
    if head:
        parts.append(Part("the dispatcher", lambda: _dispatcher(store, address, settings)))
    _say(f"{'head' if head else 'node'} of {address}; Ray's words are in {log}")
    keep(parts, stop, _say)


def _dispatcher(store: str | None, address: str, settings: FarmSettings) -> subprocess.Popen[bytes]:
    import subprocess

    from loopbook.toolchain.sandbox import die_with_parent

    command = [sys.executable, "-m", "loopbook", "farm", "dispatch", "--address", address]
    command += ["--store", location_of(store), *_as_options(settings)]
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=die_with_parent,  # a supervisor that is killed is started again with a new one
    )


def _say(words: str) -> None:
    show(one_line(words, 500), flush=True)


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """Set by Ctrl-C, by a signal, and by 'loopbook farm stop'."""
    from loopbook.farm.running import noted

    over = _on_signals()
    with noted():
        yield over


def _on_signals() -> threading.Event:
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(ValueError):  # not in the main thread: a test
            signal.signal(number, lambda *_: over.set())
    return over


def _checked(address: str) -> str:
    """An address of a head.

    Raises:
        InputError: it is no ``HOST:PORT``.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise InputError(f"{one_line(address, 60)} is no HOST:PORT")
    return address
