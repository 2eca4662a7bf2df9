"""How well nearness finds what works, by transfers that were measured: no compiler is asked.

Of all records that were tried on a nest, which does a method put first, and how much of the best
one's speedup do its first k give?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loopbook.learn.examples import Example, Examples
from loopbook.learn.lessons import LEAST_DONORS, regret

CUTS = (1, 3, 5, 10)
"""How many of the first records are looked at."""

USEFUL = 1.05
"""A nest on which no record was this many times faster has nothing to find."""

SAME = 0.05
"""A record whose regret is at most this counts as the best one."""


@dataclass(frozen=True)
class Retrieval:
    """Means over nests.

    Attributes:
        recall: number of records looked at to the share of nests whose best record is among them.
        regret: the same to the regret of the best of them.
        nests: how many were looked at.
    """

    recall: dict[int, float]
    regret: dict[int, float]
    nests: int


def retrieval(examples: Examples, distances: Sequence[float]) -> Retrieval:
    """Judge an order of records.

    Args:
        distances: one for each example; the least comes first among those of a nest.
    """
    groups: dict[tuple[object, ...], list[tuple[float, float]]] = {}
    gains: dict[tuple[object, ...], float] = {}
    for one, distance in zip(examples.examples, distances, strict=True):
        key = (one.fingerprint, one.target, one.hardware, tuple(one.trips.items()))
        groups.setdefault(key, []).append((distance, regret(one)))
        gains[key] = max(gains.get(key, 0.0), _gain(one))
    recall = {cut: [] for cut in CUTS}
    regrets = {cut: [] for cut in CUTS}
    for key, group in groups.items():
        if len(group) < LEAST_DONORS or 2 ** gains[key] < USEFUL:
            continue
        ordered = [lost for _, lost in sorted(group)]
        least = min(ordered)
        for cut in CUTS:
            found = min(ordered[:cut])
            recall[cut].append(float(found <= least + SAME))
            regrets[cut].append(found)
    count = len(recall[CUTS[0]])
    return Retrieval(
        {cut: float(np.mean(values)) if values else 0.0 for cut, values in recall.items()},
        {cut: float(np.mean(values)) if values else 0.0 for cut, values in regrets.items()},
        count,
    )


def _gain(one: Example) -> float:
    return one.gain if one.fits else 0.0
