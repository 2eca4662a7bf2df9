"""Takes a run of statements apart into what has nothing to do with each other.

docc puts computations that share nothing but operands into one block. Neither of two pieces touches
what the other one writes, so within an iteration they may run in any order, and distribution may
give each a loop of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopbook.program import expr
from loopbook.sdfg.document import Types
from loopbook.sdfg.looptree import Json, Statement, private_scalars, touches
from loopbook.sdfg.rewrites.document import Draft
from loopbook.sdfg.updates import updates


def pieces(draft: Draft, statement: Statement, variable: str) -> list[Statement]:
    """The statement's independent pieces; itself if it is one.

    docc keeps nodes in no order, so the pieces' must not depend on it: first those whose results
    stay in place along the loop over `variable`, then as their first memlets are numbered.
    """
    if any(element.get("type") != "block" for element in statement.elements):
        return [statement]
    blocks = [part for element in statement.elements for part in _components(draft, element)]
    written = {touch.container for block in blocks for touch in touches(block) if touch.write}
    groups: list[tuple[set[str], list[int]]] = []
    for number, block in enumerate(blocks):
        names = {touch.container for touch in touches(block)}
        for edge in block["dataflow"]["edges"]:
            names.update(expr.symbols(" ".join(edge.get("subset", ()))))
        names &= written
        members = [number]
        for group in [g for g in groups if not g[0].isdisjoint(names)]:
            names |= group[0]
            members += group[1]
            groups.remove(group)
        groups.append((names, sorted(members)))
    if len(groups) < 2:
        return [statement]
    document = draft.document
    operators = updates(statement.elements, Types(document["containers"]))
    private = private_scalars(document)
    counted = {touch.container for touch in statement.touches}
    found: list[Statement] = []
    for _, members in sorted(groups, key=lambda group: group[1][0]):
        piece = Statement([blocks[number] for number in members])
        for block in piece.elements:
            piece.touches += (
                t
                for t in touches(block, operators)
                if t.container in counted and (t.subset or t.container not in private)
            )
        found.append(piece)
    return sorted(found, key=lambda piece: _moves(piece, variable))


def _moves(piece: Statement, variable: str) -> bool:
    texts = [text for touch in piece.touches if touch.write for text in touch.subset]
    return variable in expr.symbols(" ".join(texts))


def _components(draft: Draft, block: Json) -> Iterator[Json]:
    """The block's dataflow in parts without connections; operands go to each part that reads them.

    In the order of the parts' first memlets.
    """
    flow = block["dataflow"]
    targets = {edge["dst"] for edge in flow["edges"]}
    operands = {n["element_id"] for n in flow["nodes"] if n["element_id"] not in targets}
    operands &= {n["element_id"] for n in flow["nodes"] if n["type"] != "tasklet"}
    parts: list[set[int]] = []
    for edge in flow["edges"]:
        joined = {edge["src"], edge["dst"]} - operands
        for part in [p for p in parts if not p.isdisjoint(joined)]:
            joined |= part
            parts.remove(part)
        parts.append(joined)
    loose = {n["element_id"] for n in flow["nodes"]} - operands - {i for p in parts for i in p}
    if len(parts) < 2 or loose:
        yield block
        return
    own = [[dict(e) for e in flow["edges"] if e["dst"] in part] for part in parts]
    for part, edges in sorted(
        zip(parts, own, strict=True), key=lambda p: min(edge["element_id"] for edge in p[1])
    ):
        new = {edge["src"]: draft.fresh_id() for edge in edges if edge["src"] in operands}
        nodes = [
            node | {"element_id": new[node["element_id"]]} if node["element_id"] in new else node
            for node in flow["nodes"]
            if node["element_id"] in part or node["element_id"] in new
        ]
        for edge in edges:
            edge["src"] = new.get(edge["src"], edge["src"])
        yield block | {
            "element_id": draft.fresh_id(),
            "dataflow": flow | {"nodes": nodes, "edges": edges},
        }
