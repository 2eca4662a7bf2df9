"""How `hoist` is done: which elements have indices that do not change in a loop, and are not
written by it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence

from loopbook.dependence import keep_apart
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.sdfg.looptree import LoopNode, Subset, statements
from loopbook.sdfg.rewrites.document import Draft, Json, elements, rewriting
from loopbook.sdfg.rewrites.region import Region
from loopbook.steps.hoist import Hoist


@rewriting(Hoist)
def hoist(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Load elements whose indices do not change in an innermost loop before it.

    If the loop does not run at all, nothing is loaded.

    Raises:
        IllegalStepError: there is none, or the loop may write to each.
    """
    region = Region.of(draft, loops[0])
    loop = region.tree(loops[0])
    if any(isinstance(child, LoopNode) for child in loop.children):
        raise IllegalStepError("the loop holds loops")
    changing = {loop.variable} | _written(loop)
    found: dict[tuple[str, Subset], list[tuple[Json, Json]]] = {}
    for flow, edge in _loads(loop.element):
        source = next(n for n in flow["nodes"] if n["element_id"] == edge["src"])
        subset = expr.normal_forms(edge["subset"])
        if changing.isdisjoint(s for text in subset for s in expr.symbols(text)):
            found.setdefault((source["data"], subset), []).append((flow, edge))
    place = region.place(loops[0])
    loaded: list[Json] = []
    for (array, subset), uses in found.items():
        if not _kept(loop, region.around, array, subset):
            continue
        scalar = _scalar(draft, array)
        loaded.append(draft.copy_block((array, subset), (scalar, ())))
        for flow, edge in uses:
            _redirect(draft, flow, edge, scalar)
    if not loaded:
        raise IllegalStepError("the loop reads nothing that it does not change")
    for flow in (e["dataflow"] for e in elements(loop.element) if "dataflow" in e):
        used = {edge[end] for edge in flow["edges"] for end in ("src", "dst")}
        flow["nodes"] = [node for node in flow["nodes"] if node["element_id"] in used]
    region.siblings.insert(place, _guarded(draft, loop, loaded))


def _written(loop: LoopNode) -> set[str]:
    """Scalars and arrays that the loop writes."""
    return {
        node["data"]
        for element in elements(loop.element)
        for flow in [element.get("dataflow", {"nodes": [], "edges": []})]
        for node in flow["nodes"]
        if node["type"] == "access_node"
        and any(edge["dst"] == node["element_id"] for edge in flow["edges"])
    } | {
        str(assignment["symbol"])
        for element in elements(loop.element)
        for assignment in element.get("assignments", ())
    }


def _loads(root: Json) -> Iterator[tuple[Json, Json]]:
    """Each edge by which a block that always runs reads an element, with its dataflow."""
    for child in root["root"]["children"]:
        flow = child.get("dataflow", {"nodes": [], "edges": []})
        nodes = {node["element_id"]: node for node in flow["nodes"]}
        for edge in flow["edges"]:
            ends = nodes[edge["src"]]["type"], nodes[edge["dst"]]["type"]
            if ends == ("access_node", "tasklet") and edge.get("subset"):
                yield flow, edge


def _kept(loop: LoopNode, around: Sequence[LoopNode], array: str, subset: Subset) -> bool:
    """Whether the loop writes to no element that it reads there."""
    written = {
        expr.normal_forms(touch.subset)
        for statement, _ in statements(loop)
        for touch in statement.touches
        if touch.write and touch.container == array
    }
    return all(other and keep_apart(loop, around, array, subset, other) for other in written)


def _scalar(draft: Draft, array: str) -> str:
    """A new scalar of the type of an array's elements."""
    kind = draft.document["containers"][array]
    element = kind.get("pointee_type", {})
    if kind.get("type") != "pointer" or element.get("type") != "scalar":
        raise IllegalStepError(f"{array} is no plain array")
    name = draft.fresh_variable(f"{array}_kept", array)
    draft.document["containers"][name] = copy.deepcopy(element)
    return name


def _redirect(draft: Draft, flow: Json, edge: Json, scalar: str) -> None:
    """Let an edge read the scalar."""
    source = next(n for n in flow["nodes"] if n["element_id"] == edge["src"])
    edge["src"] = draft.fresh_id()
    flow["nodes"].append({**source, "element_id": edge["src"], "data": scalar})
    edge["subset"] = []
    edge["base_type"] = copy.deepcopy(draft.document["containers"][scalar])


def _guarded(draft: Draft, loop: LoopNode, loaded: list[Json]) -> Json:
    """The loads, for when the loop runs at all."""
    start = f"({loop.element['init']})"
    condition = expr.substitute(loop.element["condition"], {loop.variable: start})
    sequence = draft.sequence(loaded)
    branch = {"condition": condition, "root": sequence}
    return {
        "type": "if_else",
        "element_id": draft.fresh_id(),
        "debug_info": copy.deepcopy(sequence["debug_info"]),
        "branches": [branch],
    }
