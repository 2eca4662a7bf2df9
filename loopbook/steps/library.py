from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from loopbook.dependence import keep_apart
from loopbook.dependence.scalars import live_out
from loopbook.errors import IllegalStepError
from loopbook.program import dataflow, expr, tree, walk
from loopbook.program.accesses import own_accesses
from loopbook.program.dataflow import (
    AccessNode,
    Block,
    Constant,
    LibraryNode,
    Memlet,
    Reference,
)
from loopbook.program.dataflow import Node as FlowNode
from loopbook.program.expr import Expr
from loopbook.program.inside import Around, within
from loopbook.program.kept import Kept
from loopbook.program.tree import Node
from loopbook.program.types import Pointer, Type, type_of
from loopbook.steps.accumulation import Accumulation, Term, accumulation
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.products import Product, product
from loopbook.steps.region import read_in_place, serial, serialise_around
from loopbook.steps.triangles import Beside, boxes

ROW_MAJOR, AS_STORED, TRANSPOSED = 101, 111, 112
"""CBLAS's numbers for the layout of a matrix and for what is done with it."""

PRECISIONS = {"double": ord("d"), "float": ord("s")}


class Library(Step):
    """A nest that does nothing but add matrix products to matrices, as calls of BLAS.

    Before ``library L0``, its loops in any order and its matrices stored either way::

        for r: for c: for k: C[r, c] += alpha * A[r, k] * B[k, c]

    and after it::

        gemm(alpha, A, B, 1, C)

    Axes that lie in memory like one are one; outermost loops may be left over, and run through
    products of parts of the arrays. The loop may stand in others, such as over the tiles of a
    triangle: their rectangles are products, and what lies on the diagonal, if it is known to be
    small, is computed in full in a local array, of which the triangle is added.
    """

    name = "library"
    textbook = "replacement of an idiom by a library call"
    source = "Dongarra, Du Croz, Hammarling and Duff, ACM TOMS 16(1), 1990"
    example = "library L0"
    traits = {"library": 4.0}

    loop = Loop()

    def apply(self, editor: Editor) -> None:
        """Legal if the nest is nothing but a product, of arrays that do not overlap.

        docc has a library node for ``gemm``, which its frontend makes of ``A @ B``; this makes the
        same of loops. docc's call ignores offsets (seen with 0.8.1), so a matrix that does not
        begin where its array does gets a pointer. Products with vectors stay loops: docc has no
        ``gemv``, and ``gemm`` with a matrix of one column is slower than loops over rows (four
        times for 2000 by 2000, OpenBLAS 0.3.21).

        The outermost loop of the product stays, and runs once, or not at all where that is empty.
        """
        loops, blocks = _perfect(editor.loop(self.loop))
        outside = editor.around(self.loop)
        ranges = boxes(loops)
        found = accumulation(blocks, frozenset(ranges.extents))
        _check_apart(editor, self.loop, found)
        dtype = _checked(editor, loops, found)
        around = _known(editor, self.loop)
        what, *others = (
            product(found.target, term.elements, ranges.extents, around) for term in found.terms
        )
        if any(other.result != what.result or other.loops != what.loops for other in others):
            raise IllegalStepError("the products do not have rows and columns in common")
        once = ["1", what.rows.size, what.columns.size, what.inner.size]
        if not others and (squared := ranges.squared(what)) is not ranges.extents:
            what = product(found.target, found.terms[0].elements, squared, around)
        *left, whole = loops[: len(loops) + 1 - len(what.loops)]
        for loop in left:
            if loop.variable in what.loops:
                raise IllegalStepError(f"{editor.name_of(loop)} is not inside all of the product")
        beside = Beside.of(editor, what, found.target, ranges.triangle) if ranges.triangle else None
        body: list[Node] = []
        for one, term in zip((what, *others), found.terms, strict=True):
            body += _call(editor, one, beside, dtype, _factor(term), first=not body)
        if beside is not None:
            body.append(beside.added)
        new = replace(
            _serial(whole, *body),
            init=Expr("0"),
            condition=Expr(f"({whole.variable} < {expr.smallest(once)})"),
        )
        # The iterations of all loops around the call share the pointers.
        for loop in reversed(left):
            new = _serial(loop, new)
        editor.put(self.loop, new)
        serialise_around(editor, (loop for loop in outside if isinstance(loop, tree.Loop)))


def _serial(loop: tree.Loop, *body: Node) -> tree.Loop:
    """The loop with another body, whose iterations may depend on each other."""
    return serial(replace(loop, body=replace(loop.body, children=body)))


# -- what the nest is ------------------------------------------------------------------------------


def _known(editor: Editor, loop: str) -> Around:
    """What is known of the variables of the loops around a loop.

    Raises:
        SdfgError: an expression cannot be read.
    """
    around: Around = ()
    for node in walk.way(editor.program, editor.path(editor.id_of(loop))[:-1]):
        if isinstance(node, tree.Loop | tree.Case):
            around = within(around, node)
    return around


def _perfect(loop: tree.Loop) -> tuple[list[tree.Loop], list[Block]]:
    """The loops of a perfect nest, outermost first, and the blocks that are all there is in them.

    Raises:
        IllegalStepError: there is more.
    """
    loops = walk.band(loop)
    blocks: list[Block] = []
    for node in loops[-1].body.children:
        if isinstance(node, tree.Loop):
            raise IllegalStepError("the loops are not perfectly nested")
        if not isinstance(node, Block):
            raise IllegalStepError(f"there is a {type(node).__name__.lower()} in it")
        blocks.append(node)
    return loops, blocks


def _check_apart(editor: Editor, loop: str, found: Accumulation) -> None:
    """Refuse where a factor may be an element that is added to."""
    target = found.target
    for factor in found.factors:
        if factor.data == target.data:
            region, scope = read_in_place(editor, loop)
            if not keep_apart(scope, region.around, target.data, (target.index,), (factor.index,)):
                raise IllegalStepError("the sums are factors too")


def _checked(editor: Editor, loops: Sequence[tree.Loop], found: Accumulation) -> str:
    """The type of all numbers, if they are of one type, no two of the arrays overlap, and nobody
    needs the scalars on the way.

    Raises:
        IllegalStepError: this is not so.
    """
    types = editor.program.containers
    arrays = {found.target.data, *(factor.data for factor in found.factors)}
    scalars = {*found.scalars, *(name for term in found.terms for name in term.coefficients)}
    used = {type_of(name, types).element for name in (*arrays, *scalars)}
    if len(used) != 1 or not used <= PRECISIONS.keys():
        raise IllegalStepError("the numbers are not all double or all float")
    for name in arrays:
        if not isinstance(types[name], Pointer):
            raise IllegalStepError(f"{name} is not in memory as one block")
    for node in walk.preorder(editor.program):
        if isinstance(node, Reference):
            for moved in own_accesses(node):
                if moved.write and moved.container in arrays:
                    raise IllegalStepError(f"{moved.container} may be a part of another array")
    if not live_out(editor.program, loops[0]).isdisjoint(found.scalars):
        raise IllegalStepError("the program uses what the nest leaves in a scalar")
    if any(not loop.condition.symbols.isdisjoint(found.scalars) for loop in loops):
        raise IllegalStepError("the bounds change")
    return used.pop()


# -- the call --------------------------------------------------------------------------------------


def _factor(term: Term) -> str | float:
    """The number, or the scalar that holds it, by which the product is multiplied.

    Raises:
        IllegalStepError: it would have to be computed.
    """
    constant = math.prod(term.constants, start=1.0)
    if not term.coefficients:
        return constant
    if len(term.coefficients) == 1 and constant == 1:
        return term.coefficients[0]
    raise IllegalStepError("the product is multiplied by more than one number")


def _call(
    editor: Editor,
    what: Product,
    beside: Beside | None,
    dtype: str,
    factor: str | float,
    *,
    first: bool,
) -> list[Node]:
    """A call of the library, behind the pointers that it needs.

    Args:
        beside: where the product is computed before a part of it is added to the result.
        first: nothing has been added there.
    """
    result = what.result if beside is None else beside.matrix
    matrices = {"__A": what.left, "__B": what.right, "__C": result}
    blocks: list[Node] = []
    data: dict[str, str] = {}
    for connector, matrix in matrices.items():
        data[connector] = matrix.data
        if matrix.start:
            kind = editor.program.containers[matrix.data]
            assert isinstance(kind, Pointer)
            pointer = data[connector] = editor.pointer(f"{matrix.data}_part", kind)
            blocks.append(editor.address(matrix.data, pointer, expr.text(matrix.start)))
    types = dict(editor.program.containers)
    if beside is not None:
        types[beside.matrix.data] = beside.type
    number = editor.element_type(what.result.data)
    # docc allows one node for each array: a matrix may be multiplied by its own transpose.
    nodes = {name: AccessNode(name) for name in data.values()}
    sources: dict[str, tuple[FlowNode, Type]] = {
        connector: (nodes[name], types[name]) for connector, name in data.items()
    }
    alpha = AccessNode(factor) if isinstance(factor, str) else Constant(repr(factor), number)
    beta = Constant(repr(0.0 if beside is not None and first else 1.0), number)
    sources |= {"__alpha": (alpha, number), "__beta": (beta, number)}
    fields: dict[str, Any] = {"layout": ROW_MAJOR, "precision": PRECISIONS[dtype]}
    fields |= {"m": what.rows.size, "n": what.columns.size, "k": what.inner.size}
    for connector, matrix in matrices.items():
        fields[f"ld{connector[-1].lower()}"] = expr.text(matrix.leading)
    for connector in ("__A", "__B"):
        how = TRANSPOSED if matrices[connector].transposed else AS_STORED
        fields[f"trans_{connector[-1].lower()}"] = how
    call = LibraryNode("GEMM", "BLAS", Kept.of(fields))
    places: dict[FlowNode, int] = {call: 0}
    memlets: list[Memlet] = []
    for connector, (node, kind) in sources.items():
        place = places.setdefault(node, len(places))
        memlets.append(Memlet(place, 0, "void", connector, (), kind))
    blocks.append(dataflow.block(tuple(places), tuple(memlets)))
    return blocks
