"""An order for the nodes of a dataflow graph that depends on the graph, not on the file.

docc writes the nodes of a block in an order that changes from run to run. Names, canonical text and
fingerprints must not, so nodes are sorted by what they compute. Each node gets a colour, which says
what is known about it (operation, container, indices), and colours are refined by those of the
neighbours, as in the Weisfeiler-Lehman test of graph isomorphism.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from loopbook.errors import SdfgError

Json = dict[str, Any]
Key = TypeVar("Key")
Edges = Mapping[int, list[Json]]
Colour = tuple[int, int]
"""Level of the node, number of the colour among those of its level."""

SWEEPS = 3
"""Down, up, and down again: enough for every node to hear of the whole graph."""

ROUNDS = 8
"""How far, in edges, containers look around to be told apart."""


def program_order(
    nodes: Mapping[int, Json],
    inputs: Edges,
    outputs: Edges,
    describe: Callable[[Json], str],
    index: Callable[[Json], str],
) -> list[int]:
    """The nodes' ids in topological order, nodes without order among them by what they compute.

    Args:
        nodes: the nodes by element id.
        inputs: edges into each node.
        outputs: edges out of each node.
        describe: what is known about a node by itself, free of the program's names.
        index: the same for an edge's subset.

    Raises:
        SdfgError: if the dataflow runs in a circle.
    """
    levels = _levels(nodes, inputs, outputs)
    if all(_free(level, nodes, inputs) for level in levels):
        return [key for level in levels for key in level]
    colours = _colours(levels, nodes, inputs, outputs, describe, index)
    place: dict[int, int] = {}

    def rank(key: int) -> tuple[Colour, list[int]]:
        # Nodes that look the same follow the order of those that they take their values from.
        return colours[key], sorted(place[int(edge["src"])] for edge in inputs[key])

    for level in levels:
        for key in sorted(level, key=rank):
            place[key] = len(place)
    return list(place)


def _levels(nodes: Mapping[int, Json], inputs: Edges, outputs: Edges) -> list[list[int]]:
    """Node ids by the length of the longest way to them."""
    waiting = {key: len(edges) for key, edges in inputs.items()}
    ready = [key for key, count in waiting.items() if count == 0]
    levels = []
    while ready:
        levels.append(ready)
        following = []
        for key in ready:
            for edge in outputs[key]:
                target = int(edge["dst"])
                waiting[target] -= 1
                if waiting[target] == 0:
                    following.append(target)
        ready = following
    if sum(map(len, levels)) != len(nodes):
        raise SdfgError("the SDFG has a block whose dataflow runs in a circle")
    return levels


def _free(level: list[int], nodes: Mapping[int, Json], inputs: Edges) -> bool:
    """Whether the order inside a level does not matter: at most one node of it does anything."""
    return sum("data" not in nodes[key] or bool(inputs[key]) for key in level) < 2


def _colours(
    levels: list[list[int]],
    nodes: Mapping[int, Json],
    inputs: Edges,
    outputs: Edges,
    describe: Callable[[Json], str],
    index: Callable[[Json], str],
) -> dict[int, Colour]:
    depths = list(enumerate(levels))
    colours: dict[int, Colour] = {}
    for depth, level in depths:
        colours |= _numbered(depth, {key: describe(nodes[key]) for key in level})
    texts = {id(edge): index(edge) for edges in inputs.values() for edge in edges}

    def seen(edge: Json, end: str) -> tuple[str, str, str, Colour]:
        connectors = str(edge["src_conn"]), str(edge["dst_conn"])
        return *connectors, texts[id(edge)], colours[int(edge[end])]

    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        edges, end = (inputs, "src") if down else (outputs, "dst")
        for depth, level in depths if down else reversed(depths):
            refined = {
                key: (colours[key], tuple(sorted(seen(edge, end) for edge in edges[key])))
                for key in level
            }
            colours |= _numbered(depth, refined)
    return colours


def _numbered(depth: int, described: Mapping[Key, Any]) -> dict[Key, Colour]:
    """A colour for each different description, in their order."""
    numbers = {text: number for number, text in enumerate(sorted(set(described.values())))}
    return {key: (depth, numbers[text]) for key, text in described.items()}


def is_data(node: Json) -> bool:
    """Whether a dataflow node stands for a container (and not for an operation or a constant)."""
    return "data" in node and "data_type" not in node


def container_roles(
    flows: list[Json], kinds: Mapping[str, str], opcode: Callable[[Json], str]
) -> dict[str, int]:
    """A number for each container: equal only for those that all dataflow uses in the same way.

    Args:
        flows: the dataflow graphs of a nest's blocks, in program order.
        kinds: the containers, and what is known about each by itself.
        opcode: the name of an operation.
    """
    near: dict[Any, list[tuple[str, str, Any]]] = {name: [] for name in kinds}
    first: dict[Any, tuple[int, str]] = {name: (-1, kind) for name, kind in kinds.items()}
    for number, flow in enumerate(flows):
        for node in flow["nodes"]:
            key = number, int(node["element_id"])
            near[key] = []
            if is_data(node):
                first[key] = number, ""
                near[key].append(("", "", node["data"]))
                near[node["data"]].append(("", "", key))
            else:
                first[key] = number, str(node["data"]) if "data" in node else opcode(node)
        for edge in flow["edges"]:
            source, target = (number, int(edge["src"])), (number, int(edge["dst"]))
            ends = str(edge["src_conn"]), str(edge["dst_conn"])
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
