"""Which instances of statements depend on each other, and whether a new order keeps that: isl.

Loops and statements are whatever has the attributes in `loopbook.dependence.model`.
"""

from loopbook.dependence.distances import Distances, Meeting
from loopbook.dependence.model import Linear, Tile, domain
from loopbook.dependence.order import Moved, check_order
from loopbook.dependence.places import (
    carries_nothing,
    keep_apart,
    never_meet,
    read_before_written,
    suspects,
)
from loopbook.dependence.sets import empty, holds, same_points

__all__ = [
    "Distances",
    "Linear",
    "Meeting",
    "Moved",
    "Tile",
    "carries_nothing",
    "check_order",
    "domain",
    "empty",
    "holds",
    "keep_apart",
    "never_meet",
    "read_before_written",
    "same_points",
    "suspects",
]
