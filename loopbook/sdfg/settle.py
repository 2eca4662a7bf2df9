"""Settles the order of what docc may compute in any order.

docc merges statements that do not depend on each other into one block, and generates their code in
an order that follows addresses in its memory: another one in every process. Clang cannot tell most
arrays apart, so a load that comes after a store to another array may keep it from vectorising: of
the two orders of ``bicg``'s statements one runs five times as fast as the other (seen with docc
0.8.1 and clang 19). Cut into a block for each statement, the order stays: first what ends in
scalars, then what stores to arrays, otherwise as the program has it.
"""

from __future__ import annotations

import copy
from typing import Any

from loopbook.sdfg.names import mentioned
from loopbook.sdfg.rewrites.document import Draft, elements

Json = dict[str, Any]


def settle(document: Json) -> bool:
    """Give the independent statements in a scheduled SDFG's document an order of their own.

    Loops keep their element ids.

    Returns:
        Whether there are such statements.
    """
    draft = Draft(document, {})
    changed = False
    for element in elements(draft.document["root"]):
        children = element.get("children")
        if children is None:
            continue
        cut = [part for child in children for part in _statements(draft, child)]
        changed |= len(cut) > len(children)
        element["children"] = cut
    return changed


def _statements(draft: Draft, block: Json) -> list[Json]:
    """The block cut into its independent statements; itself if there is only one."""
    if "dataflow" not in block:
        return [block]
    nodes = {node["element_id"]: node for node in block["dataflow"]["nodes"]}
    edges = block["dataflow"]["edges"]
    groups = _groups(nodes, edges)
    if len(groups) < 2 or _clash(groups, nodes, edges):
        return [block]
    parts = []
    for group in groups:
        inside = [edge for edge in edges if edge["dst"] in group]
        ends = group | {edge["src"] for edge in inside}
        part = copy.deepcopy({key: value for key, value in block.items() if key != "dataflow"})
        part["dataflow"] = copy.deepcopy(
            block["dataflow"] | {"nodes": [nodes[i] for i in nodes if i in ends], "edges": inside}
        )
        parts.append((_stores(draft, group, nodes), min(group), draft.renumbered(part)))
    return [part for _, _, part in sorted(parts, key=lambda entry: entry[:2])]


def _groups(nodes: dict[int, Json], edges: list[Json]) -> list[set[int]]:
    """Nodes that belong together. What is only read belongs to whoever reads it."""
    computed = {edge["dst"] for edge in edges}
    group = {element: {element} for element in nodes if element in computed}
    for edge in edges:
        first, second = group.get(edge["src"]), group[edge["dst"]]
        if first is not None and first is not second:
            first |= second
            group |= dict.fromkeys(second, first)
    return list({id(members): members for members in group.values()}.values())


def _clash(groups: list[set[int]], nodes: dict[int, Json], edges: list[Json]) -> bool:
    """Whether a statement writes what another one mentions, so that their order may matter."""
    written = [{nodes[i]["data"] for i in group if "data" in nodes[i]} for group in groups]
    for place, group in enumerate(groups):
        inside = [edge for edge in edges if edge["dst"] in group]
        own = [nodes[i] for i in group | {edge["src"] for edge in inside}]
        others = set().union(*written[:place], *written[place + 1 :])
        if mentioned([own, inside], others):
            return True
    return False


def _stores(draft: Draft, group: set[int], nodes: dict[int, Json]) -> bool:
    """Whether the statement writes to memory."""
    names = {nodes[element].get("data", "") for element in group}
    declared = draft.document["containers"]
    return any(name in declared and declared[name]["type"] != "scalar" for name in names)
