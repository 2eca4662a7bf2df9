"""Which records come first for a query: near programs on near hardware, then the fastest."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np

from loopbook.recipes._snapshot import Snapshot
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.index import VectorIndex
from loopbook.recipes.store import Entry

HARDWARE_WEIGHT = 0.1
"""How much a step in hardware space counts against one in program space.

The unit vectors of nests of one kind lie within some tenths of each other; AVX2 and AVX-512 are 1
apart. A recipe for the same kind of nest from the other machine should still come before one for
another kind of nest from this machine. Chosen, not learnt."""

Kernels = Callable[[str], bool] | Collection[str] | None


class Ranked(NamedTuple):
    """A record's place; sorts as a tuple, the best first."""

    score: float
    slowness: float
    id: str
    distance: float
    hardware_distance: float
    entry: Entry


def rank(
    snapshot: Snapshot,
    index: VectorIndex,
    vector: np.ndarray,
    k: int,
    *,
    target: str | None,
    hardware: HardwareProfile | None,
    exclude: Kernels,
    per_nest: int,
) -> list[Ranked]:
    """The ``k`` best of all records that pass the filters; see
    :meth:`loopbook.recipes.book.Book.nearest` for the arguments.

    No record is lost to the filters: more and more nests are asked of the index, until ``k``
    records are found and none further out could come before them, or the index is exhausted.
    """
    apart = {
        key: profile.distance(hardware) if hardware else 0.0
        for key, profile in snapshot.hardware.items()
    }
    excluded = _test_of(exclude)
    found: list[Ranked] = []
    seen, asked = 0, 4 * k
    while True:
        fingerprints, distances = index.search(vector, asked)
        for fingerprint, distance in zip(fingerprints[seen:], distances[seen:], strict=True):
            fitting = [
                Ranked(
                    distance + HARDWARE_WEIGHT * apart[entry.hardware_id],
                    -entry.speedup,
                    entry.id,
                    distance,
                    apart[entry.hardware_id],
                    entry,
                )
                for entry in snapshot.by_nest.get(fingerprint, ())
                if (target is None or entry.target == target) and not excluded(entry.kernel)
            ]
            found += _distinct(sorted(fitting), per_nest)
        found.sort()
        # Whatever the index has yet to show is at least as far as the last nest that it showed.
        complete = len(found) >= k and found[k - 1].score <= distances[-1]
        if complete or len(fingerprints) == len(index):
            return found[:k]
        seen, asked = len(fingerprints), 4 * asked


def _distinct(ranked: list[Ranked], limit: int) -> list[Ranked]:
    """The first ``limit`` of different recipes; sequential and parallel ones never stand in for
    each other."""
    chosen: dict[tuple[str, str], Ranked] = {}
    for one in ranked:
        if len(chosen) == limit:
            break
        chosen.setdefault((one.entry.target, one.entry.recipe), one)
    return list(chosen.values())


def _test_of(exclude: Kernels) -> Callable[[str], bool]:
    if exclude is None:
        return lambda kernel: False
    if callable(exclude):
        return exclude
    names = frozenset([exclude] if isinstance(exclude, str) else exclude)
    return lambda kernel: kernel in names
