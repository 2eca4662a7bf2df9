"""Sizes to measure an SDFG at, of which nobody has said what they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopbook.program.nest import Nest
from loopbook.program.trips import trip_counts

USUAL = 300
"""What sizes are where nobody tells how often loops run."""

MOST = 2000
"""No size is larger."""

ROUNDS = 4


def sizes_for(nest: Nest, names: Sequence[str], trips: Mapping[str, int]) -> dict[str, int]:
    """Values of size symbols at which a nest's loops run as often as wanted, as nearly as may be.

    Args:
        names: of the symbols. One that no loop's trips follow, a stride, say, gets the most trips
            of any loop.
        trips: loop name to how often it shall run; without any, all sizes are `USUAL`.
    """
    most = min(max(trips.values(), default=USUAL), MOST)
    sizes = dict.fromkeys(names, max(most, 2))
    for _ in range(ROUNDS if trips else 0):
        for name in names:
            now = trip_counts(nest, sizes)
            more = trip_counts(nest, {**sizes, name: sizes[name] + 1})
            follow = [one for one in trips if one in now and more.get(one) == now[one] + 1]
            if follow:
                size = sizes[name] + trips[follow[0]] - now[follow[0]]
                sizes[name] = min(max(size, 2), MOST)
    return sizes
