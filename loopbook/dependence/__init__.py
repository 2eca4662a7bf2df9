"""Which instances of statements depend on each other, and whether a new order keeps that: isl.

Loops and statements are whatever has the attributes in `loopbook.dependence.model`: bounds and
indices are forms with parameters for sizes, for their products, and for whatever else does not
change. An index that is not known may be any. What is too large a question is answered by "no".

::

    model       what is asked about                   sets       are there such integers?
    body        loops of the program tree as that     order      is a new order kept to?
    updates     sums and products, in any order       places     do accesses meet?
    scalars     which carry values, and how far       distances  how far apart?
    arrays      the same for whole loops of arrays    elements   is what some touch touched?
    pieces      statements, by loops that take steps  instances  two of them: order, same element
    subscripts  flattened arrays taken apart          apart      a statement's independent parts
    linear      forms from expressions, and back      missed     dependences that docc overlooks
    engine      isl itself: a context a thread, limits
    last        which writes are the last ones?
"""

from loopbook.dependence.distances import Distances, Meeting
from loopbook.dependence.elements import covered
from loopbook.dependence.engine import load
from loopbook.dependence.last import stored_anew, written_first
from loopbook.dependence.model import Linear, Tile, domain
from loopbook.dependence.order import Moved, check_order
from loopbook.dependence.places import (
    carries_nothing,
    keep_apart,
    never_meet,
    read_before_written,
    suspects,
)
from loopbook.dependence.sets import adds_up, empty, holds, same_points

__all__ = [
    "Distances",
    "Linear",
    "Meeting",
    "Moved",
    "Tile",
    "adds_up",
    "carries_nothing",
    "check_order",
    "covered",
    "domain",
    "empty",
    "holds",
    "keep_apart",
    "load",
    "never_meet",
    "read_before_written",
    "same_points",
    "stored_anew",
    "suspects",
    "written_first",
]
