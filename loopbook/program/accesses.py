"""What a node of the program tree reads, writes and names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopbook.program.dataflow import AccessNode, Block, LibraryNode, Memlet
from loopbook.program.element import remembered
from loopbook.program.expr import Expr
from loopbook.program.tree import Assignments, Case, Jump, Loop, Node, Opaque, Program
from loopbook.program.walk import preorder

Part = Program | Node | Case


@dataclass(frozen=True, slots=True)
class Access:
    """One element of a container, or a scalar, is read or written.

    Attributes:
        subset: its index in each dimension; none for scalars and whole containers.
        memlet: that it stands on, unless an assignment writes it.
    """

    container: str
    subset: tuple[Expr, ...]
    write: bool
    memlet: Memlet | None = None


def accesses(node: Part) -> Iterator[Access]:
    """What the dataflow and the assignments below a node read and write, in the tree's order.

    Not among them: what bounds, conditions, indices and right-hand sides of assignments name (see
    `symbols`), and what `Opaque` nodes do.
    """
    for inner in preorder(node):
        yield from own_accesses(inner)


def own_accesses(node: Part) -> tuple[Access, ...]:
    """`accesses` of a node without those below it."""
    return _accesses(node) if isinstance(node, Block | Assignments) else ()


@remembered
def _accesses(node: Assignments | Block) -> tuple[Access, ...]:
    if isinstance(node, Assignments):
        return tuple(Access(assignment.symbol, (), True) for assignment in node.assignments)
    found: list[Access] = []
    for memlet in node.by_age:
        for place, write in ((memlet.source, False), (memlet.target, True)):
            end = node.nodes[place]
            if isinstance(end, AccessNode):
                found.append(Access(end.container, memlet.subset, write, memlet))
    return tuple(found)


@remembered
def written(node: Part) -> frozenset[str]:
    """The containers that are written below a node, loops' own variables not among them."""
    return frozenset(access.container for access in accesses(node) if access.write)


def counted(node: Part) -> frozenset[str]:
    """The variables of the loops below a node, or of itself."""
    return frozenset(inner.variable for inner in preorder(node) if isinstance(inner, Loop))


def symbols(node: Part) -> frozenset[str]:
    """Every name in the expressions below a node: bounds, conditions, indices, right-hand sides.

    Of `Opaque` nodes and library calls, all that may be one.
    """
    return frozenset().union(*map(own_symbols, preorder(node)))


@remembered
def own_symbols(node: Part) -> frozenset[str]:
    """`symbols` of a node without those below it."""
    match node:
        case Loop():
            return node.init.symbols | node.condition.symbols | node.update.symbols
        case Case():
            return node.condition.symbols
        case Assignments():
            return frozenset().union(*(one.expression.symbols for one in node.assignments))
        case Block():
            indices = [index.symbols for memlet in node.memlets for index in memlet.subset]
            calls = [n.fields.symbols for n in node.nodes if isinstance(n, LibraryNode)]
            return frozenset().union(*indices, *calls)
        case Jump(value=value):
            return frozenset({value} - {""})
        case Opaque():
            return node.kept.symbols
    return frozenset()


def names(node: Part) -> frozenset[str]:
    """Everything that is named below a node: containers, loops' variables, and `symbols`."""
    return frozenset().union(*map(own_names, preorder(node)))


@remembered
def own_names(node: Part) -> frozenset[str]:
    """`names` of a node without those below it."""
    found = own_symbols(node) | {access.container for access in own_accesses(node)}
    if isinstance(node, Loop):
        found |= {node.variable, *(one.container for one in node.reductions or ())}
    return found
