"""Maths functions beside what iterations hand on to each other, in vectors of their own."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from loopbook.program.nest import Nest
from loopbook.rules.bands import bands
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_nests
from loopbook.steps.strip_distribute import COSTLY

STRIP = 256
"""Iterations at a time: 2 KiB for each number that is handed on. Strips of 256 and of 1,024 of half
a million iterations take the same time, and rows of 100 gain by 64 what they lose in longer ones
(AVX-512, 2026-11-28)."""


def costly_apart(nest: Nest) -> Iterator[tuple[Steps, ...]]:
    """For each loop that hands something on and holds a costly function: what may be tried, the
    best first. Where the loop around it goes along memory instead, that one is made the innermost.
    """
    costly = {
        nest.blocks[operation.block].parent
        for operation in nest.operations
        if operation.op.removeprefix("cmath:") in COSTLY
    }
    for band in bands(nest):
        loop = band.loops[-1]
        if loop.index not in costly or nest.children(loop.index):
            continue
        here = (step("strip_distribute", loop.name, STRIP),)
        if len(band.loops) < 2 or band.innermost_cost(band.loops[-2]) >= band.innermost_cost(loop):
            yield ([*here],)
            continue
        outer = band.loops[-2]
        turned = [step("interchange", outer.name, loop.name)]
        yield [*turned, step("strip_distribute", outer.name, STRIP)], [*here]


@on_nests(0.3)
def apart(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Take costly functions apart from what is carried."""
    return [one for ways in costly_apart(nest) for one in random.choice(ways)]
