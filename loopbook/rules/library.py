"""A whole product as one call of a library that others have tuned for years."""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Nest
from loopbook.rules.bands import bands
from loopbook.rules.base import Steps, TuningContext, step


def library_call(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Hand perfectly nested loops to BLAS of which some sum products up.

    Nothing where `context` wants no libraries. Whether the nest is exactly a product, the step
    itself finds out.
    """
    if not context.libraries:
        return []
    first, *others = bands(nest)
    still = [loop for loop in first.loops if not first.moves_output(loop)]
    multiplied = any(operation.op in ("fp_mul", "fp_fma") for operation in nest.operations)
    if others or len(first.loops) < 3 or not still or not multiplied:
        return []
    return [step("library", first.names[0])]
