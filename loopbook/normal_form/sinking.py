"""A scalar that one loop alone reads, computed in that loop.

Before::

    for k:
        s = alpha * A[i, k]
        for j: C[i, j] += s * A[j, k]

and after::

    for k: for j:
        s = alpha * A[i, k]
        C[i, j] += s * A[j, k]

A loop that is all that another one holds can be turned outside, and is known to the book; the
compiler takes the scalar out again (the reverse of loop-invariant code motion).
"""

from __future__ import annotations

from loopbook.normal_form.producer import work_of
from loopbook.program import walk
from loopbook.program.accesses import own_accesses, own_names, own_symbols, written
from loopbook.program.dataflow import Statement
from loopbook.program.definite import written_first
from loopbook.program.local import local_arrays
from loopbook.program.tree import Loop, Program
from loopbook.program.types import Scalar
from loopbook.steps.temporaries import changed

MOST_WORK = 4
"""Instructions. Chosen: where the loop stays inside, they are taken out of it again."""


def sunk(program: Program) -> Program:
    """The program with such scalars computed where they are read. Our own front end has written
    them there already."""
    if local_arrays(program):
        return program
    used: dict[str, int] = {}
    for node in walk.preorder(program):
        for name in own_names(node):
            used[name] = used.get(name, 0) + 1
    return walk.rebuilt(program, lambda node: _sunk(program, node, used))


def _sunk(program: Program, node: walk.Inner, used: dict[str, int]) -> walk.Inner:
    """A loop that holds a loop behind some scalars with these in it; anything else as it is."""
    if not isinstance(node, Loop) or len(node.body.children) < 2:
        return node
    *before, inner = node.body.children
    if not isinstance(inner, Loop):
        return node
    for one in before:
        if type(one) is not Statement or work_of(one) > MOST_WORK:
            return node
        writes = written(one)
        if any(access.write and access.subset for access in own_accesses(one)) or not all(
            isinstance(program.containers[name], Scalar) and name not in program.public
            for name in writes
        ):
            return node
        moved = own_names(one)
        if moved & changed(inner) or inner.variable in moved or writes & own_symbols(inner):
            return node
        inside = [part for part in walk.preorder(node) if writes & own_names(part)]
        if sum(used[name] for name in writes) != sum(
            len(writes & own_names(part)) for part in inside
        ):
            return node  # somebody else knows it
    scalars = {name for one in before for name in written(one)}
    if written_first(before, scalars) is None:
        return node  # it goes on from the iteration before
    deepest = walk.with_children(inner, [*before, *inner.body.children])
    return walk.with_children(node, [_sunk(program, deepest, used)])
