"""Several rows of a matrix in one pass over a vector."""

from __future__ import annotations

from random import Random

from loopbook.moves.base import Steps, Surroundings, reorder, step, with_tiles
from loopbook.moves.chains import Chain

JAMMED = (4, 8, 8, 16)
"""Rows at a time: each spares the vector a load and a store, and each wants a stream of its own."""


def jam(chain: Chain, random: Random, around: Surroundings) -> Steps:
    """Unroll the loop with the longest strides inside the one with the shortest.

    A product of a matrix and a vector reads the matrix once whatever is done; what can be spared is
    the traffic of the vectors (unroll-and-jam, Carr and Kennedy, ACM TOPLAS 16(6), 1994).
    """
    if len(chain.loops) < 2:
        return []
    *rest, jammed, inner = chain.by_locality()
    names = list(chain.names)
    final = [*rest, f"{jammed}.tile", inner, jammed]
    return [
        step("tile", jammed, random.choice(JAMMED)),
        *reorder(with_tiles(names, [jammed]), final),
        step("peel", jammed),
        step("unroll", f"{jammed}*"),
    ]
