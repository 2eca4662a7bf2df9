"""A sample of up to 10^8 programs: particles that stand for many programs of one popularity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.farm_sim.arrivals import zipf_sum
from benchmarks.farm_sim.measured import Demand

HEAD = 1000
"""Programs that are taken one by one, the most popular ones."""

_EDGES = 48
_LEAST = 50


class Particles(NamedTuple):
    """What they are, for one class of machines.

    Attributes:
        rate: asks a second for one of its programs.
        weight: how many programs it stands for.
        first: second at which one of its programs is first asked for.
    """

    rate: np.ndarray
    weight: np.ndarray
    first: np.ndarray


def particles_of(demand: Demand, rate: float, count: int, random: np.random.Generator) -> Particles:
    """About `count` particles and the head. First asks are spread evenly over their distribution
    among particles of about the same rate: that takes most of the noise away.

    Args:
        rate: asks a second of all programs together.
    """
    programs, s = demand.programs, demand.zipf
    scale = rate / zipf_sum(1, programs, s)
    rates = [scale * np.arange(1, min(programs, HEAD) + 1, dtype=float) ** -s]
    weights = [np.ones(len(rates[0]))]
    spreads = [
        _even(min(_LEAST, len(rates[0]) - low), random) for low in range(0, len(rates[0]), _LEAST)
    ]
    if programs > HEAD:
        edges = np.unique(np.geomspace(HEAD + 1, programs + 1, _EDGES).round().astype(np.int64))
        sizes = np.diff(edges).astype(float)
        means = [
            zipf_sum(low, high - 1, s) / (high - low)
            for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
        ]
        tail = scale * np.array(means)
        tasks = sizes * -np.expm1(-tail * demand.days * 86400)
        numbers = np.minimum(np.maximum(count * tasks / tasks.sum(), _LEAST), sizes)
        for own, size, number in zip(tail, sizes, np.ceil(numbers).astype(int), strict=True):
            rates.append(np.full(number, own))
            weights.append(np.full(number, size / number))
            spreads.append(_even(number, random))
    found = np.concatenate(rates)
    first = -np.log1p(-np.concatenate(spreads)) / found
    return Particles(found, np.concatenate(weights), first)


def _even(number: int, random: np.random.Generator) -> np.ndarray:
    """Random numbers from 0 to 1, one in each of so many equal parts."""
    return random.permutation((np.arange(number) + random.random(number)) / number)
