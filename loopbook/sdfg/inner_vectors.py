"""Vectors where a recipe has them, and not around.

A micro-kernel is a loop over ``k`` around loops of constant length that are written out, the
innermost in vectors. clang writes these out first, and then takes the loop over ``k`` for the one
to make vectors of: with numbers from four iterations in each, and sums that no longer fit into
registers (a product of matrices, AVX2: 16 GFLOP/s in place of 40). So is a strip of 32 sums beside
each other, which nobody had to write out (a layer of 256 by 300 by 200: 4.4 to 1.4 ms, AVX-512).
docc says that a loop is to stay as it is where it takes it for a map in order::

    for k: …;    becomes    #pragma clang loop vectorize(disable)
                            for k: …;

Last of all: nobody asks afterwards whether the loop is a map.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopbook.program import walk
from loopbook.program.accesses import accesses
from loopbook.program.expr import Expr
from loopbook.program.tree import SEQUENTIAL, VECTORISED, Loop, Program
from loopbook.program.walk import Inner, spread
from loopbook.steps.unroll import WRITTEN_OUT

LANES, SHORT = 8, 64
"""Iterations of a loop that is worth vectors of its own, and of one that clang writes out: those of
48 it left, and took the loop around for no vectors (clang 19). Three coordinates are none: the
forces of some hundred bodies take 0.10 ms with vectors of bodies, 0.14 without."""


def keep_vectors_inside(program: Program) -> Program:
    """A finished program in which clang makes no vectors of loops around what is written out in
    vectors; itself if there are none."""
    return spread(program, _kept)


def _kept(node: Inner) -> list[Inner]:
    if not isinstance(node, Loop) or node.kind == "map" or node.schedule != SEQUENTIAL:
        return [node]
    written_out = [loop for loop in _loops(node) if _is_written_out(loop)]
    if not any(map(_has_vectors, written_out)):
        return [node]
    return [replace(node, kind="map", reductions=None)]


def _is_written_out(loop: Loop) -> bool:
    """Whether a loop is to be written out, or is one that clang writes out by itself."""
    if WRITTEN_OUT in loop.schedule.properties:
        return True
    known = loop.bounds
    width = known.width() if len(known.lows) == len(known.highs) == known.step == 1 else None
    return width is not None and LANES <= width <= SHORT and goes_along_memory(loop)


def goes_along_memory(loop: Loop) -> bool:
    """Whether a loop's iterations touch elements that lie beside each other, or the same: where
    they do not, vectors of the loop around may gather less."""
    own = loop.variable
    for access in accesses(loop):
        *outer, last = access.subset or (Expr("0"),)
        moving = {m: f for m, f in last.polynomial.items() if own in m}
        if moving not in ({}, {(own,): 1}) or any(own in index.symbols for index in outer):
            return False
    return True


def _has_vectors(loop: Loop) -> bool:
    return any(inner.schedule.name == VECTORISED.name for inner in _loops(loop))


def _loops(loop: Loop) -> Iterator[Loop]:
    """The loop and all inside."""
    return (node for node in walk.preorder(loop) if isinstance(node, Loop))
