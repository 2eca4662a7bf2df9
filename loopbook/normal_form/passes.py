"""The passes in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from loopbook.errors import LoopbookError
from loopbook.normal_form.allocations import allocated_once
from loopbook.normal_form.contraction import contracted
from loopbook.normal_form.dead import without_dead_stores
from loopbook.normal_form.identical import without_identical
from loopbook.normal_form.inlining import inlined
from loopbook.normal_form.products import as_loops
from loopbook.normal_form.reuse import copied_out, in_place
from loopbook.normal_form.singles import with_singles
from loopbook.normal_form.sinking import sunk
from loopbook.normal_form.snapshots import with_snapshots
from loopbook.normal_form.views import resolved
from loopbook.program import walk
from loopbook.program.dataflow import LibraryCall, Reference
from loopbook.program.local import local_arrays, with_known_sizes
from loopbook.program.tree import Program

PASSES = (
    with_known_sizes,
    as_loops,
    resolved,
    without_dead_stores,
    without_identical,
    copied_out,
    contracted,
    inlined,
    contracted,
    with_snapshots,
    in_place,
    inlined,
    sunk,
    allocated_once,
    with_singles,
)


def normal_form(program: Program) -> Program:
    """The program with fewer temporaries; itself if there is nothing to change.

    A pass that meets what it cannot read leaves the program as it is.
    """
    if not local_arrays(program) and not any(
        isinstance(node, LibraryCall | Reference) for node in walk.preorder(program)
    ):
        # Nothing is made for a call, allocated, multiplied as a whole or pointed at.
        return _after(program, (with_known_sizes, without_dead_stores, with_singles))
    return _after(program, PASSES)


def _after(program: Program, passes: Iterable[Callable[[Program], Program]]) -> Program:
    for change in passes:
        try:
            program = change(program)
        except LoopbookError:
            continue
    return program
