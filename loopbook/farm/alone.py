"""One machine with no cluster: leases, works, leases the next."""

from __future__ import annotations

import threading
from collections.abc import Callable

from loopbook.errors import BookError
from loopbook.farm.carry import Carrier
from loopbook.farm.machine import Machine
from loopbook.farm.settings import AWAY_S, FarmSettings
from loopbook.farm.vectors import ask_for_vectors
from loopbook.recipes.tasks import Ending, Task

Told = Callable[[Task, Ending], None]


def work(
    store: str,
    machine: Machine,
    settings: FarmSettings,
    *,
    stop: threading.Event | None = None,
    until_empty: bool = False,
    told: Told = lambda task, ending: None,
    away: Callable[[str], None] = lambda why: None,
) -> int:
    """Do the tasks of a book on this machine, the most wanted first; returns how many ended here.

    Args:
        stop: ends it after the task that is being done.
        until_empty: end when there is nothing left that this machine can do now.
        told: is told of each task that has ended.
        away: is told when the database does not answer; it is tried again.

    Raises:
        BookError: the book can't be opened or written.
    """
    stop = stop or threading.Event()
    done = 0
    with Carrier(store, machine, settings) as carrier:
        ask_for_vectors(carrier.book, carrier.encoder)
        while not stop.is_set():
            try:
                lease = carrier.book.queue.lease(machine.name, machine.abilities, settings.lease_s)
                if lease is None:
                    if until_empty:
                        break
                    stop.wait(settings.poll_s)
                    continue
                ending = carrier.carry_out(lease)
            except BookError as error:
                away(str(error))
                stop.wait(AWAY_S)
                continue
            done += ending.changed
            told(lease.task, ending)
    return done
