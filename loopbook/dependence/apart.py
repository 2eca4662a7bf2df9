"""Takes a statement apart into what has nothing to do with each other.

docc puts computations that share nothing but operands into one block. Neither of two pieces touches
what the other one writes, so within an iteration they may run in any order, and distribution may
give each a loop of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopbook.dependence.body import Statement
from loopbook.dependence.scalars import private_scalars
from loopbook.dependence.touches import touches
from loopbook.dependence.updates import updates
from loopbook.program.accesses import own_names, written
from loopbook.program.dataflow import Block, Memlet, Tasklet
from loopbook.program.tree import Program


def taken_apart(statement: Statement, variable: str, program: Program) -> list[Statement]:
    """The statement's independent pieces; itself if it is one.

    docc keeps nodes in no order, so the pieces' must not depend on it: first those whose results
    stay in place along the loop over `variable`, then as their first memlets are numbered.
    """
    nodes = [node for node in statement.nodes if isinstance(node, Block)]
    if len(nodes) < len(statement.nodes):
        return [statement]
    operators = dict(updates(nodes, program.containers))
    blocks = [part for node in nodes for part in _parts(node, operators)]
    groups = _groups(blocks)
    if len(groups) < 2:
        return [statement]
    private = private_scalars(program)
    counted = {touch.container for touch in statement.touches}
    found: list[Statement] = []
    for members in groups:
        piece = Statement([blocks[number] for number in members])
        piece.touches = [
            touch
            for block in piece.nodes
            for touch in touches(block, operators)
            if touch.container in counted and (touch.subset or touch.container not in private)
        ]
        found.append(piece)
    return sorted(found, key=lambda piece: _moves(piece, variable))


def _groups(blocks: list[Block]) -> list[list[int]]:
    """The blocks, by number, with those that touch what they write; by the first one of each."""
    stored = frozenset().union(*map(written, blocks))
    groups: list[tuple[frozenset[str], list[int]]] = []
    for number, block in enumerate(blocks):
        names, members = own_names(block) & stored, [number]
        for group in [group for group in groups if not group[0].isdisjoint(names)]:
            names |= group[0]
            members += group[1]
            groups.remove(group)
        groups.append((names, sorted(members)))
    return sorted(members for _, members in groups)


def _moves(piece: Statement, variable: str) -> bool:
    return any(
        variable in index.symbols
        for touch in piece.touches
        if touch.write
        for index in touch.subset
    )


def _parts(block: Block, operators: dict[Memlet, str]) -> Iterator[Block]:
    """The block's dataflow in parts without connections; operands go to each part that reads them.

    In the order of the parts' first memlets.

    Args:
        operators: of updates, by memlet; those of the parts' memlets are added.
    """
    operands = {
        place
        for place, node in enumerate(block.nodes)
        if not block.inputs[place] and not isinstance(node, Tasklet)
    }
    parts: list[set[int]] = []
    for memlet in block.memlets:
        joined = {memlet.source, memlet.target} - operands
        for part in [part for part in parts if not part.isdisjoint(joined)]:
            joined |= part
            parts.remove(part)
        parts.append(joined)
    loose = set(range(len(block.nodes))).difference(operands, *parts)
    if len(parts) < 2 or loose:
        yield block
        return
    numbers = {memlet: _number(block, memlet) for memlet in block.memlets}
    own = [[memlet for memlet in block.memlets if memlet.target in part] for part in parts]
    for memlets in sorted(own, key=lambda memlets: min(map(numbers.__getitem__, memlets))):
        places = sorted({end for memlet in memlets for end in (memlet.source, memlet.target)})
        at = {place: number for number, place in enumerate(places)}
        new = [replace(m, source=at[m.source], target=at[m.target]) for m in memlets]
        found = zip(memlets, new, strict=True)
        operators |= {memlet: operators[old] for old, memlet in found if old in operators}
        nodes = tuple(block.nodes[place] for place in places)
        yield replace(block, id=None, nodes=nodes, memlets=tuple(new))


def _number(block: Block, memlet: Memlet) -> tuple[bool, int]:
    """Where a memlet stands among the block's: those of ours, without numbers, in our order."""
    return memlet.id is None, memlet.id or block.memlets.index(memlet)
