"""A part of a program as a program of its own: what it finds in scalars is handed in.

Before, cut out of a program that sums up into ``s``::

    for i: s = s + A[i]

and after::

    s = s_given[0]
    for i: s = s + A[i]
    s_given[0] = s

Without that it computes with what nobody has set, and nobody sees what it comes to.
"""

from __future__ import annotations

from loopbook.program import dataflow, walk
from loopbook.program.accesses import written
from loopbook.program.dataflow import AccessNode, Block, Memlet, Tasklet
from loopbook.program.expr import Expr
from loopbook.program.tree import Program
from loopbook.program.types import Pointer, Scalar
from loopbook.program.unset import unset


def closed(program: Program) -> Program:
    """The program with an argument of one element for each scalar that it reads before it sets it;
    itself if there are none. What it leaves in such a scalar, it leaves in the argument."""
    changed = written(program)
    before: list[Block] = []
    after: list[Block] = []
    for name in sorted(unset(program)):
        kind = program.containers[name]
        assert isinstance(kind, Scalar)
        given = f"{name}_given"
        while given in program.containers:
            given += "_"
        program = program.declaring(**{given: Pointer(storage=kind.storage, to=kind)})
        program = program.taking(given)
        element = AccessNode(given), Pointer(storage=kind.storage, to=kind), (Expr("0"),)
        scalar = AccessNode(name), kind, ()
        before.append(_copy(element, scalar))
        if name in changed:
            after.append(_copy(scalar, element))
    if not before:
        return program
    return walk.with_children(program, [*before, *program.body.children, *after])


_End = tuple[AccessNode, Pointer | Scalar, tuple[Expr, ...]]


def _copy(source: _End, target: _End) -> Block:
    (start, read, place), (end, write, goal) = source, target
    nodes = start, end, Tasklet("assign", ("_in",), "_out")
    into = Memlet(0, 2, "void", "_in", place, read)
    out = Memlet(2, 1, "_out", "void", goal, write)
    return dataflow.block(nodes, (into, out))
