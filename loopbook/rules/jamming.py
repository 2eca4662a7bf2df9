"""Several rows of a matrix in one pass over a vector."""

from __future__ import annotations

from random import Random

from loopbook.rules.bands import Band
from loopbook.rules.base import Steps, TuningContext, reorder, step, with_tiles
from loopbook.rules.sampled import on_bands

JAMMED = (4, 8, 8, 16)
"""Rows at a time: each spares the vector a load and a store, and each wants a stream of its own."""


@on_bands(1.0)
def jam(band: Band, random: Random, context: TuningContext) -> Steps:
    """Unroll the loop with the longest strides inside the one with the shortest.

    A product of a matrix and a vector reads the matrix once whatever is done; what can be spared is
    the traffic of the vectors (unroll-and-jam, Carr and Kennedy, ACM TOPLAS 16(6), 1994).
    """
    if len(band.loops) < 2:
        return []
    *rest, jammed, inner = band.by_locality()
    names = list(band.names)
    final = [*rest, f"{jammed}.tile", inner, jammed]
    return [
        step("tile", jammed, random.choice(JAMMED)),
        *reorder(with_tiles(names, [jammed]), final),
        step("peel", jammed),
        step("unroll", f"{jammed}*"),
    ]
