"""Lets loops count in signed numbers.

docc's library nodes expand to loops with unsigned variables. Steps give loops ends such as
``n - 15``, negative where an array is shorter than a strip. C++ takes such an end for an enormous
one if what it is compared with is unsigned: the loop, which should not run at all, runs past its
arrays. Signed variables stop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loopbook.errors import SdfgError
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Assignments, Loop, Program
from loopbook.program.types import Scalar, Type
from loopbook.program.walk import preorder


def sign_counters(program: Program) -> Program:
    """The program with signed variables for its loops; itself if they are.

    Variables stay unsigned where something tells the difference: those of loops that count down
    (and may stop at what is below zero), and those that are arguments or data of a computation.
    """
    if not (found := unsigned(program.containers)):
        return program
    counted: set[str] = set()
    kept = set(program.arguments)
    for node in preorder(program):
        match node:
            case Loop():
                (counted if _counts_up(node) else kept).add(node.variable)
            case Assignments():
                counted.update(one.symbol for one in node.assignments)
            case Block():  # indices are no data
                kept.update(end.container for end in node.nodes if isinstance(end, AccessNode))
    signed = {name: replace(found[name], dtype="int64") for name in found.keys() & counted - kept}
    return program.declaring(**signed) if signed else program


def unsigned(containers: Mapping[str, Type]) -> dict[str, Scalar]:
    """Those of a program's scalars that are unsigned."""
    return {
        name: kind
        for name, kind in containers.items()
        if isinstance(kind, Scalar) and kind.dtype.startswith("uint")
    }


def _counts_up(loop: Loop) -> bool:
    try:
        return (loop.step or 0) > 0
    except SdfgError:
        return False
