"""A nest's array accesses as a loop tree: one statement for all that stand in the same loop."""

from __future__ import annotations

from dataclasses import dataclass

from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program.nest import Access, Loop, Nest
from loopbook.sdfg.looptree import LoopNode, Statement, Touch, read_header


@dataclass(frozen=True)
class AccessTree:
    """The accesses inside a loop.

    Attributes:
        loop: what holds all of them.
        around: the loops around it, outermost first, without what is in them.
        nodes: the loops inside, by index.
        placed: the accesses in program order, each with its statement.
    """

    loop: LoopNode
    around: list[LoopNode]
    nodes: dict[int, LoopNode]
    placed: list[tuple[Access, Statement, Touch]]

    @classmethod
    def of(cls, nest: Nest, loop: Loop, *, bounded: bool = True) -> AccessTree:
        """Read what `loop` holds.

        Args:
            bounded: whether to read the loops' bounds, too. Those that are not understood are left
                out.
        """
        around: list[LoopNode] = []
        for outer in nest.ancestry(loop.index)[:-1]:
            around.append(_header(outer, around, bounded))
        nodes: dict[int, LoopNode] = {}
        paths: dict[int, list[LoopNode]] = {loop.parent: around}
        for inner in nest.loops[loop.index :]:
            if loop not in nest.ancestry(inner.index):
                break
            path = paths[inner.parent]
            node = nodes[inner.index] = _header(inner, path, bounded)
            paths[inner.index] = [*path, node]
            if inner.parent in nodes:
                nodes[inner.parent].children.append(node)
        placed: list[tuple[Access, Statement, Touch]] = []
        held: dict[int, Statement] = {}
        for access in nest.accesses:
            container = nest.containers[access.container]
            node = nodes.get(nest.blocks[access.block].parent)
            if container.is_array and node is not None:
                touch = Touch(container.data, access.subset, access.write)
                statement = held.setdefault(nest.blocks[access.block].parent, Statement([]))
                statement.touches.append(touch)
                placed.append((access, statement, touch))
        for number, statement in held.items():
            nodes[number].children.append(statement)
        return cls(nodes[loop.index], around, nodes, placed)


def _header(loop: Loop, around: list[LoopNode], bounded: bool) -> LoopNode:
    variable = loop.indvar or f"{loop.name}'"  # a loop that counts nothing still has iterations
    if not (bounded and loop.indvar):
        return LoopNode({}, variable, [], [], 1, [])
    element = {
        "indvar": variable,
        "init": loop.init,
        "condition": loop.condition,
        "update": loop.update,
    }
    try:
        return read_header(element, frozenset(outer.variable for outer in around))
    except (IllegalStepError, SdfgError):
        return LoopNode(element, variable, [], [], 1, [])
