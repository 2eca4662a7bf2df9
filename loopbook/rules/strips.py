"""Parallel loops sunk in strips: recurrences of many rows or columns run side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from loopbook.program.nest import Access, Loop, Nest, Stride
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


BESIDE = 16
"""Sums beside each other: two vectors of AVX-512, four of AVX2, which stay in registers. A filter
of 31 weights over 20,000 numbers takes 0.056 ms so, 0.040 with 64 and 0.32 one by one; 5 by 5
weights over 500 by 500 numbers take 0.45, 0.52 with 32 and 0.68 with 64 (AVX-512, 2026-11-26)."""


def sliding_sums(nest: Nest) -> Steps:
    """Sums over windows that slide along memory, or down columns of it, some of them beside each
    other; nothing where a nest is anything else.

    What is read lies beside what the next sum reads, and so does what is stored, so that sums are
    computed in vectors, and none has to be added up across one.
    """
    loops = nest.loops
    if loops[-1].kind == "map" or [loop.depth for loop in loops] != [*range(len(loops))]:
        return []
    arrays = [one for one in nest.accesses if nest.containers[one.container].is_array]
    row = next((loop for loop in reversed(loops[:-1]) if _is_row(loop, arrays)), None)
    written = [one.strides[len(loops) - 1 :] for one in arrays if one.write]
    if row is None or any(strides not in _ONCE for strides in written):
        return []
    slides = any(_slides(one, row, len(loops)) for one in arrays if not one.write)
    return [step("strip_and_sink", row.name, BESIDE)] if slides else []


def _is_row(loop: Loop, arrays: list[Access]) -> bool:
    """Whether what a loop stores lies side by side, and so does what it reads."""
    return all(
        len(one.strides) > loop.depth
        and one.strides[loop.depth] in ((Stride.UNIT,) if one.write else _ALONG)
        for one in arrays
    )


def _slides(read: Access, row: Loop, loops: int) -> bool:
    """Whether what is read lies beside what the next sum of a row reads, and is read again by other
    sums: of the row, or of those around it. A product of matrices is none."""
    if len(read.strides) < loops or read.strides[row.depth] != Stride.UNIT:
        return False
    last, around = read.strides[-1], read.strides[: row.depth]
    if last in (Stride.UNIT, Stride.CONSTANT):
        return True
    return last != Stride.ZERO and any(one != Stride.ZERO for one in around)


LONG = 32
"""Elements of a row that are enough for vectors of their own."""

_EXTREMES = ("cmath:fmax", "cmath:fmin")


def only_gather(nest: Nest, name: str, trips: Mapping[str, int]) -> bool:
    """Whether strips of a loop over rows would only gather what vectors along the rows load as it
    lies there: all that stands in it adds up, compares or goes through rows.

    Recurrences along rows are another matter; so are rows that are short.
    """
    loop = next((one for one in nest.loops if one.name == name), None)
    inner = [one for one in nest.loops if loop in nest.ancestry(one.index) and one is not loop]
    last = [one for one in inner if not nest.children(one.index)]
    if loop is None or not last:
        return False
    return all(_is_in_vectors(nest, loop, one, trips) for one in last)


def _is_in_vectors(nest: Nest, row: Loop, along: Loop, trips: Mapping[str, int]) -> bool:
    """Whether an innermost loop goes along memory in vectors, each iteration of the loop around it
    somewhere else."""
    inside = {block.index for block in nest.blocks if along in nest.ancestry(block.parent)}
    found = [
        access
        for access in nest.accesses
        if access.block in inside and nest.containers[access.container].is_array
    ]
    if trips.get(along.name, LONG) < LONG or not found:
        return False
    if along.kind not in ("map", "reduce"):
        compares = any(one.op in _EXTREMES for one in nest.operations if one.block in inside)
        chooses = ("loop", along.index) in {
            parent for parent, (kind, _) in nest.contains if kind == "branch"
        }
        if not (compares or chooses) or any(access.write for access in found):
            return False
    return all(one.strides[along.depth] in _ALONG for one in found) and any(
        one.strides[along.depth] == Stride.UNIT and one.strides[row.depth] not in _ALONG
        for one in found
    )


_ALONG = (Stride.ZERO, Stride.UNIT)

_ONCE = ((), (Stride.ZERO,))
"""What is stored behind the innermost loop, or at the same place in all of its iterations."""


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
