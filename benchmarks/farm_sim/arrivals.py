"""Who asks for what, when: Zipf's law over programs, Poisson in time, or a trace."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.farm_sim.measured import Demand, MachineClass, Measured

_EXACT = 1_000_000
"""Ranks that Zipf's sum takes one by one; Euler and Maclaurin's formula gives the rest."""

_BLOCK = 100_000


class AskAt(NamedTuple):
    """One look-up: a program, on a machine of a class, by number."""

    second: float
    program: int | str
    machine: int
    near: bool
    cost_s: float


def zipf_sum(first: float, last: float, s: float) -> float:
    """The sum of ``rank ** -s`` over ranks from `first` to `last`."""
    if last < first:
        return 0.0
    if last - first < _EXACT:
        return float((np.arange(first, last + 1) ** -s).sum())
    head = float((np.arange(first, first + _EXACT) ** -s).sum())
    low = first + _EXACT
    area = math.log(last / low) if s == 1 else (last ** (1 - s) - low ** (1 - s)) / (1 - s)
    return head + area + (low**-s + last**-s) / 2


def shares_of(classes: list[MachineClass]) -> np.ndarray:
    """Of the asks, by class."""
    shares = np.array([one.share for one in classes], float)
    return shares / shares.sum()


def costs(demand: Demand, normal: np.ndarray) -> np.ndarray:
    """Seconds of a run, for normal random numbers; zeros where that is unknown."""
    return demand.cost_s * np.exp(demand.cost_spread * normal)


def asks(told: Measured, seed: int) -> Iterator[AskAt]:
    """Every ask, in order of time."""
    demand = told.demand
    if told.trace:
        places = {one.name: place for place, one in enumerate(told.classes)}
        for second, program, name in sorted(told.trace, key=lambda one: one[0]):
            yield AskAt(second, program, places[name], False, demand.cost_s)
        return
    random = np.random.default_rng([seed, 1])
    share = shares_of(told.classes).cumsum()
    popularity = (np.arange(1, demand.programs + 1) ** -demand.zipf).cumsum()
    popularity /= popularity[-1]
    own = np.random.default_rng([seed, zlib.crc32(b"programs")])
    near = own.random(demand.programs) < demand.near
    cost = costs(demand, own.standard_normal(demand.programs))
    now, gap = 0.0, 86400.0 / demand.asks_per_day
    while True:
        times = now + random.exponential(gap, _BLOCK).cumsum()
        which = np.searchsorted(popularity, random.random(_BLOCK))
        machines = np.minimum(np.searchsorted(share, random.random(_BLOCK)), len(share) - 1)
        for second, program, machine in zip(
            times.tolist(), which.tolist(), machines.tolist(), strict=True
        ):
            if second > demand.days * 86400:
                return
            yield AskAt(second, program, machine, bool(near[program]), float(cost[program]))
        now = float(times[-1])
