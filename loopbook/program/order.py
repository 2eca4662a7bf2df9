"""An order for the nodes of a dataflow graph that depends on the graph, not on the file.

docc writes the nodes of a block in an order that changes from run to run. Names, canonical text and
fingerprints must not, so nodes are sorted by what they compute. Each node gets a colour, which says
what is known about it (operation, container, indices), and colours are refined by those of the
neighbours, as in the Weisfeiler-Lehman test of graph isomorphism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from loopbook.errors import SdfgError
from loopbook.program.dataflow import AccessNode, Block, Constant, Memlet, Node, Operation, age

Key = TypeVar("Key")
Colour = tuple[int, int]
"""Level of the node, number of the colour among those of its level."""

SWEEPS = 3
"""Down, up, and down again: enough for every node to hear of the whole graph."""

ROUNDS = 8
"""How far, in edges, containers look around to be told apart."""


def program_order(
    block: Block, describe: Callable[[Node], str], index: Callable[[Memlet], str]
) -> list[int]:
    """The places of a block's nodes in topological order, nodes without order among them by what
    they compute.

    Args:
        describe: what is known about a node by itself, free of the program's names.
        index: the same for a memlet's subset.

    Raises:
        SdfgError: if the dataflow runs in a circle.
    """
    levels = _levels(block)
    if all(_free(level, block) for level in levels):
        return [place for level in levels for place in level]
    colours = _colours(levels, block, describe, index)
    done: dict[int, int] = {}

    def rank(place: int) -> tuple[Colour, list[int], int]:
        # Nodes that look the same follow the order of those that they take their values from. Of
        # those that are the same (two arrays may change places), the older one comes first.
        sources = sorted(done[memlet.source] for memlet in block.inputs[place])
        return colours[place], sources, age(block.nodes[place])

    for level in levels:
        for place in sorted(level, key=rank):
            done[place] = len(done)
    return list(done)


def _levels(block: Block) -> list[list[int]]:
    """Nodes by the length of the longest way to them."""
    waiting = [len(memlets) for memlets in block.inputs]
    ready = [place for place, count in enumerate(waiting) if count == 0]
    levels = []
    while ready:
        levels.append(ready)
        following = []
        for place in ready:
            for memlet in block.outputs[place]:
                waiting[memlet.target] -= 1
                if waiting[memlet.target] == 0:
                    following.append(memlet.target)
        ready = following
    if sum(map(len, levels)) != len(block.nodes):
        raise SdfgError("the SDFG has a block whose dataflow runs in a circle")
    return levels


def _free(level: list[int], block: Block) -> bool:
    """Whether the order inside a level does not matter: at most one node of it does anything."""
    return sum(isinstance(block.nodes[p], Operation) or bool(block.inputs[p]) for p in level) < 2


def _colours(
    levels: list[list[int]],
    block: Block,
    describe: Callable[[Node], str],
    index: Callable[[Memlet], str],
) -> dict[int, Colour]:
    depths = list(enumerate(levels))
    colours: dict[int, Colour] = {}
    for depth, level in depths:
        colours |= _numbered(depth, {place: describe(block.nodes[place]) for place in level})
    texts: dict[Memlet, str] = {}

    def seen(memlet: Memlet, end: int) -> tuple[str, str, str, Colour]:
        return memlet.source_connector, memlet.target_connector, texts[memlet], colours[end]

    for sweep in range(SWEEPS):
        if len(set(colours.values())) == len(colours):
            break  # all are told apart, and finer colours keep their order
        texts = texts or {memlet: index(memlet) for memlet in block.memlets}
        down = sweep % 2 == 0
        for depth, level in depths if down else reversed(depths):
            refined = {
                place: (
                    colours[place],
                    tuple(
                        sorted(
                            [seen(memlet, memlet.source) for memlet in block.inputs[place]]
                            if down
                            else [seen(memlet, memlet.target) for memlet in block.outputs[place]]
                        )
                    ),
                )
                for place in level
            }
            colours |= _numbered(depth, refined)
    return colours


def _numbered(depth: int, described: Mapping[Key, Any]) -> dict[Key, Colour]:
    """A colour for each different description, in their order."""
    numbers = {text: number for number, text in enumerate(sorted(set(described.values())))}
    return {key: (depth, numbers[text]) for key, text in described.items()}


def container_roles(blocks: Sequence[Block], kinds: Mapping[str, str]) -> dict[str, int]:
    """A number for each container: equal only for those that all dataflow uses in the same way.

    Args:
        blocks: of a nest, in program order.
        kinds: the containers, and what is known about each by itself.
    """
    near: dict[Any, list[tuple[str, str, Any]]] = {name: [] for name in kinds}
    first: dict[Any, tuple[int, str]] = {name: (-1, kind) for name, kind in kinds.items()}
    for number, block in enumerate(blocks):
        for place, node in enumerate(block.nodes):
            key = number, place
            near[key] = []
            if isinstance(node, AccessNode):
                first[key] = number, ""
                near[key].append(("", "", node.container))
                near[node.container].append(("", "", key))
            else:
                first[key] = number, node.text if isinstance(node, Constant) else node.op
        for memlet in block.memlets:
            source, target = (number, memlet.source), (number, memlet.target)
            ends = memlet.source_connector, memlet.target_connector
            near[source].append((ends[0], f">{ends[1]}", target))
            near[target].append((ends[1], f"<{ends[0]}", source))
    colours = {key: number for key, (_, number) in _numbered(0, first).items()}
    for _ in range(ROUNDS):
        before = len(set(colours.values()))
        seen = {
            key: (colours[key], tuple(sorted((a, b, colours[other]) for a, b, other in edges)))
            for key, edges in near.items()
        }
        colours = {key: number for key, (_, number) in _numbered(0, seen).items()}
        if len(set(colours.values())) == before:
            break
    return {name: colours[name] for name in kinds}
