"""Which records come first for a query: near programs on near hardware, then the fastest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from loopbook.recipes._snapshot import Snapshot
from loopbook.recipes.hardware import HardwareProfile
from loopbook.recipes.index import VectorIndex
from loopbook.recipes.indexes.tags import Tag
from loopbook.recipes.store import Entry

HARDWARE_WEIGHT = 0.1
"""How much a step in hardware space counts against one in program space.

The unit vectors of nests of one kind lie within some tenths of each other; AVX2 and AVX-512 are 1
apart. A recipe for the same kind of nest from the other machine should still come before one for
another kind of nest from this machine. Chosen, not learnt."""

_GROUPS = 8
"""Machines are searched in so many groups at most: each takes a search of its own."""

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
    without: Collection[str],
    per_nest: int,
) -> list[Ranked]:
    """The ``k`` best of all records that pass the filters; see
    :meth:`loopbook.recipes.book.Book.nearest` for the arguments.

    No record is lost to the filters. Machines are taken in turn, the nearest first: of the nests
    tuned for the target on such a machine the nearest are asked of the index, more and more, until
    ``k`` records are found and none further out could come before them, or there are no more.
    """
    apart = {
        key: profile.distance(hardware) if hardware else 0.0
        for key, profile in snapshot.hardware.items()
    }
    excluded = _test_of(exclude)
    found: list[Ranked] = []
    seen: set[str] = set()

    def look_at(fingerprint: str, distance: float) -> None:
        if fingerprint in without:
            return
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
        found.extend(_distinct(sorted(fitting), per_nest))

    for least, tags in _groups(index.tags, apart, target):
        asked = 2 * k
        while not _complete(found, k, HARDWARE_WEIGHT * least):
            fingerprints, distances = index.search(vector, asked, tags)
            for fingerprint, distance in zip(fingerprints, distances, strict=True):
                if fingerprint not in seen:
                    seen.add(fingerprint)
                    look_at(fingerprint, distance)
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
    *,
    target: str | None,
    hardware: HardwareProfile | None,
    exclude: Kernels,
    without: Collection[str],
    per_nest: int,
) -> list[Ranked]:
    """The ``k`` best of some records.

    Args:
        distances: fingerprint to distance; records of other nests are left out.
    """
    excluded = _test_of(exclude)
    by_nest: defaultdict[str, list[Ranked]] = defaultdict(list)
    for entry in entries:
        wanted = target in (None, entry.target) and entry.fingerprint not in without
        if wanted and entry.fingerprint in distances and not excluded(entry.kernel):
            machine = snapshot.hardware[entry.hardware_id]
            away = machine.distance(hardware) if hardware else 0.0
            distance = distances[entry.fingerprint]
            score = distance + HARDWARE_WEIGHT * away
            by_nest[entry.fingerprint].append(
                Ranked(score, -entry.speedup, entry.id, distance, away, entry)
            )
    return sorted(r for one in by_nest.values() for r in _distinct(sorted(one), per_nest))[:k]


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


def _test_of(exclude: Kernels) -> Callable[[str], bool]:
    if exclude is None:
        return lambda kernel: False
    if callable(exclude):
        return exclude
    names = frozenset([exclude] if isinstance(exclude, str) else exclude)
    return lambda kernel: kernel in names
