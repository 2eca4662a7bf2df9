"""Which records come first for a query: near programs on near hardware, then the fastest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from loopbook.recipes._rows import Entry
from loopbook.recipes._snapshot import Snapshot
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.index import VectorIndex
from loopbook.recipes.indexes.tags import Tag
from loopbook.recipes.layer import HARDWARE_WEIGHT, Kernels, excludes

_GROUPS = 8
"""Machines are searched in so many groups at most: each takes a search of its own."""


class Ranked(NamedTuple):
    """A record's place; sorts as a tuple, the best first."""

    score: float
    slowness: float
    id: str
    distance: float
    hardware_distance: float
    entry: Entry


@dataclass(frozen=True)
class Filters:
    """Which records may be found; see :meth:`loopbook.recipes.book.Book.nearest`."""

    target: str | None
    hardware: HardwareProfile | None
    exclude: Kernels
    without: Collection[str]
    per_nest: int

    def apart(self, snapshot: Snapshot) -> dict[str, float]:
        """How far each machine of a book is from the one asked for."""
        wanted = self.hardware
        return {
            key: profile.distance(wanted) if wanted else 0.0
            for key, profile in snapshot.hardware.items()
        }

    @cached_property
    def _excludes(self) -> Callable[[str], bool]:
        return excludes(self.exclude)

    def of_nest(
        self, entries: Iterable[Entry], distance: float, apart: Mapping[str, float]
    ) -> list[Ranked]:
        """The places of one nest's records: of those that pass, the first ``per_nest``.

        Args:
            distance: from the query to the nest.
        """
        target, without, left_out = self.target, self.without, self._excludes
        fitting = [
            Ranked(
                distance + HARDWARE_WEIGHT * apart[entry.hardware_id],
                -entry.speedup,
                entry.id,
                distance,
                apart[entry.hardware_id],
                entry,
            )
            for entry in entries
            if target in (None, entry.target)
            and entry.fingerprint not in without
            and not left_out(entry.kernel)
        ]
        if len(fitting) < 2:
            return fitting[: self.per_nest]
        return _distinct(sorted(fitting), self.per_nest)


def rank(
    snapshot: Snapshot, index: VectorIndex, vector: np.ndarray, k: int, filters: Filters
) -> list[Ranked]:
    """The ``k`` best of all records that pass the filters.

    No record is lost to the filters. Machines are taken in turn, the nearest first: of the nests
    tuned for the target on such a machine the nearest are asked of the index, more and more, until
    ``k`` records are found and none further out could come before them, or there are no more.
    """
    apart = filters.apart(snapshot)
    found: list[Ranked] = []
    seen: set[str] = set()
    for least, tags in _groups(index.tags, apart, filters.target):
        asked = 2 * k
        while not _complete(found, k, HARDWARE_WEIGHT * least):
            fingerprints, distances = index.search(vector, asked, tags)
            for fingerprint, distance in zip(fingerprints, distances, strict=True):
                if fingerprint not in seen:
                    if len(found) >= k and found[k - 1].score < distance + HARDWARE_WEIGHT * least:
                        break  # nor would any behind it be among the first
                    seen.add(fingerprint)
                    entries = snapshot.by_nest.get(fingerprint, ())
                    found += filters.of_nest(entries, distance, apart)
                    found.sort()
            # What this group has yet to show is at least as far as the last nest that it showed.
            if len(fingerprints) < asked:
                break
            if _complete(found, k, distances[-1] + HARDWARE_WEIGHT * least):
                break
            asked *= 4
    return found[:k]


def rank_among(
    snapshot: Snapshot,
    entries: Iterable[Entry],
    distances: Mapping[str, float],
    k: int,
    filters: Filters,
) -> list[Ranked]:
    """The ``k`` best of some records.

    Args:
        distances: fingerprint to distance; records of other nests are left out.
    """
    apart = filters.apart(snapshot)
    nests: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.fingerprint in distances:
            nests[entry.fingerprint].append(entry)
    ranked = (filters.of_nest(own, distances[nest], apart) for nest, own in nests.items())
    return sorted(chain.from_iterable(ranked))[:k]


def _groups(
    tags: frozenset[Tag], apart: dict[str, float], target: str | None
) -> list[tuple[float, frozenset[Tag] | None]]:
    """How far the nearest machine of each group is, and the group's tags; the nearest group first.

    None stands for all tags: the index then needs no filter.
    """
    fitting = [tag for tag in tags if target in (None, tag[0]) and tag[1] in apart]
    far = sorted({apart[machine] for _, machine in fitting})
    if len(far) == 1 and len(fitting) == len(tags):
        return [(far[0], None)]
    groups = []
    for some in np.array_split(np.array(far), min(len(far), _GROUPS) or 1):
        if len(some):
            within = (tag for tag in fitting if some[0] <= apart[tag[1]] <= some[-1])
            groups.append((float(some[0]), frozenset(within)))
    return groups


def _complete(found: list[Ranked], k: int, least: float) -> bool:
    """Whether nothing that scores ``least`` or more could come among the first ``k``."""
    return len(found) >= k and found[k - 1].score <= least


def _distinct(ranked: list[Ranked], limit: int) -> list[Ranked]:
    """The first ``limit`` of different recipes; sequential and parallel ones never stand in for
    each other."""
    chosen: dict[tuple[str, str], Ranked] = {}
    for one in ranked:
        if len(chosen) == limit:
            break
        chosen.setdefault((one.entry.target, one.entry.recipe), one)
    return list(chosen.values())
