"""Products of a matrix and vectors, which are read in the way that suits every processor.

What the book has of them was found where the matrix came from some cache or other, between what
differs by little more than noise. Nobody has to be asked how to read a matrix once.
"""

from __future__ import annotations

import math

from loopbook.client.sizes import Trips
from loopbook.client.thresholds import LEAST_MATRIX
from loopbook.program.nest import Nest
from loopbook.recipes.recipe import Recipe
from loopbook.rules.vectors import TOGETHER, rows_together
from loopbook.targets import TARGETS


def vector_product(nest: Nest, target: str, trips: Trips) -> Recipe | None:
    """The recipe that reads a matrix some rows at a time, for a nest that multiplies it by vectors,
    if it looks large enough; None else, and for several threads, which share the rows."""
    runs = [trips.get(loop.name, 0) for loop in nest.loops]
    if TARGETS[target].parallel or min(runs) < TOGETHER or math.prod(runs) < LEAST_MATRIX:
        return None
    steps = rows_together(nest)
    return Recipe(tuple(steps)) if steps else None
