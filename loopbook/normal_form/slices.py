"""The part of a loop's body that some arrays' values come of (Weiser, ICSE 1981)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from loopbook.program import dataflow, walk
from loopbook.program.accesses import own_accesses, own_symbols
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Assignments, Branch, Node


def sliced(body: Sequence[Node], wanted: Collection[str], own: Collection[str]) -> tuple[Node, ...]:
    """A body of blocks, assignments and branches without what does nothing for some containers.

    Args:
        wanted: the containers whose values are.
        own: the scalars that nothing else reads.
    """
    live = frozenset(wanted) - frozenset(own)
    while True:
        found = live | (_read(body, live) & frozenset(own))
        if found == live:
            return tuple(_kept(body, live))
        live = found


def _read(body: Sequence[walk.Inner], live: frozenset[str]) -> set[str]:
    """What is read by what stays."""
    found: set[str] = set()
    for node in _kept(body, live):
        for inner in walk.preorder(node):
            found |= own_symbols(inner)
            found |= {access.container for access in own_accesses(inner) if not access.write}
    return found


def _kept(body: Sequence[walk.Inner], live: frozenset[str]) -> list[Node]:
    """What of a body writes what is live."""
    made: list[Node] = []
    for node in body:
        if isinstance(node, Block):
            if (part := _part(node, live)) is not None:
                made.append(part)
        elif isinstance(node, Assignments):
            if any(access.write and access.container in live for access in own_accesses(node)):
                made.append(node)
        elif isinstance(node, Branch):
            cases = [walk.with_new(case, _kept(case.body.children, live)) for case in node.cases]
            if any(case.body.children for case in cases):
                made.append(walk.with_new(node, cases))
    return made


def _part(block: Block, live: frozenset[str]) -> Block | None:
    """What of a block writes what is live: the whole block where that is all of it."""
    waiting = [
        place
        for place, node in enumerate(block.nodes)
        if isinstance(node, AccessNode) and block.inputs[place] and node.container in live
    ]
    needed = set(waiting)
    while waiting:
        for memlet in block.inputs[waiting.pop()]:
            if memlet.source not in needed:
                needed.add(memlet.source)
                waiting.append(memlet.source)
    memlets = [memlet for memlet in block.memlets if memlet.target in needed]
    if len(memlets) == len(block.memlets):
        return block
    return dataflow.part(block, memlets) if memlets else None
