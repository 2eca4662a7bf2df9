"""Rows that are short, and follow each other in memory, as one row.

Vectors want long rows: of 28 elements a few are always left over, and each row begins anew. The
trailing axes of images are such::

    for i < 28: for j < 28: s += x[c, i, j]        for k < 28 * 28: s += x[c, 0, k]

Normalising a batch of 8 by 16 by 28 by 28 numbers takes 0.035 ms so, and 0.108 row by row
(AVX-512, 2026-11-27).
"""

from __future__ import annotations

from collections.abc import Mapping

from loopbook.errors import IllegalStepError
from loopbook.program.nest import Nest
from loopbook.program.tree import Loop
from loopbook.program.walk import band, preorder
from loopbook.rules.base import Steps, step
from loopbook.steps.arguments import MAX_COLLAPSE
from loopbook.steps.collapse import ends_of, follow_each_other

SHORT = 64
"""Elements; longer rows have vectors enough. Chosen."""


def short_rows(nest: Nest, trips: Mapping[str, int]) -> Steps:
    """What makes one loop of such rows, wherever they are innermost."""
    trees = {one.id: one for one in preorder(nest.loop) if isinstance(one, Loop)}
    steps: Steps = []
    for last in nest.loops:
        if nest.children(last.index) or trips.get(last.name, SHORT + 1) > SHORT:
            continue
        around = nest.ancestry(last.index)[-MAX_COLLAPSE:-1]
        for first in around:
            tree = trees.get(first.element_id)
            if tree is not None and (count := _together(tree, last.element_id)):
                steps.append(step("collapse", first.name, count))
                break
    return steps


def _together(first: Loop, last: int) -> int:
    """How many loops stand in each other down to the one with a number, if their iterations follow
    each other in memory; 0 if they do not."""
    loops = band(first)
    count = next((place for place, loop in enumerate(loops, 1) if loop.id == last), 0)
    try:
        ends = ends_of(loops[:count])
    except IllegalStepError:
        return 0
    return count if count and follow_each_other(loops[:count], ends) else 0
