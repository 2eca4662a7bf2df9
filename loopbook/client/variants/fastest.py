"""Several libraries of one function, of which each call gets the fastest.

Threads have to be woken and waited for, and code for one thread may keep in its caches what threads
hand to each other through memory. Which of the two is faster depends on sizes and on the machine,
so the first call with arrays of new sizes is made with each.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from loopbook.client.variants.rival import MOST_BYTES
from loopbook.sdfg.caller import Caller

ROUNDS = 10
"""Calls of each at most; the first of them may have to start its threads."""

ENOUGH = 0.05
"""Seconds; when each has had so much of them, none is called again."""

LONGEST = 3.0
"""Seconds of a call with the first library, beyond which that is taken without a comparison."""

MOST_SIZES = 1024
"""Sizes that it is remembered for."""


class Fastest:
    """The fastest of some callers of the same function.

    Args:
        callers: the first one is taken where nothing is compared.
        written: positions of the arguments that they may write.
    """

    def __init__(self, callers: Sequence[Caller], written: Collection[int]) -> None:
        self.first = callers[0]
        self._callers = [*callers]
        self._written = frozenset(written)
        self._known: dict[tuple[int, ...], Caller] = {}

    def __call__(self, args: Sequence[Any]) -> Any:
        """Run it on arrays in C order and scalars of the types that it was built for."""
        if len(self._callers) == 1:
            return self.first(*args)
        found = self._known.get(self.first.sizes(args))
        return self._compared(args) if found is None else found(*args)

    def of(self, args: Sequence[Any]) -> Caller:
        """The one for arrays of such sizes."""
        return self._known.get(self.first.sizes(args), self.first)

    def _compared(self, args: Sequence[Any]) -> Any:
        """Make a call with the first one, and others on copies to find out which one is taken."""
        if len(self._known) >= MOST_SIZES:
            self._known.clear()
        sizes = self.first.sizes(args)
        self._known[sizes] = self.first
        before = self._copies(args)
        if sum(one.nbytes for one in before if isinstance(one, np.ndarray)) > MOST_BYTES:
            return self.first(*args)
        answer, taken = _timed(self.first, args)
        if taken > LONGEST:
            return answer
        times = {caller: [] for caller in self._callers}
        times[self.first].append(taken)
        for caller in (*self._callers[1:], *self._callers * (ROUNDS - 1)):
            if sum(times[caller]) < ENOUGH:
                times[caller].append(_timed(caller, self._copies(before))[1])
        self._known[sizes] = min(times, key=lambda caller: min(times[caller]))
        return answer

    def _copies(self, args: Sequence[Any]) -> list[Any]:
        """Arguments that may be written without changing these."""
        return [
            value.copy() if place in self._written and isinstance(value, np.ndarray) else value
            for place, value in enumerate(args)
        ]


def _timed(caller: Caller, args: Sequence[Any]) -> tuple[Any, float]:
    begun = time.perf_counter()
    answer = caller(*args)
    return answer, time.perf_counter() - begun
