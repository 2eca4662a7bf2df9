"""A canonical order for what docc may compute in any order.

docc merges statements that do not depend on each other into one block, and generates their code in
an order that follows addresses in its memory: another one in every process. Clang cannot tell most
arrays apart, so a load that comes after a store to another array may keep it from vectorising: of
the two orders of ``bicg``'s statements one runs five times as fast as the other (seen with docc
0.8.1 and clang 19). Cut into a block for each statement, the order stays: first what ends in
scalars, then what stores to arrays, otherwise as the program has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loopbook.program.dataflow import AccessNode, Block, LibraryNode, Memlet, age, part
from loopbook.program.tree import Program
from loopbook.program.types import Type
from loopbook.program.walk import Inner, spread

Places = set[int]
"""Of nodes of a block."""


def in_canonical_order(program: Program) -> Program:
    """A scheduled program whose independent statements have an order of their own; itself if there
    are none. Loops keep docc's numbers."""

    def cut(node: Inner) -> list[Inner]:
        return [*_statements(node, program.containers)] if isinstance(node, Block) else [node]

    return spread(program, cut)


def _statements(whole: Block, containers: Mapping[str, Type]) -> list[Block]:
    """The block cut into its independent statements; itself if there is only one."""
    groups = _groups(whole)
    if len(groups) < 2 or _clash(whole, groups):
        return [whole]
    groups.sort(key=lambda group: (_stores(whole, group, containers), _age(whole, group)))
    return [part(whole, _into(whole, group)) for group in groups]


def _into(whole: Block, group: Places) -> list[Memlet]:
    return [memlet for memlet in whole.memlets if memlet.target in group]


def _groups(whole: Block) -> list[Places]:
    """Nodes that belong together. What is only read belongs to whoever reads it."""
    group = {memlet.target: {memlet.target} for memlet in whole.memlets}
    for memlet in whole.memlets:
        first, second = group.get(memlet.source), group[memlet.target]
        if first is not None and first is not second:
            first |= second
            group |= dict.fromkeys(second, first)
    return list({id(places): places for places in group.values()}.values())


def _clash(whole: Block, groups: list[Places]) -> bool:
    """Whether a statement writes what another one mentions, so that their order may matter."""
    written = [_containers(whole, group) for group in groups]
    for number, group in enumerate(groups):
        others = set().union(*written[:number], *written[number + 1 :])
        if not others.isdisjoint(_mentioned(whole, group)):
            return True
    return False


def _mentioned(whole: Block, group: Places) -> set[str]:
    memlets = _into(whole, group)
    found = _containers(whole, group | {memlet.source for memlet in memlets})
    found.update(*(index.symbols for memlet in memlets for index in memlet.subset))
    calls = (whole.nodes[place] for place in group)
    return found.union(*(call.fields.symbols for call in calls if isinstance(call, LibraryNode)))


def _containers(whole: Block, places: Iterable[int]) -> set[str]:
    nodes = (whole.nodes[place] for place in places)
    return {node.container for node in nodes if isinstance(node, AccessNode)}


def _stores(whole: Block, group: Places, containers: Mapping[str, Type]) -> bool:
    """Whether the statement writes to memory."""
    names = _containers(whole, group)
    return any(name in containers and containers[name].is_array for name in names)


def _age(whole: Block, group: Places) -> int:
    """The number of the statement's oldest node; its place among nodes follows addresses, too."""
    return min(age(whole.nodes[place]) for place in group)
