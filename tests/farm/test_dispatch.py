"""What waits in a cluster, and who holds its lease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from queue_kit import Clock

from loopbook.farm.cluster import Node
from loopbook.farm.dispatch import Dispatcher
from loopbook.farm.settings import FarmSettings
from loopbook.farm.single import unpacked
from loopbook.recipes.book import Book
from loopbook.recipes.tasks import LEASED, REEMBED, STATES, Abilities, Ask, Lease, Task

SETTINGS = FarmSettings(lease_s=60.0, search_s=900.0, poll_s=0.0)

NODE = Node("node", {"loopbook/jail": "no"}, Abilities([REEMBED], {}))


class Full:
    """A cluster that keeps what it is given waiting. Ray cannot be told to: how long a task waits
    there depends on what else its nodes do."""

    def __init__(self) -> None:
        self.alive = [NODE]
        self.given: list[Lease] = []

    def nodes(self) -> list[Node]:
        return self.alive

    def submit(
        self, selector: Mapping[str, str], timing: bool, store: str, lease: str, settings: Any
    ) -> Any:
        self.given.append(unpacked(lease))
        return len(self.given)

    def finished(self, handles: Sequence[Any], seconds: float) -> list[tuple[Any, str]]:
        return []


class Waiting:
    """A dispatcher with one task, on a clock of the test's."""

    def __init__(self, book: Book, store: str) -> None:
        self.book, self.clock, self.cluster = book, Clock(), Full()
        book.queue._clock = self.clock
        book.queue.ask(Ask(REEMBED, "ab" * 16, "", "", "an encoder"))
        self.dispatcher = Dispatcher(book, store, self.cluster, SETTINGS, clock=self.clock)
        assert self.dispatcher.step() == 1
        (self.lease,) = self.cluster.given

    def wait(self, seconds: float, step: float = 10.0) -> Task:
        for _ in range(round(seconds / step)):
            self.clock.now += step
            self.dispatcher.step()
        ((task,), _) = self.book.queue.all(STATES)
        return task


@pytest.fixture
def waiting(tmp_path):
    store = str(tmp_path / "book.db")
    with Book.open(store) as book:
        yield Waiting(book, store)


def test_what_waits_for_its_node_keeps_its_lease(waiting):
    task = waiting.wait(300.0)
    assert (task.state, task.lease, task.lost) == (LEASED, waiting.lease.id, 0)
    assert isinstance(waiting.book.queue.begin(waiting.lease, "node", 60.0), Lease)


def test_what_a_node_has_begun_is_the_nodes_to_extend(waiting):
    waiting.wait(100.0)
    assert isinstance(waiting.book.queue.begin(waiting.lease, "node", 60.0), Lease)
    waiting.cluster.alive = []  # else it would be handed out at once again
    waiting.wait(60.0)
    assert waiting.book.queue.lease("another", NODE.abilities, 60.0) is not None


def test_what_waits_for_a_node_that_is_gone_loses_its_lease(waiting):
    waiting.cluster.alive = []
    waiting.wait(60.0)
    assert waiting.book.queue.lease("another", NODE.abilities, 60.0) is not None


def test_what_the_cluster_does_not_place_is_for_others(waiting):
    waiting.wait(SETTINGS.search_s - 100.0)
    assert waiting.book.queue.lease("another", NODE.abilities, 60.0) is None
    waiting.wait(200.0)
    assert waiting.book.queue.lease("another", NODE.abilities, 60.0) is not None
