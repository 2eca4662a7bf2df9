"""The map: all records by their nests' vectors, and what was asked for in vain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from loopbook.explorer.catalogue import Shown, machine_name, seconds
from loopbook.explorer.clusters import clusters
from loopbook.explorer.documents import Columns, Machine, Map, Miss, Misses, Projection
from loopbook.explorer.layout import Layout
from loopbook.workloads.families import family_of

SPREAD = 0.004
"""How far records of one nest are drawn apart, which would lie on each other."""

GOLDEN = 2.399963
"""The golden angle, in radians: points of a sunflower lie on no line."""

Embedded = Callable[[Sequence[str]], Mapping[str, np.ndarray]]
"""Vectors of missed nests, by fingerprint, as far as there are any."""


def map_of(shown: Shown, layout: Layout, missed: Sequence[Miss], vectors: Embedded) -> Map:
    """The map's document.

    Args:
        missed: what was asked for in vain; `id` is a nest's fingerprint.
        vectors: of such nests as are in no book.
    """
    briefs = shown.briefs
    prints = [one.fingerprint for one in briefs]
    places = _apart(layout.places_of(prints))
    kinds = [family_of(one.kernel) for one in briefs]
    families, family = _numbered(kinds)
    machines, machine = _numbered([one.hardware_id for one in briefs])
    targets, target = _numbered([one.target for one in briefs])
    homeless = np.isnan(places[:, 0])
    if homeless.any():
        _settle(places, homeless, family)
    rounded = np.round(places.astype(np.float64), 4)
    columns = Columns(
        [one.id for one in briefs],
        [one.nest for one in briefs],
        rounded[:, 0].tolist(),
        rounded[:, 1].tolist(),
        np.round([one.speedup for one in briefs], 3).tolist(),
        family.tolist(),
        machine.tolist(),
        target.tolist(),
        [seconds(one.date) for one in briefs],
    )
    return Map(
        datetime.now(UTC).isoformat(timespec="seconds"),
        len(briefs),
        Projection(layout.method if len(layout.names) else "none", shown.encoder),
        families,
        [Machine(one, machine_name(shown.machines[one])) for one in machines],
        targets,
        columns,
        clusters(places[~homeless], family[~homeless], families),
        _misses(layout, missed, vectors),
    )


def _misses(layout: Layout, missed: Sequence[Miss], vectors: Embedded) -> Misses:
    """Those that have a place."""
    prints = [one.id.partition(" ")[0] for one in missed]
    places = layout.places_of(prints)
    lost = [name for name, place in zip(prints, places, strict=True) if np.isnan(place[0])]
    if lost and len(layout.landmarks):
        found = {n: v for n, v in vectors(lost).items() if len(v) == layout.landmarks.shape[1]}
        if found:
            near = dict(zip(found, layout.place(np.stack([*found.values()])), strict=True))
            for row, name in enumerate(prints):
                places[row] = near.get(name, places[row])
    kept = [
        (one, place) for one, place in zip(missed, places, strict=True) if not np.isnan(place[0])
    ]
    return Misses(
        [one.id for one, _ in kept],
        [round(float(place[0]), 4) for _, place in kept],
        [round(float(place[1]), 4) for _, place in kept],
        [one.asked for one, _ in kept],
        [one.state for one, _ in kept],
        [one.record for one, _ in kept],
    )


def _apart(places: np.ndarray) -> np.ndarray:
    """Places of which no two are the same, as near to what they were as can be."""
    if not len(places):
        return places
    _, group = np.unique(places, axis=0, return_inverse=True)
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    starts = np.r_[0, np.flatnonzero(np.diff(group[order])) + 1]
    sizes = np.diff(np.r_[starts, len(order)])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    reach = SPREAD * np.sqrt(rank)
    angle = GOLDEN * rank
    offsets = np.stack([reach * np.cos(angle), reach * np.sin(angle)], axis=1)
    return np.clip(places + offsets, -1, 1)


def _settle(places: np.ndarray, homeless: np.ndarray, family: np.ndarray) -> None:
    """Records without a vector lie in the middle of their family."""
    for one in np.unique(family[homeless]):
        own = (family == one) & ~homeless
        places[(family == one) & homeless] = places[own].mean(axis=0) if own.any() else 0.0


def _numbered(values: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The different values, sorted, and which of them each is."""
    different = sorted(set(values))
    number = {value: place for place, value in enumerate(different)}
    return different, np.array([number[value] for value in values], np.int64)
