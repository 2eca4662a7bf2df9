"""What a farm is doing."""

from __future__ import annotations

from typing import Any

from loopbook.recipes.book import Book
from loopbook.recipes.tasks import DONE, LEASED, STATES

MOST_SHOWN = 1000

HOUR_S = 3600.0


def status_of(store: str, address: str = "") -> dict[str, Any]:
    """The queue of a book, and the nodes of a cluster if its address is given.

    Raises:
        BookError: the book can't be read.
        FarmError: there is no cluster at the address.
    """
    with Book.open(store, readonly=True) as book:
        queue = book.queue
        counts, now = queue.counts(), queue.now()
        leased, _ = queue.all([LEASED], limit=MOST_SHOWN)
        told = [task.told(now) for task in leased]
        done = queue.changed_since(DONE, now - HOUR_S)
    return {
        "counts": counts,
        "done_last_hour": done,
        "leased": told,
        "nodes": _nodes(address) if address else [],
    }


def nothing(address: str = "") -> dict[str, Any]:
    """The same where there is no book yet.

    Raises:
        FarmError: there is no cluster at the address.
    """
    counts = dict.fromkeys(STATES, 0)
    nodes = _nodes(address) if address else []
    return {"counts": counts, "done_last_hour": 0, "leased": [], "nodes": nodes}


def _nodes(address: str) -> list[dict[str, Any]]:
    from loopbook.farm.cluster import RayCluster
    from loopbook.farm.machine import MEASURING

    with RayCluster(address) as cluster:
        return [
            {
                "name": node.name,
                "hardware": dict(node.abilities.hardware),
                "jail": not set(MEASURING).isdisjoint(node.abilities.kinds),
                "labels": dict(node.labels),
            }
            for node in cluster.nodes()
        ]
