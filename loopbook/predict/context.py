"""What sort of nest it is, whatever is done to it: the class of algorithm tells what may pay."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from loopbook.program.nest import Bound, Nest
from loopbook.rules.schedule_rule import NAMES

CONTEXT = (
    "loops",
    "depth",
    "innermost loops",
    "serial outside",
    "serial share",
    "triangular",
    "arrays",
    "in place",
    "strided",
    *(f"fits {name}" for name in NAMES),
)
"""Counts are base-2 logarithms, shares go from 0 to 1. ``serial outside``: how many loops, from the
outermost one inwards, run in order. ``in place``: the share of arrays written that are read, too.
``fits …``: 1 where that rule applies."""


def context(nest: Nest, rules: Collection[str]) -> np.ndarray:
    """One number for each name in `CONTEXT`, float32.

    Args:
        rules: names of the rules that apply, see `loopbook.rules.schedule_rule`.
    """
    loops = nest.loops
    parents = {loop.parent for loop in loops}
    serial = [loop.kind not in ("map", "reduce") for loop in loops]
    outside = 0
    while outside < len(loops) and serial[outside] and loops[outside].depth == outside:
        outside += 1
    written = {array.index for array in nest.arrays if array.written}
    read = {a.container for a in nest.accesses if not a.write}
    last = [a.strides[-1] for a in nest.accesses if a.strides]
    values = [
        math.log2(len(loops)),
        1.0 + max(loop.depth for loop in loops),
        math.log2(sum(loop.index not in parents for loop in loops)),
        float(outside),
        sum(serial) / len(loops),
        sum(loop.bound is Bound.ENCLOSING for loop in loops) / len(loops),
        math.log2(max(1, len(nest.arrays))),
        len(written & read) / max(1, len(written)),
        sum(stride > 1 for stride in last) / max(1, len(last)),
    ]
    return np.array([*values, *(float(name in rules) for name in NAMES)], np.float32)
