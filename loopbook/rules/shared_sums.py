"""Loops that only add up, shared among threads, each of which has sums of its own.

docc shares out loops whose iterations have nothing to do with each other. What all iterations add
to, ::

    for i: for j: s[j] += A[i, j] * r[i]

is left to one thread, or taken column by column. Here the rows are dealt out
(`loopbook.steps.expand_reduction`).
"""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Nest, Stride
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_nests, seeds
from loopbook.rules.threads import SINGLE

PORTIONS = 2
"""For each thread: one that is held up has less left to do, and there are more sums to add up."""

LEAST = 4
"""Iterations of a portion: its sums are written once and read once besides."""

USUAL = 1000
"""Iterations, where the number is not known."""


@on_nests(0.5)
def shared_sums(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Portions of the outermost loop for threads, with sums of their own; nothing where its
    iterations may be shared out as they are, or none of them adds anything up."""
    first = nest.loops[0]
    if not context.parallel or first.kind != "for" or not _adds_up(nest):
        return []
    size = context.trips.get(first.name, USUAL) // (PORTIONS * max(2, context.threads))
    if size < LEAST:
        return []
    tiles = f"{first.name}.tile"
    return [
        step("tile", first.name, size),
        step("expand_reduction", tiles),
        step("parallel", tiles),
        SINGLE,
    ]


@seeds(7)
def fitted_shared_sums(nest: Nest, context: TuningContext) -> list[Steps]:
    """The same, to begin with."""
    steps = shared_sums(nest, Random(0), context)
    return [steps] if steps else []


def _adds_up(nest: Nest) -> bool:
    """Whether something is read and written at places that the outermost loop does not move."""
    still = [
        access
        for access in nest.accesses
        if nest.containers[access.container].is_array and access.strides[:1] == (Stride.ZERO,)
    ]
    read = {access.container for access in still if not access.write}
    return any(access.write and access.container in read for access in still)
