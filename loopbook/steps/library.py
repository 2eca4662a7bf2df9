from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

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
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.kept import Kept
from loopbook.program.tree import Node
from loopbook.program.types import Pointer, Type, type_of
from loopbook.steps.accumulation import Accumulation, accumulation
from loopbook.steps.arguments import Loop
from loopbook.steps.base import Step
from loopbook.steps.editor import Editor
from loopbook.steps.products import Product, product

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
    products of parts of the arrays.
    """

    name = "library"
    textbook = "replacement of an idiom by a library call"
    source = "Dongarra, Du Croz, Hammarling and Duff, ACM TOMS 16(1), 1990"
    example = "library L0"
    ends = True
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
        outermost = _outermost(editor, self.loop)
        loops, block = _perfect(outermost)
        variables = frozenset(loop.variable for loop in loops)
        extents = {loop.variable: _extent(editor, loop, variables) for loop in loops}
        found = accumulation(block, variables)
        dtype = _checked(editor, loops, found)
        what = product(found, extents, {loop.variable: loop.init for loop in loops})
        *around, whole = loops[: len(loops) + 1 - len(what.variables)]
        for loop in around:
            if loop.variable in what.variables:
                raise IllegalStepError(f"{editor.name_of(loop)} is not inside all of the product")
        once = expr.smallest(["1", *map(expr.text, (what.rows, what.columns, what.inner))])
        new = replace(
            _serial(whole, *_call(editor, what, dtype, _factor(found))),
            init=Expr("0"),
            condition=Expr(f"({whole.variable} < {once})"),
        )
        for loop in reversed(around):
            new = _serial(loop, new)  # its iterations share the pointers
        assert outermost.id is not None
        editor.put_at(editor.path(outermost.id), new)


def _serial(loop: tree.Loop, *body: Node) -> tree.Loop:
    return replace(loop, kind="for", reductions=None, body=replace(loop.body, children=body))


# -- what the nest is ------------------------------------------------------------------------------


def _outermost(editor: Editor, name: str) -> tree.Loop | tree.While:
    """The loop around a loop, or itself, that stands in no other one."""
    way = walk.way(editor.program, editor.path(editor.id_of(name)))
    return next(node for node in way if isinstance(node, tree.Loop | tree.While))


def _perfect(loop: tree.Loop | tree.While) -> tuple[list[tree.Loop], Block]:
    """The loops of a perfect nest, outermost first, and the block that is all there is in them.

    Raises:
        IllegalStepError: there is more.
    """
    loops: list[tree.Loop] = []
    node: Node = loop
    while isinstance(node, tree.Loop):
        loops.append(node)
        if len(node.body.children) != 1:
            raise IllegalStepError("the loops are not perfectly nested")
        (node,) = node.body.children
    if not isinstance(node, Block):
        raise IllegalStepError(f"there is a {type(node).__name__.lower()} in it")
    return loops, node


def _extent(editor: Editor, loop: tree.Loop, variables: frozenset[str]) -> Polynomial:
    """How often a loop runs that counts by ones, whatever the others do.

    Raises:
        IllegalStepError: it is another one.
    """
    bounds = loop.bounds
    if bounds.step != 1 or len(bounds.lows) != 1 or len(bounds.highs) != 1:
        raise IllegalStepError(f"{editor.name_of(loop)} does not count to one bound by ones")
    (low,), (high,) = bounds.lows, bounds.highs
    if not variables.isdisjoint(expr.mentioned(low) | expr.mentioned(high)):
        raise IllegalStepError(f"the bound of {editor.name_of(loop)} depends on other loops")
    return expr.plus(high, low, -1)


def _checked(editor: Editor, loops: Sequence[tree.Loop], found: Accumulation) -> str:
    """The type of all numbers, if they are of one type, no two of the arrays overlap, and nobody
    needs the scalars on the way.

    Raises:
        IllegalStepError: this is not so.
    """
    types = editor.program.containers
    arrays = {found.target.data, *(factor.data for factor in found.factors)}
    if found.target.data in {factor.data for factor in found.factors}:
        raise IllegalStepError("the sums are factors too")
    used = {type_of(name, types).element for name in (*arrays, *found.coefficients, *found.scalars)}
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


def _factor(found: Accumulation) -> str | float:
    """The number, or the scalar that holds it, by which the product is multiplied.

    Raises:
        IllegalStepError: it would have to be computed.
    """
    constant = math.prod(found.constants, start=1.0)
    if not found.coefficients:
        return constant
    if len(found.coefficients) == 1 and constant == 1:
        return found.coefficients[0]
    raise IllegalStepError("the product is multiplied by more than one number")


def _call(editor: Editor, what: Product, dtype: str, factor: str | float) -> list[Node]:
    """A call of the library, behind the pointers that it needs."""
    matrices = {"__A": what.left, "__B": what.right, "__C": what.result}
    blocks: list[Node] = []
    data: dict[str, str] = {}
    for connector, matrix in matrices.items():
        data[connector] = matrix.data
        if matrix.start:
            kind = editor.program.containers[matrix.data]
            assert isinstance(kind, Pointer)
            pointer = data[connector] = editor.pointer(f"{matrix.data}_part", kind)
            blocks.append(editor.address(matrix.data, pointer, expr.text(matrix.start)))
    types = editor.program.containers
    number = editor.element_type(data["__C"])
    # docc allows one node for each array: a matrix may be multiplied by its own transpose.
    nodes = {name: AccessNode(name) for name in data.values()}
    sources: dict[str, tuple[FlowNode, Type]] = {
        connector: (nodes[name], types[name]) for connector, name in data.items()
    }
    alpha = AccessNode(factor) if isinstance(factor, str) else Constant(repr(factor), number)
    sources |= {"__alpha": (alpha, number), "__beta": (Constant(repr(1.0), number), number)}
    fields = {"layout": ROW_MAJOR, "precision": PRECISIONS[dtype]}
    sizes = {"m": what.rows, "n": what.columns, "k": what.inner}
    sizes |= {f"ld{name[-1].lower()}": matrix.leading for name, matrix in matrices.items()}
    fields |= {name: expr.text(size) for name, size in sizes.items()}
    for name in ("__A", "__B"):
        how = TRANSPOSED if matrices[name].transposed else AS_STORED
        fields[f"trans_{name[-1].lower()}"] = how
    call = LibraryNode("GEMM", "BLAS", Kept.of(fields))
    places: dict[FlowNode, int] = {call: 0}
    memlets: list[Memlet] = []
    for connector, (node, kind) in sources.items():
        place = places.setdefault(node, len(places))
        memlets.append(Memlet(place, 0, "void", connector, (), kind))
    return [*blocks, dataflow.block(tuple(places), tuple(memlets))]
