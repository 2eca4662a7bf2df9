"""Arrays of one element that stand for a scalar.

docc loses some of what is stored into scalars in loops, not what is stored into arrays, so it is
shown these (`loopbook.sdfg.known_wrong.resets`). Once its passes are done, memory is only in the
way: each iteration waits for what the one before has stored, and no vector holds it. Done to what
is served, like `loopbook.sdfg.early_loads`::

    m = calloc(8); for i: if a[i] < m[0]: m[0] = a[i]

    m_one = 0; for i: if a[i] < m_one: m_one = a[i]
"""

from __future__ import annotations

from loopbook.errors import SdfgError
from loopbook.normal_form.contraction import in_scalar, places_of
from loopbook.program import walk
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Constant,
    LibraryCall,
    LibraryNode,
    Memlet,
    Tasklet,
    block,
)
from loopbook.program.expr import Expr
from loopbook.program.tree import Program
from loopbook.steps.temporaries import Temporary, temporaries, without_each

ZERO = {"double": "0.0", "float": "0.0", "int64": "0"}
"""What memory of a type holds that is set to nought."""


def with_scalars_for_cells(program: Program) -> Program:
    """A finished program with scalars for such arrays; itself if it has none."""
    return without_each(program, _as_scalar)


def _as_scalar(program: Program, temporary: Temporary) -> Program:
    name, zero = temporary.container, ZERO.get(temporary.element.dtype)
    if temporary.allocated is None or zero is None:
        raise SdfgError("it is no cell")
    for path in temporary.uses:
        if _is_cleared(walk.at(program, path)):
            program = walk.replaced(program, path, _cleared(temporary, zero))
    temporary = temporaries(program)[name]
    if places_of(program, temporary) != {("0",)}:
        raise SdfgError("it has other elements")
    return in_scalar(program, temporary)


def _is_cleared(node: object) -> bool:
    """Whether a node sets memory to nought."""
    if not isinstance(node, LibraryCall):
        return False
    calls = [one for one in node.nodes if isinstance(one, LibraryNode)]
    return all(one.code == "Memset" and one.fields.value.get("value") == "0" for one in calls)


def _cleared(temporary: Temporary, zero: str) -> Block:
    """``cell[0] = 0``."""
    nodes = (
        Constant(zero, temporary.element),
        Tasklet("assign", ("_in",), "_out"),
        AccessNode(temporary.container),
    )
    memlets = (
        Memlet(0, 1, "void", "_in", (), temporary.element),
        Memlet(1, 2, "_out", "void", (Expr("0"),), temporary.element),
    )
    return block(nodes, memlets)
