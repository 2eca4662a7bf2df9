"""Products that are handed to BLAS, as NumPy does with them.

A recipe that calls a library is worth what the library of the machine is worth, so no book of
another machine says when it pays. Python calls a BLAS for ``A @ B``: what is compiled has to reach
that one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loopbook.client.sizes import Trips
from loopbook.client.thresholds import LEAST_PARTS, LEAST_PRODUCT, SURE_PARTS
from loopbook.program.nest import Loop, Nest
from loopbook.recipes.recipe import Recipe
from loopbook.rules import TuningContext
from loopbook.rules.library import library_calls
from loopbook.toolchain.blas import has_tuned_blas, is_narrow

VARIABLE = "LOOPBOOK_LIBRARIES"
"""Products stay loops where it is 0."""


@dataclass(frozen=True)
class Call:
    """Products of a nest as calls.

    Attributes:
        sure: it is known to gain more than what the book has of such a nest. No call of a BLAS with
            narrow vectors is.
    """

    recipe: Recipe
    sure: bool


def product_calls(nest: Nest, target: str, trips: Trips) -> Iterator[Call]:
    """Recipes that hand products in a nest to BLAS, the best first, if they look large enough, and
    there is a BLAS that is fast and wanted. Whether they are legal, the step itself finds out."""
    # Of a batch, each product is a call of its own.
    last = (loop for loop in nest.loops if not nest.children(loop.index))
    runs = max(_runs(nest.ancestry(loop.index)[-3:], trips) for loop in last)
    if runs < LEAST_PRODUCT or os.environ.get(VARIABLE) == "0" or not has_tuned_blas():
        return
    for steps in library_calls(nest, TuningContext(target, 1, trips=trips, libraries=True)):
        whole = len(steps) == 1
        if whole or runs >= LEAST_PARTS:
            yield Call(Recipe(tuple(steps)), (whole or runs >= SURE_PARTS) and not is_narrow())


def has_micro_kernel(recipe: Recipe) -> bool:
    """Whether tiles of a product stay in registers and run in full, as in a BLAS: with vectors as
    wide as the processor's, that is faster than calling one whose vectors are half as wide (0.5 to
    0.75 of its time from 4 rows on, AMD EPYC with Haswell's kernels, 2026-11-27)."""
    return any(step.op == "pad" for step in recipe)


def _runs(loops: Sequence[Loop], trips: Trips) -> int:
    """How often the innermost of three loops runs in all; 0 if there are fewer."""
    return math.prod(trips.get(loop.name, 0) for loop in loops) if len(loops) == 3 else 0
