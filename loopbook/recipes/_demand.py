"""How much a task is wanted: by how often, how lately and how expensively it was asked for, times
what the model expects to gain.

An ask is worth the seconds that a run of the nest costs, and half as much a half-life later. All
worths fade alike. So they are kept as what they were worth in 1970, as base-2 logarithms: their
order is the same at any time, and an index keeps it without ever being written anew.
"""

from __future__ import annotations

import math

HALF_LIFE_S = 7 * 86400.0

ASSUMED_COST_S = 1e-3
"""Of a run of a nest, where nobody knows."""

ASSUMED_GAIN = 2.0
"""Speedup to expect, where no model says."""

_LEAST_SAVED = 0.01
"""Share of its time that a nest is taken to gain at least: models err."""


def added(demand: float | None, count: int, cost_s: float, now: float) -> float:
    """The demand after `count` more asks.

    Args:
        demand: before; None where nobody had asked.
        cost_s: seconds of one run; 0 where that is not known.
        now: seconds since 1970.
    """
    fresh = math.log2(count * (cost_s or ASSUMED_COST_S)) + now / HALF_LIFE_S
    if demand is None:
        return fresh
    high, low = max(demand, fresh), min(demand, fresh)
    return high + math.log2(1.0 + 2.0 ** (low - high))


def priority(demand: float, gain: float, raised: float) -> float:
    """What tasks are ordered by, the greatest first.

    Args:
        gain: the speedup to expect; 0 where that is not known.
        raised: what somebody has added by hand.
    """
    saved = max(1.0 - 1.0 / (gain or ASSUMED_GAIN), _LEAST_SAVED)
    return demand + math.log2(saved) + raised


def worth(priority: float, now: float) -> float:
    """Seconds, of those asked for of late, that are expected to be saved."""
    return 2.0 ** min(priority - now / HALF_LIFE_S, 1000.0)
