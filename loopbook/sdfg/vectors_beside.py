"""Vectors beside vectors.

A recipe may speak of a part of a nest alone, as of a product that a loop over time repeats. docc
gives a nest that holds anything scheduled no schedule of its own any more, so what stands beside
the product is computed element by element::

    for t:
        for i, j by 4, 32: for k: …              z = x @ A, in vectors
        for i: for j: x[i, j] = tanh(z[i, j])    and this was not

(Steps of 16 by 64 elements: 1.8 to 0.5 ms, AVX-512.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopbook.program import walk
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Loop, Program, While
from loopbook.program.walk import Inner, rebuilt
from loopbook.sdfg.inner_vectors import LANES, goes_along_memory
from loopbook.steps.unroll import WRITTEN_OUT


def with_vectors_beside(program: Program) -> Program:
    """A finished program in which innermost loops along memory are computed in vectors, where docc
    has left them for others that are; itself if there are none."""
    left = {id(loop) for top in walk.outermost(program) for loop in _left(top)}

    def told(node: Inner) -> Inner:
        if isinstance(node, Loop) and id(node) in left:
            return replace(node, schedule=VECTORISED)
        return node

    return rebuilt(program, told) if left else program


def _left(top: Inner) -> Iterator[Loop]:
    nodes = [(node, loops) for node, loops in walk.with_loops(top) if isinstance(node, Loop)]
    if not any(loop.schedule.name == VECTORISED.name for loop, _ in nodes):
        return
    for loop, around in nodes:
        if (
            loop.kind == "map"
            and loop.schedule == SEQUENTIAL
            and not walk.has_loops(loop)
            and not any(_is_done(outer) for outer in around)
            and _is_long(loop)
            and goes_along_memory(loop)
        ):
            yield loop


def _is_done(loop: Loop | While) -> bool:
    """Whether what stands in a loop is computed in its vectors, or written out."""
    if not isinstance(loop, Loop):
        return False
    return loop.schedule.name == VECTORISED.name or WRITTEN_OUT in loop.schedule.properties


def _is_long(loop: Loop) -> bool:
    known = loop.bounds
    width = known.width() if len(known.lows) == len(known.highs) == known.step == 1 else None
    return width is None or width >= LANES
