"""What is another value in other iterations of a loop."""

from __future__ import annotations

from loopbook.program.accesses import accesses, names, own_accesses, own_symbols, written
from loopbook.program.dataflow import Block, LibraryNode
from loopbook.program.tree import Assignments, Branch, Case, Jump, Loop, Opaque, While
from loopbook.program.walk import Inner, children, preorder


def varying(loop: Loop) -> frozenset[str]:
    """Names that may mean something else in two iterations of a loop, each at the same place in it:
    its variable, arrays that it writes, and scalars that hang on these, by what they are computed
    of or by what decides whether they are.

    Others have one value for all iterations, if each iteration sets them before it reads them.
    """
    found = {loop.variable, *(a.container for a in accesses(loop) if a.write and a.subset)}
    unsure = any(isinstance(node, Jump | While | Opaque) for node in preorder(loop))
    size = 0
    while len(found) > size:
        size = len(found)
        for child in children(loop):
            _grow(child, found, unsure)
    return frozenset(found)


def _grow(node: Inner, found: set[str], guarded: bool) -> None:
    """Add what hangs on the names that have been found.

    Args:
        guarded: whether they decide if the node runs, or how often.
    """
    match node:
        case Block():
            if guarded or not found.isdisjoint(_read(node)) or _calls(node):
                found |= written(node)
            return
        case Assignments():
            for one in node.assignments:
                if guarded or not found.isdisjoint(one.expression.symbols):
                    found.add(one.symbol)
            return
        case Branch():
            guarded |= any(not found.isdisjoint(one.condition.symbols) for one in node.cases)
        case Loop():
            guarded |= not found.isdisjoint(own_symbols(node))
            if guarded:
                found.add(node.variable)
    for child in children(node):
        _grow(child, found, guarded)


def _read(block: Block) -> frozenset[str]:
    read = {access.container for access in own_accesses(block) if not access.write}
    return own_symbols(block) | read


def _calls(block: Block) -> bool:
    return any(isinstance(node, LibraryNode) for node in block.nodes)


def is_same(node: Inner, varies: frozenset[str]) -> bool:
    """Whether a node without loops does the same in all iterations, and sets nothing but scalars.

    Args:
        varies: what is `varying` there, and maybe more.
    """
    plain = all(isinstance(inner, Block | Assignments | Branch | Case) for inner in preorder(node))
    return plain and varies.isdisjoint(names(node))
