"""Integers that get values which nobody reads.

Before::

    for i: m = n - 4; {}; for j < n - 4: ...

and after::

    for i: for j < n - 4: ...

docc's front end gives the end of each loop a name and then writes it out. Between two loops that
hides that they are a nest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from loopbook.program import walk
from loopbook.program.accesses import own_accesses, own_symbols
from loopbook.program.dataflow import Statement
from loopbook.program.element import like
from loopbook.program.tree import Assignments, Loop, Program
from loopbook.program.types import UnknownType, sizes

Outer = TypeVar("Outer", bound=Program | walk.Inner)


def without_unread_integers(program: Program) -> Program:
    """The program without these, and without statements that do nothing; itself if all are read."""
    read = frozenset(_reads(program))

    def busy(node: Outer) -> Outer:
        new = [kept for child in walk.children(node) if (kept := _kept(child, read)) is not None]
        return walk.with_new(node, new) if new else node

    smaller = busy(walk.rebuilt(program, busy))
    return program if smaller is program else without_unread_integers(smaller)


def _kept(node: walk.Inner, read: frozenset[str]) -> walk.Inner | None:
    """What stays of a node."""
    if type(node) is Statement and not node.nodes:
        return None
    if not isinstance(node, Assignments) or all(one.symbol in read for one in node.assignments):
        return node
    kept = tuple(one for one in node.assignments if one.symbol in read)
    return like(node, assignments=kept) if kept else None


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
