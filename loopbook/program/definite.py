"""What a loop's body has written, whatever branches say (definite assignment)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from loopbook.program import accesses, walk
from loopbook.program.accesses import own_accesses, own_symbols, written
from loopbook.program.conditions import covers_all
from loopbook.program.dataflow import AccessNode, Block
from loopbook.program.tree import Assignments, Branch


def written_first(body: Sequence[walk.Inner], names: Collection[str]) -> set[str] | None:
    """Those of some containers that are written in any case; None if one may be read before.

    Args:
        body: blocks, assignments and branches, in their order. What else stands there writes
            nothing for sure.
    """
    return _written(body, frozenset(names), frozenset())


def _written(
    body: Sequence[walk.Inner], names: frozenset[str], known: frozenset[str]
) -> set[str] | None:
    done = set(known)
    for node in body:
        if isinstance(node, Block):
            if (own_symbols(node) | _taken(node)) & names - done:
                return None
            done |= {access.container for access in own_accesses(node) if access.write} & names
        elif isinstance(node, Assignments):
            if own_symbols(node) & names - done:
                return None
            done |= written(node) & names
        elif isinstance(node, Branch):
            found = [
                None
                if case.condition.symbols & names - done
                else _written(case.body.children, names, frozenset(done))
                for case in node.cases
            ]
            if any(one is None for one in found):
                return None
            if covers_all([case.condition for case in node.cases]):
                done |= set.intersection(*(one for one in found if one is not None))
        elif accesses.names(node) & names - done:
            return None
    return done


def _taken(block: Block) -> set[str]:
    """What a block reads that it has not written itself."""
    return {
        node.container
        for place, node in enumerate(block.nodes)
        if isinstance(node, AccessNode) and block.outputs[place] and not block.inputs[place]
    }
