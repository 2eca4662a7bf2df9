"""Parallel loops sunk in strips: recurrences of many rows or columns run side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from loopbook.dependence.scalars import upward_exposed
from loopbook.dependence.varying import varying
from loopbook.program.accesses import accesses, written
from loopbook.program.nest import Access, Loop, Nest, Stride
from loopbook.program.strides import stride
from loopbook.program.tree import Loop as TreeLoop
from loopbook.program.walk import preorder
from loopbook.rules.base import Steps, TuningContext, step
from loopbook.rules.sampled import on_nests, seeds
from loopbook.steps import Step

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


BESIDE = 32
"""Sums beside each other: four vectors of AVX-512, eight of AVX2, which stay in registers. 16 are
written out by a compiler before it looks for vectors, of which it may find none then: sums of 10
rows of 64 elements that indices choose take 245 us with 16, 55 with 32; a convolution of 16 with 32
channels 592 and 475; a filter of 31 weights over 20,000 numbers 56, with 64 it takes 40, one by one
320; 5 by 5 weights over 500 by 500 numbers 450 and 520, with 64 680 (AVX-512, 2026-11-27)."""

FEWEST = 16
"""That pay: of rows that have no more."""


def sums_beside(nest: Nest, trips: Mapping[str, int]) -> Steps:
    """Sums and recurrences of which some are computed beside each other, in vectors, where one
    alone would not be: over windows that slide along memory, down columns of it, or step by step.

    ::

        for i: s = 0; for k: s = s * x[i] + c[k]; y[i] = s
        for i: for j: s = 0; for k: s += a[i, k] * b[k, j]; c[i, j] = s    # j

    What a sum reads lies beside what the next one reads, or is the same, and so does what is
    stored, so that none has to be added up across a vector. What is read once, when it is ready,
    may lie anywhere.
    """
    rows = (row_around(nest, last) for last in nest.loops if adds_up(nest, last))
    found = dict.fromkeys(row for row in rows if row and trips.get(row.name, BESIDE) >= FEWEST)
    return [beside(row, trips) for row in found]


def adds_up(nest: Nest, loop: Loop) -> bool:
    """Whether a loop is an innermost one whose iterations depend on each other."""
    return loop.kind != "map" and not nest.children(loop.index)


def beside(row: Loop, trips: Mapping[str, int]) -> Step:
    """Some iterations of a loop beside each other."""
    size = BESIDE if trips.get(row.name, BESIDE) >= BESIDE else FEWEST
    return step("strip_and_sink", row.name, size)


def row_around(nest: Nest, last: Loop) -> Loop | None:
    """The loop around an innermost one over what lies beside each other, if that pays."""
    for row in reversed(nest.ancestry(last.index)[:-1]):
        if len(nest.children(row.index)) != 1:
            return None
        inside = [one for one in nest.accesses if row in _around(nest, one)]
        arrays = [one for one in inside if nest.containers[one.container].is_array]
        stored = [one.strides[row.depth + 1 :] for one in arrays if one.write]
        if any(set(strides) - {Stride.ZERO} for strides in stored):
            return None
        in_all = [one for one in arrays if one.write or last in _around(nest, one)]
        strides = {one: _stride(nest, one, row) for one in in_all}
        if stored and is_row(strides):
            reads = [one for one in arrays if not one.write and len(one.strides) > last.depth]
            in_memory = any(stored)
            step_by_step = last.kind == "for" and not (in_memory or _compares(nest, last))
            pays = step_by_step or any(_pays(one, strides[one], last, in_memory) for one in reads)
            return row if pays else None
    return None


def _around(nest: Nest, access: Access) -> tuple[Loop, ...]:
    """The loops that an access stands in."""
    return nest.ancestry(nest.blocks[access.block].parent)


def _stride(nest: Nest, access: Access, loop: Loop) -> Stride | None:
    """How far an access moves with a loop, wherever what the loop does not change takes it; None
    for one that does not stand in it."""
    if len(access.strides) <= loop.depth:
        return None
    found = access.strides[loop.depth]
    if found != Stride.NON_AFFINE or loop.kind == "while":
        return found
    around = {one.indvar for one in _around(nest, access)}
    changing = varying(_in_tree(nest, loop)) - {loop.indvar}
    return stride(access.subset, loop.indvar, around, changing)


def _in_tree(nest: Nest, loop: Loop) -> TreeLoop:
    """A loop that counts, in the program's tree."""
    return next(
        one
        for one in preorder(nest.loop)
        if isinstance(one, TreeLoop) and one.id == loop.element_id
    )


def is_row(strides: Mapping[Access, Stride | None]) -> bool:
    """Whether what a loop stores lies side by side, and so does what it reads."""
    return all(found in ((Stride.UNIT,) if one.write else _ALONG) for one, found in strides.items())


def _pays(read: Access, across: Stride | None, last: Loop, in_memory: bool) -> bool:
    """Whether what is read lies beside what the next sum of a row reads, and not beside what the
    sum itself reads next, unless it slides over it. Sums in memory are products, of which books
    know more, where they do not slide."""
    if in_memory:
        return slides(read, across, last)
    return across == Stride.UNIT and read.strides[last.depth] != Stride.ZERO


def slides(read: Access, across: Stride | None, last: Loop) -> bool:
    """Whether what a sum reads moves along memory with its own loop, and as it does with the row's,
    which is `across`."""
    return across == Stride.UNIT and read.strides[last.depth] in (Stride.UNIT, Stride.CONSTANT)


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


def _compares(nest: Nest, loop: Loop) -> bool:
    """Whether a loop chooses among what it goes through."""
    return _extremes(nest, loop) > 0 or (
        "loop",
        loop.index,
    ) in {parent for parent, (kind, _) in nest.contains if kind == "branch"}


def _extremes(nest: Nest, loop: Loop) -> int:
    """How many greatest or least numbers a loop looks for."""
    inside = {block.index for block in nest.blocks if loop in nest.ancestry(block.parent)}
    return sum(one.op in _EXTREMES for one in nest.operations if one.block in inside)


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
    compares = _compares(nest, along) and not any(access.write for access in found)
    if along.kind not in ("map", "reduce") and not compares and not _hands_nothing_on(nest, along):
        return False
    return all(one.strides[along.depth] in _ALONG for one in found) and any(
        one.strides[along.depth] == Stride.UNIT and one.strides[row.depth] not in _ALONG
        for one in found
    )


def _hands_nothing_on(nest: Nest, loop: Loop) -> bool:
    """Whether no iteration of a loop can read what another one has written, but for greatest and
    least numbers: docc takes none with a branch for such a loop."""
    node = _in_tree(nest, loop)
    stored = written(node)
    read = {access.container for access in accesses(node) if access.subset and not access.write}
    handed = stored & (read | upward_exposed(node.body))
    return not handed & read and len(handed) <= _extremes(nest, loop)


_ALONG = (Stride.ZERO, Stride.UNIT)


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
