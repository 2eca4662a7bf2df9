"""Rows that are short, and follow each other in memory, as one row.

Vectors want long rows: of 28 elements a few are always left over, and each row begins anew. The
trailing axes of images are such::

    for i < 28: for j < 28: s += x[c, i, j]        for k < 28 * 28: s += x[c, 0, k]

Normalising a batch of 8 by 16 by 28 by 28 numbers takes 0.035 ms so, and 0.108 row by row
(AVX-512, 2026-11-27).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from loopbook.errors import IllegalStepError
from loopbook.program.expr import Polynomial
from loopbook.program.nest import Nest
from loopbook.program.tree import Loop
from loopbook.program.walk import band, preorder
from loopbook.rules.base import Steps, step
from loopbook.steps.arguments import MAX_COLLAPSE
from loopbook.steps.collapse import ends_of, follow_each_other

SHORT = 64
"""Elements; longer rows have vectors enough. Chosen."""


VERY_SHORT = 16
"""Elements; of such rows no recipe that keeps them makes anything. Chosen."""

MOST_SUMS = 1 << 15
"""Elements; so many sums stay in a cache near by while rows are added to them. Chosen."""


def one_row(nest: Nest, trips: Mapping[str, int]) -> Steps:
    """What makes one loop of a whole nest whose rows are very short, if it is nothing else."""
    steps = short_rows(nest, trips)
    whole = [step("collapse", nest.loops[0].name, len(nest.loops))]
    is_short = trips.get(nest.loops[-1].name, VERY_SHORT + 1) <= VERY_SHORT
    return steps if is_short and steps == whole else []


def rows_added(nest: Nest, trips: Mapping[str, int]) -> Steps:
    """What adds up short rows that follow each other, ::

        for i: for c < 3: for k: s[i, c] += x[k, i, c]

    a long one at a time, where that is how memory is gone through::

        for k: for j < 3 * n: s[0, j] += x[k, 0, j]

    Of 300 by 400 by 3 numbers, 400 by 3 sums take 0.035 ms so (AVX-512, 2026-11-27).
    """
    *rows, last = nest.loops
    top = next((one for one in preorder(nest.loop) if isinstance(one, Loop)), None)
    if top is None or len(rows) < 2 or trips.get(rows[-1].name, SHORT + 1) > SHORT:
        return []
    if math.prod(trips.get(loop.name, MOST_SUMS + 1) for loop in rows) > MOST_SUMS:
        return []
    loops = band(top)
    if [loop.id for loop in loops] != [loop.element_id for loop in nest.loops]:
        return []
    ends = _ends(loops)
    if not ends or not _together(top, rows[-1].element_id) or follow_each_other(loops, ends):
        return []
    outwards = [step("interchange", loop.name, last.name) for loop in reversed(rows)]
    return [*outwards, step("collapse", rows[0].name, len(rows))]


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
    ends = _ends(loops[:count])
    return count if count and ends and follow_each_other(loops[:count], ends) else 0


def _ends(loops: Sequence[Loop]) -> Sequence[Polynomial]:
    """Where loops end; nothing if they cannot be collapsed."""
    try:
        return ends_of(loops)
    except IllegalStepError:
        return ()
