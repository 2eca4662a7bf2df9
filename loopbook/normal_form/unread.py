"""Integers that get values which nobody reads.

Before::

    for i: m = n - 4; for j < n - 4: ...

and after::

    for i: for j < n - 4: ...

docc's front end gives the end of each loop a name and then writes it out. Between two loops that
hides that they are a nest. Elsewhere they stay: docc may fuse the instructions around wrongly where
nothing is between them (eight sums beside each other, of which one lost what it added to; 0.8.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from loopbook.program import walk
from loopbook.program.accesses import own_accesses, own_symbols
from loopbook.program.dataflow import Statement
from loopbook.program.tree import Assignments, Loop, Program
from loopbook.program.types import UnknownType, sizes


def without_unread_integers(program: Program) -> Program:
    """The program without these, and without statements that do nothing, where a loop is all that
    they are beside; itself if there are none."""
    read = frozenset(_reads(program))

    def alone(node: walk.Inner) -> walk.Inner:
        if not isinstance(node, Loop):
            return node
        busy = [child for child in walk.children(node) if not is_idle(child, read.isdisjoint)]
        is_nest = len(busy) == 1 and isinstance(busy[0], Loop)
        return walk.with_new(node, busy) if is_nest else node

    return walk.rebuilt(program, alone)


def is_idle(node: walk.Inner, are_unread: Callable[[set[str]], bool]) -> bool:
    """Whether a node does nothing, or sets integers that nobody reads."""
    if isinstance(node, Assignments):
        return are_unread({one.symbol for one in node.assignments})
    return type(node) is Statement and not node.nodes


def _reads(program: Program) -> Iterator[str]:
    """The names of what something depends on."""
    yield from program.public
    for kind in program.containers.values():
        if isinstance(kind, UnknownType):
            yield from kind.kept.symbols
        for size in sizes(kind):
            yield from size.symbols
    for node in walk.preorder(program):
        if not isinstance(node, Program):
            yield from own_symbols(node)
            yield from (access.container for access in own_accesses(node) if not access.write)
        if isinstance(node, Loop):
            yield from (one.container for one in node.reductions or ())
