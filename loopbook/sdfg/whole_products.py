"""Products of matrices that docc would compute row by row, in front of what reads them.

docc puts loops over the same rows into one, if the second one reads what the first one has stored
there. A product is a nest of its own in books, and for libraries::

    for i: for j: for k: T[i, j] += A[i, k] * B[k, j]      the same
    for i: for j: y[i] += exp(T[i, j])                     T[0] = T[0]
                                                           for i: for j: y[i] += exp(T[i, j])
"""

from __future__ import annotations

from loopbook.program import walk
from loopbook.program.dataflow import Block, Memlet
from loopbook.program.tree import Loop, Program
from loopbook.sdfg.spacing import copy_of_first, loads_of, spaced, stores_of


def kept_whole(program: Program) -> Program:
    """The program with a statement behind such products; itself if there are none."""
    return spaced(program, _between)


def _between(ahead: Loop, loop: Loop) -> Block | None:
    found = _product(ahead)
    if found is None:
        return None
    name, stored = found
    inside = (node for node in walk.preorder(loop) if isinstance(node, Block))
    read = any(name == other for node in inside for other, _ in loads_of(node))
    return copy_of_first(name, stored) if read else None


def _product(nest: Loop) -> tuple[str, Memlet] | None:
    """What a nest adds the products of two matrices to, with a memlet that stores there; None if it
    does something else."""
    loops = walk.band(nest)
    body = loops[-1].body.children
    if len(loops) < 3 or not all(isinstance(node, Block) for node in body):
        return None
    stored = [(name, memlet) for node in body for name, memlet in stores_of(node) if memlet.subset]
    if len(stored) != 1:
        return None
    (name, memlet), variables = stored[0], {loop.variable for loop in loops}
    result = _named(memlet, variables)
    factors = [
        _named(other, variables)
        for node in body
        for array, other in loads_of(node)
        if other.subset and array != name
    ]
    summed = variables - result
    kept = [factor & result for factor in factors if factor & summed]
    apart = any(one - other and other - one for one in kept for other in kept)
    return (name, memlet) if summed and apart else None


def _named(memlet: Memlet, variables: set[str]) -> frozenset[str]:
    """The variables of loops in an index."""
    return frozenset().union(*(index.symbols & variables for index in memlet.subset))
