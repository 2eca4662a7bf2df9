"""How often the loops of a transformed nest run, where only the trips before are known.

These tell the values of what the bounds mention, and these values how often the other loops run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopbook.errors import SdfgError
from loopbook.program import tree
from loopbook.program.expr import Polynomial, mentioned
from loopbook.program.nest import Bound, Loop, Nest
from loopbook.program.trips import value

UNKNOWN_TRIP = 512
"""Iterations of a loop of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How much a loop runs.

    Attributes:
        slant: what both its ends mention.
        size, covers, ragged: as of `loopbook.predict.loops.Node`.
    """

    trip: float
    size: int
    covers: float
    ragged: bool
    slant: set[str]


class Amounts:
    """What is known of a nest's amounts before any step is applied.

    Args:
        trips: loop name to how often it runs, where that is known.

    Attributes:
        values: of sizes and, in the middle of their ranges, of the loops' variables.
        beyond: a number that no loop of the nest has.
    """

    def __init__(self, nest: Nest, trips: Mapping[str, int]) -> None:
        self.values: dict[str, float] = {}
        self.beyond = len(nest.loops)
        self._trips: list[float] = []
        self._headers: dict[int, tuple[str, str, str]] = {}
        self._steps = [abs(loop.step or 1) for loop in nest.loops]
        for loop in nest.loops:
            parent = self._trips[loop.parent] if loop.parent >= 0 else None
            trip = _trip(loop, parent, trips)
            self._trips.append(trip)
            if loop.kind != "while":
                self._headers[loop.element_id] = loop.init, loop.condition, loop.update
                self._learn(loop, trip)

    def trip_of(self, base: int) -> float:
        """How often a loop of the nest runs."""
        return self._trips[base] if base < self.beyond else float(UNKNOWN_TRIP)

    def count(self, loop: tree.Loop, values: dict[str, float], base: int, tile: float) -> Amount:
        """How much a loop runs; its variable gets its value among `values`.

        Args:
            tile: what an iteration of the loop around it that walks along its base covers; 0 if
                there is none.
        """
        bounds = loop.bounds
        width, most = abs(bounds.step or 1), bounds.width()
        low = _greatest(bounds.lows, values)
        highs = [end for high in bounds.highs if (end := _value(high, values)) is not None]
        if (loop.init.text, loop.condition.text, loop.update.text) == self._headers.get(
            -1 if loop.id is None else loop.id
        ):
            extent = self._trips[base] * width
        elif low is not None and highs:
            extent = min(highs) - low if most is None else min(min(highs) - low, most)
        elif most is not None:
            extent = float(most)
        else:
            extent = self.trip_of(base) * (self._steps[base] if base < self.beyond else 1)
        if tile:
            extent = min(extent, tile)
        # A last tile that is not whole counts by what it holds.
        extent = max(extent, 0.0)
        middle = math.copysign(max(0.0, extent - width) / 2, bounds.step or 1)
        values[loop.variable] = (low or 0.0) + middle
        size = max(0, most) if most is not None and tile else 0
        return Amount(
            max(1.0, extent / width),
            size,
            max(1.0, min(extent, width)),
            size > 0 and len(bounds.highs) * len(bounds.lows) > 1,
            _mentioned(bounds.lows) & _mentioned(bounds.highs),
        )

    def _learn(self, loop: Loop, trip: float) -> None:
        """What a loop's trips say of what its bounds mention."""
        if not loop.indvar:
            return
        try:
            bounds = loop.bounds
        except SdfgError:
            return
        step = bounds.step or 1
        low = _greatest(bounds.lows, self.values)
        if len(bounds.highs) == 1:
            (high,) = bounds.highs
            if low is not None:
                self._solve(high, low + trip * step)
            elif len(bounds.lows) == 1 and (end := _value(high, self.values)) is not None:
                self._solve(bounds.lows[0], end - trip * step)
                low = _greatest(bounds.lows, self.values)
        self.values[loop.indvar] = (low or 0.0) + (trip - 1) * step / 2

    def _solve(self, polynomial: Polynomial, wanted: float) -> None:
        """Give the only unknown symbol of a polynomial the value that makes it `wanted`."""
        missing = _mentioned([polynomial]) - self.values.keys()
        if len(missing) != 1:
            return
        (symbol,) = missing
        # It is linear in the symbol, or is left alone.
        none, one = (_value(polynomial, {**self.values, symbol: at}) for at in (0.0, 1.0))
        two = _value(polynomial, {**self.values, symbol: 2.0})
        if none is None or one is None or two is None:
            return
        if one != none and two - one == one - none:
            self.values[symbol] = (wanted - none) / (one - none)


def _value(polynomial: Polynomial, values: Mapping[str, float]) -> float | None:
    """A polynomial's value, if all in it is known."""
    try:
        return value(polynomial, values)
    except (KeyError, ArithmeticError, SdfgError):
        return None


def _greatest(lows: Sequence[Polynomial], values: Mapping[str, float]) -> float | None:
    """The greatest of some that are known."""
    known = [found for low in lows if (found := _value(low, values)) is not None]
    return max(known, default=None)


def _mentioned(polynomials: Sequence[Polynomial]) -> set[str]:
    return {name for polynomial in polynomials for name in mentioned(polynomial)}


def _trip(loop: Loop, parent: float | None, trips: Mapping[str, int]) -> float:
    known = trips.get(loop.name) or loop.trip
    if known is not None and known > 0:
        return float(known)
    if loop.bound == Bound.ENCLOSING and parent is not None:
        return max(1.0, parent / 2)
    return float(UNKNOWN_TRIP)
