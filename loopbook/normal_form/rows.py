"""Neighbouring loops over the same rows as one loop, row by row.

Operations on whole arrays become loops over whole arrays, each of which waits for the last row of
the one before. What they hand over has left the caches by then. Before::

    for i: for j: s[i] += X[i, j]
    for i: for j: T[i, j] = X[i, j] / s[i]
    for i: for j: Y[i, j] = exp(T[i, j])

and after it::

    for i:
        for j: s += X[i, j]
        for j: T[j] = X[i, j] / s
        for j: Y[i, j] = exp(T[j])

Each fusion is legal by what `loopbook.dependence` says (loop fusion: Kennedy and McKinley, LCPC
1993). An array of which no iteration touches another one's row needs one row then (array
contraction: Sarkar and Gao, ICS 1991). Loops without loops in them are left alone, for vectors. A
sum across memory in a loop along it is turned outside before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from loopbook.errors import SdfgError
from loopbook.normal_form.contraction import contracted
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, accesses
from loopbook.program.dataflow import Allocation, Statement
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.redirect import Element, redirected
from loopbook.program.tree import Loop, Program
from loopbook.program.walk import Path
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.order import with_serial_loops
from loopbook.steps.temporaries import (
    Temporary,
    accesses_of,
    changed_each,
    parent,
)


def row_by_row(program: Program) -> Program:
    """The program with such loops; itself if there is nothing to fuse.

    It is for one thread: iterations that were parallel share the one row that is left of an array.

    Args:
        program: in its normal form, with loops that count in signed numbers.
    """
    fused = _fused_at(_along_memory(_allocated_first(program)), ())
    if _loops(fused) == _loops(program):
        return program
    return changed_each(contracted(fused), _as_row)


def _loops(program: Program) -> int:
    return sum(isinstance(node, Loop) for node in walk.preorder(program))


def _allocated_first(program: Program) -> Program:
    """The program with memory of a known size allocated in front, so that it parts no loops."""
    first, rest = [], []
    for node in program.body.children:
        known = (
            isinstance(node, Allocation)
            and node.call.code == "Malloc"
            and isinstance(size := node.call.fields.value.get("size"), str)
            and size.isdecimal()
        )
        (first if known else rest).append(node)
    return walk.with_children(program, [*first, *rest])


# -- fusion -----------------------------------------------------------------------------------


def _fused_at(program: Program, path: Path) -> Program:
    """The program with loops fused among the siblings at a path, and then in them."""
    place = 0
    while place < len(siblings := walk.children_at(program, path)):
        if place + 1 < len(siblings):
            fused = _tried(program, siblings[place], siblings[place + 1])
            if fused is not program:
                program, place = fused, max(0, place - 1)  # what it has in common may be new
                continue
        place += 1
    for place, node in enumerate(walk.children_at(program, path)):
        if isinstance(node, Loop):
            program = _fused_at(program, (*path, place))
    return program


def _tried(program: Program, one: walk.Inner, other: walk.Inner) -> Program:
    """The program with two neighbours fused; itself if they are not to be, or cannot be."""
    if not (isinstance(one, Loop) and isinstance(other, Loop)):
        return program
    if not (walk.has_loops(one) or walk.has_loops(other)):
        return program
    if not _containers(one) & _containers(other):
        return program
    return _stepped(program, "fuse", one, other)


def _stepped(program: Program, step: str, one: Loop, other: Loop) -> Program:
    if one.id is None or other.id is None:
        return program
    editor = Editor(program, {"L0": one.id, "L1": other.id}, {})
    return program if editor.tried(Step(step, ("L0", "L1"))) else editor.program


def _containers(loop: Loop) -> frozenset[str]:
    """Arrays that are touched below a loop, and scalars."""
    return frozenset(access.container for access in accesses(loop))


# -- one row ----------------------------------------------------------------------------------


def _as_row(program: Program, temporary: Temporary) -> Program:
    """The program with one row of a temporary.

    In the loops around all its uses, each iteration has a row of its own: what it reads there it
    has written, in this order, and may as well have written where the iteration before did.

    Raises:
        SdfgError: rows may overlap, or something else gets them.
    """
    name = temporary.container
    if any(type(walk.at(program, path)) is not Statement for path in temporary.uses):
        raise SdfgError("a library uses it")
    above = parent(temporary.uses)
    shared = [node for node in walk.way(program, above) if isinstance(node, Loop)]
    if not shared or walk.at(program, above) is not shared[-1]:
        raise SdfgError("it is not used in one loop")
    if temporary.allocated is not None and len(temporary.allocated) > 1:
        raise SdfgError("it may be another one in each iteration")
    rows: set[tuple[int, ...]] = set()
    for path in temporary.uses:
        around = [node for node in walk.way(program, path) if isinstance(node, Loop)]
        for access in accesses_of(walk.at(program, path), name):
            rows.add(_row(access, shared, around[len(shared) :]))
    if len(rows) != 1:
        raise SdfgError("its rows are not of one size")
    fixed = {(loop.variable,) for loop in shared}

    def target(access: Access) -> Element | None:
        if access.container != name or access.memlet is None:
            return None
        (index,) = access.subset
        rest = {term: factor for term, factor in index.polynomial.items() if term not in fixed}
        return Element(name, (Expr(expr.text(rest)),), access.memlet.type)

    for path in temporary.uses:
        program = walk.replaced(program, path, redirected(walk.at(program, path), target))  # type: ignore[type-var]
    return with_serial_loops(program, above)


def _row(access: Access, shared: Sequence[Loop], inner: Sequence[Loop]) -> tuple[int, ...]:
    """How many elements apart the rows of two iterations are, for each of the shared loops.

    Raises:
        SdfgError: an access may reach into another row, or it cannot be told.
    """
    if len(access.subset) != 1 or access.memlet is None:
        raise SdfgError("it has more than one index")
    form: Polynomial = dict(access.subset[0].polynomial)
    reach = form.pop((), 0)
    if reach < 0:
        raise SdfgError("it begins in front of its row")
    steps = tuple(form.pop((loop.variable,), 0) for loop in shared)
    for loop in inner:
        factor = form.pop((loop.variable,), 0)
        if factor < 0:
            raise SdfgError("its index falls")
        reach += factor * _last(loop)
    if form:
        raise SdfgError("its index is not understood")
    for step, loop in sorted(zip(steps, shared, strict=True), key=lambda pair: pair[0]):
        if step <= reach:
            raise SdfgError("it may reach into another row")
        reach += step * _last(loop)
    return steps


def _last(loop: Loop) -> int:
    """The greatest value that a loop's variable may have, which begins at 0.

    Raises:
        SdfgError: it is not a known number.
    """
    if loop.init.text != "0" or loop.step != 1:
        raise SdfgError("it does not begin at 0")
    for high in loop.bounds.highs:
        if set(high) <= {()}:
            return max(0, high.get((), 0) - 1)
    raise SdfgError("it is not known where it ends")


# -- along memory -----------------------------------------------------------------------------


def _along_memory(program: Program) -> Program:
    """The program with innermost loops turned outside that step across memory, where the loop
    around them steps along it."""
    for outer, inner in [*_pairs(program)]:
        steps = [_strides(inner, loop.variable) for loop in (outer, inner)]
        if 1 in steps[0] and 1 not in steps[1] and max(steps[1], default=0) > 1:
            program = _stepped(program, "interchange", outer, inner)
    return program


def _pairs(program: Program) -> Iterator[tuple[Loop, Loop]]:
    """Innermost loops, each with the loop around it, where that holds nothing else."""
    for node in walk.preorder(program):
        if isinstance(node, Loop) and len(node.body.children) == 1:
            (inner,) = node.body.children
            if isinstance(inner, Loop) and not walk.has_loops(inner):
                yield node, inner


def _strides(loop: Loop, variable: str) -> set[int]:
    """How far accesses below a loop go with a variable."""
    return {
        abs(index.polynomial.get((variable,), 0))
        for access in accesses(loop.body)
        for index in access.subset[-1:]
    }
