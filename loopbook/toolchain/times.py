"""What runs of compiled programs took, and how often and how long to measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MISSED = 0.0626
"""How often a median may lie outside its interval: just more than five values can promise."""


@dataclass(frozen=True)
class Times:
    """What one library took, run by run.

    Attributes:
        seconds: whole program, one entry for each run.
        nests: nest position to seconds, one entry for each run (with timers only).
    """

    seconds: list[float] = field(default_factory=list)
    nests: dict[int, list[float]] = field(default_factory=dict)

    def add(self, seconds: float, owners: Mapping[int, int], elements: Mapping[int, float]) -> None:
        """Add one run: its time, and that of each outermost loop by element id."""
        self.seconds.append(seconds)
        sums: dict[int, float] = {}
        for element, part in elements.items():
            if element in owners:
                sums[owners[element]] = sums.get(owners[element], 0.0) + part
        for position, total in sums.items():
            self.nests.setdefault(position, []).append(total)

    def copy(self) -> Times:
        """Times of their own, that can grow apart."""
        return self.scaled(1.0)

    def extend(self, others: Times) -> None:
        """Add the runs of `others`."""
        self.seconds.extend(others.seconds)
        for position, runs in others.nests.items():
            self.nests.setdefault(position, []).extend(runs)

    def scaled(self, factor: float) -> Times:
        """The times of a machine that is `factor` times slower."""
        return Times(
            [seconds * factor for seconds in self.seconds],
            {position: [s * factor for s in runs] for position, runs in self.nests.items()},
        )


@dataclass(frozen=True)
class Schedule:
    """How often and how long to measure.

    Attributes:
        repeats: rounds at most; in each, every library runs once.
        seconds: a library that has run for so long is not run again.
        at_least: runs of each library, however long they take.
        give_up: stop as soon as the last library takes more than this many times the first one's
            fastest run; 0 never stops early.
        width: stop as soon as the confidence interval of the last library's speedup over the first
            one is narrower than this share of it; 0 never does.
    """

    repeats: int = 7
    seconds: float = 2.0
    at_least: int = 2
    give_up: float = 0.0
    width: float = 0.0

    def enough(self, times: Sequence[Times], lost: float) -> bool:
        """Whether what has been measured tells all that there is to know.

        Args:
            lost: a speedup that the last library must have a chance to reach.
        """
        first, last = times[0].seconds, times[-1].seconds
        if self.give_up and min(last) > self.give_up * min(first):
            return True
        low, high = median_interval([a / b for a, b in zip(first, last, strict=False)])
        return high < lost or high - low < self.width * low


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """An interval that holds the median with a probability of about 94 % or more, whatever the
    distribution (order statistics; David and Nagaraja 2003, section 7.1). Infinite for fewer than
    five values.
    """
    ordered, outside = sorted(values), 0
    tail = total = 0.5 ** len(ordered)
    if 2 * tail > MISSED:
        return 0.0, math.inf
    while 2 * (tail + (total := total * (len(ordered) - outside) / (outside + 1))) <= MISSED:
        tail += total
        outside += 1
    return ordered[outside], ordered[-1 - outside]
