"""Brings tasks from the queue to the nodes of a cluster.

It leases a task only when a node that can do it is free, and hands it on. As long as the task waits
for its place in the cluster, it extends the lease; the node takes the lease over when it begins,
extends it, and ends the task in the database itself. So nothing is lost when this process dies, and
two of them do no harm.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from loopbook.errors import BookError
from loopbook.farm.cluster import Cluster, Node
from loopbook.farm.machine import MEASURING, selector
from loopbook.farm.settings import AWAY_S, FarmSettings
from loopbook.farm.single import as_plain, packed
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import Lease

SWEEP_S = 60.0
"""Between two looks for tasks that no node can take."""

Class = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
"""What nodes have in common that can do the same tasks."""


@dataclass
class _HandedOut:
    """A task that is under way.

    Attributes:
        since, extended: when it was handed out, and when its lease was extended last, on the
            dispatcher's clock.
        waits: no node has taken it over yet, as far as is known.
    """

    place: Class
    lease: Lease
    since: float
    extended: float
    waits: bool = True


class Dispatcher:
    """The tasks of one book on one cluster.

    Args:
        told: is told of each task that was handed out or has ended, in words.
        clock: seconds since some moment.
    """

    def __init__(
        self,
        book: Book,
        store: str,
        cluster: Cluster,
        settings: FarmSettings,
        told: Callable[[str], None] = lambda words: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._book, self._store = book, store
        self._cluster, self._settings = cluster, settings
        self._told, self._clock = told, clock
        self._under_way: dict[Any, _HandedOut] = {}
        self._swept = float("-inf")

    def run(self, stop: threading.Event, *, until_empty: bool = False) -> None:
        """Hand tasks out until `stop`, or until nothing is left that the nodes can do now.

        Raises:
            FarmError: the cluster does not answer.
        """
        while not stop.is_set():
            try:
                handed_out = self.step()
            except BookError as error:
                self._told(f"the book's database does not answer: {error}")
                stop.wait(AWAY_S)
                continue
            if until_empty and not handed_out and not self._under_way:
                return
            if not self._under_way:
                stop.wait(self._settings.poll_s)

    def step(self) -> int:
        """Hand out what free nodes can take, then wait a little for something to end; returns how
        many tasks were handed out.

        Raises:
            BookError: the database does not answer.
            FarmError: the cluster does not answer.
        """
        nodes = self._cluster.nodes()
        handed_out = self._hand_out(nodes)
        self._extend(set(map(_class_of, nodes)))
        if nodes and self._clock() - self._swept > SWEEP_S:
            self._sweep(nodes)
        if self._under_way:
            handles = list(self._under_way)
            for handle, words in self._cluster.finished(handles, self._settings.poll_s):
                ended = self._under_way.pop(handle)
                self._told(f"{ended.lease.task.id} {words}")
        return handed_out

    def _hand_out(self, nodes: list[Node]) -> int:
        """Lease for every node that has nothing to do. Nodes that can do the same are one class:
        which of them it will be is the cluster's to say."""
        there = Counter(map(_class_of, nodes))
        busy = Counter(one.place for one in self._under_way.values())
        abilities = {_class_of(node): node.abilities for node in nodes}
        count = 0
        for one, many in there.items():
            for _ in range(many - busy[one]):
                lease = self._book.queue.lease(_name(one), abilities[one], self._settings.lease_s)
                if lease is None:
                    break
                self._submit(one, lease)
                count += 1
        return count

    def _submit(self, one: Class, lease: Lease) -> None:
        task = lease.task
        handle = self._cluster.submit(
            selector(task.kind, task.target, task.hardware_key),
            task.kind in MEASURING,
            self._store,
            packed(lease),
            as_plain(self._settings),
        )
        now = self._clock()
        self._under_way[handle] = _HandedOut(one, lease, now, now)
        self._told(f"{task.id} {task.kind} {task.target} {task.hardware_key}")

    def _extend(self, there: Collection[Class]) -> None:
        """Extend the leases of what waits for a node that there is. It waits no longer than one
        search takes: what the cluster does not place by then is for others."""
        now = self._clock()
        for one in self._under_way.values():
            one.waits &= one.place in there and now - one.since < self._settings.search_s
            if one.waits and now - one.extended > self._settings.lease_s / 3:
                one.waits = self._book.queue.extend(one.lease, self._settings.lease_s)
                one.extended = now

    def _sweep(self, nodes: list[Node]) -> None:
        self._swept = self._clock()
        lanes = {lane for node in nodes for lane in node.abilities.lanes}
        for task in self._book.queue.give_up(lanes, self._settings.orphan_s):
            self._told(f"{task} given up: no node of its class")


def _class_of(node: Node) -> Class:
    able = node.abilities
    return tuple(sorted(able.kinds)), tuple(sorted(able.hardware.items()))


def _name(one: Class) -> str:
    """What the queue calls whoever leases for a class."""
    return "cluster " + " ".join(dict.fromkeys(key for _, key in one[1]))
