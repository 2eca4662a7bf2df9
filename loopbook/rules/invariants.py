"""Elements that an innermost loop reads in all of its iterations, of an array that it also writes.

In ``for j: A[i, j] -= A[i, k] * A[k, j]`` a compiler does not know that ``A[i, k]`` stays what it
is, and loads it again for each j, one number at a time. Indices tell that it does. Nor does it know
in ``for k: A[i, j] -= A[i, k] * A[j, k]`` that what is added up is none of the elements that are
read: each addition waits for the one before to be stored.
"""

from __future__ import annotations

from loopbook.program.nest import Nest, Stride
from loopbook.rules.base import Steps, step
from loopbook.rules.reductions import held


def kept_elements(nest: Nest) -> Steps:
    """A step for each loop that may load such an element once, or hold it; which of them are legal
    is left open."""
    inner = [loop for loop in nest.loops if not nest.children(loop.index) and loop.indvar]
    steps = [
        step("hoist", loop.name)
        for loop in inner
        if _kept(nest, loop.index) & _changed(nest, loop.index)
    ]
    return steps + [
        step("stage", loop.name, name, "out")
        for loop in inner
        for name in held(nest, loop)
        if name in _read_along(nest, loop.index)
    ]


def _kept(nest: Nest, loop: int) -> set[int]:
    """The arrays of which a loop reads one and the same element."""
    return {
        one.container
        for one in nest.accesses
        if nest.blocks[one.block].parent == loop and not one.write
        if nest.containers[one.container].is_array and one.strides[-1] == Stride.ZERO
    }


def _read_along(nest: Nest, loop: int) -> set[str]:
    """The arrays that a loop reads one element after the other of."""
    return {
        nest.containers[one.container].name
        for one in nest.accesses
        if nest.blocks[one.block].parent == loop and not one.write
        if one.strides and one.strides[-1] != Stride.ZERO
    }


def _changed(nest: Nest, loop: int) -> set[int]:
    """The arrays that a loop writes one element after the other of."""
    return {
        one.container
        for one in nest.accesses
        if nest.blocks[one.block].parent == loop and one.write and one.strides[-1] != Stride.ZERO
    }
