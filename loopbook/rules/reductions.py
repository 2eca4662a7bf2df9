"""Sums that stay in registers while a loop runs."""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Loop, Nest, Stride
from loopbook.rules.bands import Band
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_bands


@on_bands(1.5)
def accumulate(band: Band, random: Random, context: TuningContext) -> Steps:
    """Keep what the innermost loop adds to in a local buffer: clang then vectorises the sum.

    In memory each addition waits for the one before to be stored, and clang cannot tell whether the
    store changes what is read next.
    """
    inner = band.loops[-1]
    steps = [step("serialize", inner.name)] if inner.kind == "reduce" else []
    return steps + [step("stage", inner.name, name, "out") for name in held(band.nest, inner)]


def held(nest: Nest, loop: Loop) -> list[str]:
    """Arrays of which every iteration of `loop` reads and writes the same element."""
    reads: set[tuple[int, tuple[str, ...]]] = set()
    writes: set[tuple[int, tuple[str, ...]]] = set()
    for access in nest.accesses:
        if (
            nest.blocks[access.block].parent == loop.index
            and nest.containers[access.container].is_array
            and access.strides[loop.depth] == Stride.ZERO
        ):
            (writes if access.write else reads).add((access.container, access.subset))
    return sorted({nest.containers[number].name for number, _ in reads & writes})
