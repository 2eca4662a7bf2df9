"""Parallel loops sunk in strips: recurrences of many rows or columns run side by side."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from loopbook.program.nest import Loop, Nest
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_nests, seeds

LENGTHS = (2, 1, 4, 8, 32, 64)
"""Of strips, in vectors; the usual one first."""


@on_nests(1.5)
def strips(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Sink the outermost loops, or those right below the outermost one."""
    loops = _candidates(nest, random.choice((0, 0, 1, 1, 1, 2)))
    vectors = random.choice((1, 2, 2, 4, 8, 32, 64))
    chosen = [loop for loop in loops if random.random() < 0.85] or loops
    return _sunk(chosen, vectors * context.lanes, context)


@seeds(3)
def fitted_strips(nest: Nest, context: TuningContext) -> list[Steps]:
    """For the seed population: short strips for strided rows, longer ones for contiguous columns.

    The longer the rows, the fewer of them should share the caches.
    """
    found = [
        _sunk(_recurrences(nest, _candidates(nest, depth)), vectors * context.lanes, context)
        for depth in (0, 1)
        for vectors in (1, 2, 8)
    ]
    return [steps for steps in found if steps]


def strips_at(depth: int) -> Callable[[Nest, Random, TuningContext], Steps]:
    """The rule that sinks the loops at one depth that hold recurrences."""

    def sunk(nest: Nest, random: Random, context: TuningContext) -> Steps:
        loops = _recurrences(nest, _candidates(nest, depth))
        return _sunk(loops, random.choice(LENGTHS) * context.lanes, context)

    return sunk


def _candidates(nest: Nest, depth: int) -> list[Loop]:
    return [loop for loop in nest.loops if loop.depth == depth and nest.children(loop.index)]


def _recurrences(nest: Nest, loops: list[Loop]) -> list[Loop]:
    """Those with serial loops inside: where these are not, an interchange does as well."""
    return [
        loop
        for loop in loops
        if any(
            other.kind != "map" and other is not loop and loop in nest.ancestry(other.index)
            for other in nest.loops
        )
    ]


def _sunk(loops: list[Loop], size: int, context: TuningContext) -> Steps:
    steps = [step("strip_and_sink", loop.name, size) for loop in loops]
    if context.parallel:
        steps += [step("parallel", f"{loop.name}.tile") for loop in loops]
    return steps
