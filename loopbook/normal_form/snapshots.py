"""Rows and columns of an array that is overwritten, copied before.

Before::

    for i: for j: t[i, j] = min(A[i, j], A[i, k] + A[k, j])
    for i: for j: A[i, j] = t[i, j]

and after::

    for i: column[i] = A[i, k]
    for j: row[j] = A[k, j]
    for i: for j: A[i, j] = min(A[i, j], column[i] + row[j])

The temporary has as many elements as the nest has iterations; a row has fewer, and stays in a
cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopbook.errors import SdfgError
from loopbook.normal_form.inlining import inlined_one
from loopbook.normal_form.producer import producer_of
from loopbook.program import expr, walk
from loopbook.program.accesses import Access, counted, written
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.redirect import Element, redirected
from loopbook.program.rename import renamed
from loopbook.program.tree import Loop, Node, Program
from loopbook.program.types import Pointer, Scalar
from loopbook.steps.editor import BYTES, Editor
from loopbook.steps.temporaries import Temporary, changed, parent, temporaries, without_each


def with_snapshots(program: Program) -> Program:
    """The program without the temporaries that are there because rows of an array would be
    overwritten before they are read."""
    return without_each(program, _without)


def _without(program: Program, temporary: Temporary) -> Program:
    """The program without a temporary.

    Raises:
        LoopbookError: it has to stay.
    """
    program = _copied_before(program, temporary)
    return inlined_one(program, temporaries(program)[temporary.container])


def _copied_before(program: Program, temporary: Temporary) -> Program:
    """The program with what fills a temporary reading copies of rows that are overwritten where the
    temporary is read.

    Raises:
        SdfgError: there is nothing to copy.
    """
    above = parent(temporary.uses)
    siblings, depth = walk.children(walk.at(program, above)), len(above)
    first, *readers = sorted({path[depth] for path in temporary.uses})
    producer = producer_of(program, siblings[first], temporary)
    overwritten = producer.reads.intersection(*(changed(siblings[place]) for place in readers))
    editor = Editor(program, {}, {})
    rows: dict[tuple[str, str], _Row] = {}

    def target(access: Access) -> Element | None:
        if access.write or access.container not in overwritten or len(access.subset) != 1:
            return None
        (index,) = access.subset
        loops = [loop for loop in producer.loops if loop.variable in index.symbols]
        if len(loops) == len(producer.loops) or index.symbols & producer.own:
            return None  # it is no row, or which one is only known in the nest
        key = access.container, expr.normal_form(index.text)
        if key not in rows:
            rows[key] = _Row.of(editor, *key, loops)
        return rows[key].element

    filling = redirected(siblings[first], target)
    if not rows:
        raise SdfgError("no row is overwritten")
    copies = [row.copy(editor) for row in rows.values()]
    moved = len(editor.program.body.children) - len(program.body.children)
    path = (above[0] + moved, *above[1:], first) if above else (first + moved,)
    return walk.replaced(editor.program, path, *copies, filling)


@dataclass(frozen=True)
class _Row:
    """A copy of those elements of an array that some loops go along.

    Attributes:
        array, index: what is copied.
        element: of the copy, for the same iteration of the loops.
    """

    array: str
    index: str
    loops: Sequence[Loop]
    element: Element

    @classmethod
    def of(cls, editor: Editor, array: str, index: str, loops: Sequence[Loop]) -> _Row:
        """Make room for it.

        Raises:
            SdfgError: it is not known at the program's beginning how much that is.
        """
        program = editor.program
        kind = program.containers[array]
        if not isinstance(kind, Pointer) or not isinstance(kind.to, Scalar):
            raise SdfgError("the array has no plain elements")
        if kind.to.dtype not in BYTES:
            raise SdfgError("the array has elements of another kind")
        if not loops:
            return cls(
                array, index, loops, Element(editor.scalar(f"{array}_was", kind.to), (), kind.to)
            )
        place: Polynomial = {}
        extents: list[str] = []
        changing = written(program.body) | counted(program.body)
        for loop in loops:
            bounds = loop.bounds
            if len(bounds.lows) != 1 or len(bounds.highs) != 1 or loop.step != 1:
                raise SdfgError("a loop has more than one end")
            extent = expr.plus(bounds.highs[0], bounds.lows[0], -1)
            if expr.mentioned(extent) & changing:
                raise SdfgError("how long the row is changes")
            extents.append(f"({expr.text(extent)})")
            digit = expr.plus({(loop.variable,): 1}, bounds.lows[0], -1)
            place = expr.plus(expr.product(place, extent), digit)
        name, memlet = editor.heap_array(f"{array}_was", kind.to, extents, managed=False)
        return cls(array, index, loops, Element(name, (Expr(expr.text(place)),), memlet))

    def copy(self, editor: Editor) -> Node:
        """The nest that copies it."""
        own = {loop.variable: editor.variable("_row", loop.variable) for loop in self.loops}
        subset = [index.text for index in self.element.subset]
        node: Node = renamed(
            editor.copy((self.array, [self.index]), (self.element.container, subset)), own
        )
        for loop in reversed(self.loops):
            low, high = (expr.text(bound[0]) for bound in (loop.bounds.lows, loop.bounds.highs))
            node = editor.new_loop("", own[loop.variable], low, f"({high})", [node])
        return node
