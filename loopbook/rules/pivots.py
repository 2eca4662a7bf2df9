"""Updates of a whole matrix by one of its own rows and columns, as of shortest paths.

In ``for k: for i: for j: A[i, j] = f(A[i, j], A[i, k], A[k, j])`` row and column k are read while
the matrix is written. Apart from row and column k themselves, which take one iteration each, all
elements are independent of each other: cut there, columns are vectors.
"""

from __future__ import annotations

from random import Random

from loopbook.program.nest import Nest, Stride
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_nests, seeds


@on_nests(0.5)
def pivot_cuts(nest: Nest, random: Random, context: TuningContext) -> Steps:
    """Cut rows and columns at the pivot; none where no matrix is updated by its own pivots."""
    return pivot_cuts_beside(nest) if len(nest.arrays) == 1 else []


def pivot_cuts_beside(nest: Nest) -> Steps:
    """`pivot_cuts`, whatever other arrays are stored into beside, as the way of a shortest path."""
    names = _pivots(nest)
    if not names:
        return []
    pivot, row, column = names
    steps = [step("cut", row, pivot), step("cut", f"{row}.rest", pivot, 1)]
    vectors: list[str] = []
    for first, second in ((column, f"{column}.rest2"), (f"{column}.rest.rest",) * 2):
        after = second if second != first else f"{first}.rest"
        steps += [step("cut", first, pivot), step("cut", after, pivot, 1)]
        vectors += [first, f"{after}.rest"]
    if nest.branches and nest.arrays[0].dtype.startswith(("int", "uint")):
        steps.append(step("if_convert", pivot))
    return steps + [
        step(op, name) for op in ("mark_parallel", "hoist", "vectorize") for name in vectors
    ]


@seeds(6)
def fitted_pivot_cuts(nest: Nest, context: TuningContext) -> list[Steps]:
    """For the seed population."""
    steps = pivot_cuts(nest, Random(0), context)
    return [steps] if steps else []


def _pivots(nest: Nest) -> tuple[str, ...]:
    """Pivot, row and column loop: three over the same range, one inside the other, that write some
    array and read another row of it."""
    loops = nest.loops
    perfect = len(loops) == 3 and [loop.parent for loop in loops] == [-1, 0, 1]
    if not perfect or not any(_reads_pivot(nest, one.index) for one in nest.arrays if one.written):
        return ()
    ranges = {
        (loop.init, loop.condition.replace(loop.indvar, "_").replace(" ", "")) for loop in loops
    }
    return tuple(loop.name for loop in loops) if len(ranges) == 1 else ()


def _reads_pivot(nest: Nest, array: int) -> bool:
    """Whether an array is read along with the outermost of three loops as well as written."""
    return any(
        one.container == array and not one.write and one.strides[0] != Stride.ZERO
        for one in nest.accesses
        if len(one.strides) == len(nest.loops)
    )
