"""What to expect of a record at the size at hand.

A recipe that wins at one size may lose at another: what tiles for a cache is only overhead for data
that fit into the one before. So a record tells how often the loops of its nest ran at each size
measured, and the nearest of these sizes is the one that counts. Near means by ratio: the distance
is taken between logarithms. Sizes of the very nest are compared loop by loop, those of a neighbour
by all iterations together, since its loops may be others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from loopbook.program.nest import Nest
from loopbook.program.shape import Shape
from loopbook.program.trips import iterations
from loopbook.recipes.record import Measurement, Record

ABOUT = 1.5
"""Sizes are about the same that are less apart than this: three loops that run 2.4 times as often,
say. PolyBench's presets are farther apart. Chosen."""

Trips = Mapping[str, int]
"""Loop name to how often it runs, as `loopbook.program.trips.trip_counts` tells; loops of unknown
bounds are left out."""


def exact_speedup(record: Record, trips: Trips) -> float:
    """The speedup to expect of a record for its very nest.

    Args:
        trips: of that nest at the size at hand.

    Returns:
        See `loopbook.recipes.record.Record.speedup_at`.
    """
    return record.speedup_at(lambda measured: _apart_by_loop(measured, trips))


def measured_here(record: Record, trips: Trips) -> Measurement | None:
    """The measurement at the size nearest to the one at hand, of a record for its very nest; None
    where that cannot be told."""
    return record.measurement_at(lambda measured: _apart_by_loop(measured, trips))


def about_measured(record: Record, trips: Trips) -> bool:
    """Whether a record for its very nest was measured at about the size at hand, so that its times
    there say what they would be here; also where that cannot be told."""
    apart = [_apart_by_loop(one, trips) for one in record.measurements]
    known = [one for one in apart if one is not None]
    return len(known) < len(apart) or min(known, default=math.inf) < ABOUT


def _apart_by_loop(measured: Measurement, trips: Trips) -> float | None:
    if not measured.trips or not trips.keys() >= measured.trips.keys():
        return None
    return math.hypot(*(_apart(measured.trips[name], trips[name]) for name in measured.trips))


def near_speedup(record: Record, source: Shape, nest: Nest, trips: Trips) -> float:
    """The speedup that a record had at a size like that of another nest.

    Args:
        source: the record's nest.
        trips: of `nest` at the size at hand.
    """
    here = iterations(nest, trips)

    def apart(measured: Measurement) -> float | None:
        if here is None or (there := iterations(source, measured.trips)) is None:
            return None
        return _apart(there, here)

    return record.speedup_at(apart)


def _apart(one: int, other: int) -> float:
    return abs(math.log(max(one, 1)) - math.log(max(other, 1)))
