"""Memory that is allocated once, not in loops, and freed.

Before::

    for k < n - 1:
        t = malloc(8*(1 + k))
        …

and after::

    t = malloc(8*(1 + n - 2))
    for k < n - 1: …
    free(t)

docc allocates where Python would, in loops too, and mostly never frees. Memory that is new in every
iteration is also another place for the same data each time, which no cache knows.
"""

from __future__ import annotations

from loopbook.errors import SdfgError
from loopbook.program import dataflow, expr, walk
from loopbook.program.accesses import written
from loopbook.program.dataflow import AccessNode, Allocation, LibraryNode, Memlet
from loopbook.program.expr import Expr, Polynomial
from loopbook.program.kept import Kept
from loopbook.program.tree import Jump, Loop, Program, While
from loopbook.steps.temporaries import Temporary, changed_each, temporaries


def allocated_once(program: Program) -> Program:
    """The program with its temporaries allocated outside of loops, as large as they ever are."""
    return _freed(changed_each(program, _outside))


def _outside(program: Program, temporary: Temporary) -> Program:
    """The program with a temporary allocated in front of the outermost loop around it.

    Raises:
        SdfgError: it is not known how large it gets.
    """
    if temporary.allocated is None:
        return program
    around = list(walk.way(program, temporary.allocated[:-1]))
    loops = [node for node in around if isinstance(node, Loop | While)]
    if not loops:
        return program
    if any(isinstance(loop, While) or loop.kind == "map" for loop in loops):
        raise SdfgError("a loop without a counter, or whose iterations may each want their own")
    size = temporary.size.polynomial
    for loop in reversed(loops):
        assert isinstance(loop, Loop)
        size = _largest(size, loop)
    fixed = expr.mentioned(size)
    if fixed & written(program) or fixed & {
        node.variable for node in walk.preorder(program) if isinstance(node, Loop)
    }:
        raise SdfgError("its size is computed")
    block = walk.at(program, temporary.allocated)
    assert isinstance(block, Allocation)
    call = LibraryNode("Malloc", block.call.implementation, Kept.of({"size": expr.text(size)}))
    nodes = tuple(call if isinstance(node, LibraryNode) else node for node in block.nodes)
    first = dataflow.block(nodes, block.memlets)
    for path in sorted([temporary.allocated, *temporary.freed], reverse=True):
        program = walk.replaced(program, path)
    return walk.with_children(program, (first, *program.body.children))


def _largest(size: Polynomial, loop: Loop) -> Polynomial:
    """The greatest value of a size in a loop's iterations.

    Raises:
        SdfgError: it is not known.
    """
    if not any(loop.variable in monomial for monomial in size):
        if loop.variable in expr.mentioned(size):
            raise SdfgError("its size is no polynomial")
        return size
    if loop.step != 1 or len(loop.bounds.highs) != 1:
        raise SdfgError("the loop has more than one end")
    last = expr.plus(loop.bounds.highs[0], expr.ONE, -1)
    if any(factor < 0 for m, factor in size.items() if loop.variable in m):
        raise SdfgError("it gets smaller")
    if any(not s.isidentifier() and loop.variable in expr.symbols(s) for m in size for s in m):
        raise SdfgError("its size is no polynomial")
    text = expr.substitute(expr.text(size), {loop.variable: f"({expr.text(last)})"})
    return Expr(text).polynomial


def _freed(program: Program) -> Program:
    """The program with all temporaries freed at its end that were allocated at its beginning."""
    ends = [
        p for p, node in walk.places(program) if isinstance(node, Jump) and node.kind == "return"
    ]
    children = program.body.children
    if ends and ends != [(len(children) - 1,)]:
        return program
    lost = [
        one
        for one in temporaries(program).values()
        if one.allocated is not None and len(one.allocated) == 1 and not one.freed
    ]
    if not lost:
        return program
    frees = [_free(one.container, program) for one in lost]
    place = len(children) - len(ends)
    return walk.with_children(program, (*children[:place], *frees, *children[place:]))


def _free(name: str, program: Program) -> Allocation:
    nodes = AccessNode(name), LibraryNode("Free", "", Kept.of({}))
    memlet = Memlet(0, 1, "void", "_ptr", (), program.containers[name])
    block = dataflow.block(nodes, (memlet,))
    assert isinstance(block, Allocation)
    return block
