"""How `demote` is done: which scalar is loaded from an element first and stored there last, with
nothing in between that uses the element.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from loopbook.dependence import never_meet
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.sdfg.document import Types, assigned_symbols, opcode
from loopbook.sdfg.looptree import LoopNode, Statement, Touch, statements, touches
from loopbook.sdfg.rewrites.document import Draft, elements, rewriting
from loopbook.sdfg.rewrites.region import Region
from loopbook.steps.demote import Demote

Json = dict[str, Any]


@rewriting(Demote)
def demote(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Put a scalar back that a loop's body begins with loading and ends with storing.

    Raises:
        IllegalStepError: there is none, something else uses its element in between, or its last
            value is used elsewhere.
    """
    region = Region.of(draft, loops[0])
    tree = region.tree(loops[0])
    children: list[Json] = tree.element["root"]["children"]
    found = next((f for i, child in enumerate(children) if (f := _load(child, i))), None)
    if found is None:
        raise IllegalStepError("the loop's body does not begin with loading a scalar")
    first, load, scalar, array = found
    home = Touch(array, tuple(load["subset"]), True)
    last = max(i for i, child in enumerate(children) if _mentions(child, scalar))
    body = children[first + 1 : last + 1]
    indices = {symbol for text in home.subset for symbol in expr.symbols(text)}
    if not indices.isdisjoint(assigned_symbols(tree.element)):
        raise IllegalStepError(f"the element of {scalar} changes with what the loop computes")
    types = Types(draft.document["containers"])
    if types.dtype(scalar) != types.dtype(array):
        raise IllegalStepError(f"{scalar} is not of the type of its element")
    if any(_mentions(child, scalar) for child in children[:first]) or not _ends(body, scalar, home):
        raise IllegalStepError(f"{scalar} is not loaded first and stored last")
    used = {*draft.document["arguments"], *draft.document.get("externals", ())}
    if scalar in used or not renewed(draft.document["root"]["children"], scalar, loops[0]):
        raise IllegalStepError(f"the program uses what the loop leaves in {scalar}")
    _check_alone(region, tree, home, body)

    for element in body:
        _replace(element, scalar, array, load)
    if _is_copy(body[-1]):
        body.pop()
    children[first : last + 1] = body


def _load(child: Json, place: int) -> tuple[int, Json, str, str] | None:
    """The place, the memlet, the scalar and the array, of a block that does nothing but load."""
    if child.get("type") != "block" or not _is_copy(child):
        return None
    flow = child["dataflow"]
    nodes = {node["element_id"]: node for node in flow["nodes"]}
    into = next(e for e in flow["edges"] if nodes[e["src"]]["type"] == "access_node")
    out = next(e for e in flow["edges"] if nodes[e["dst"]]["type"] == "access_node")
    if not into.get("subset") or out.get("subset"):
        return None
    return place, into, str(nodes[out["dst"]]["data"]), str(nodes[into["src"]]["data"])


def _is_copy(block: Json) -> bool:
    flow = block["dataflow"]
    tasks = [node for node in flow["nodes"] if node["type"] != "access_node"]
    return len(tasks) == 1 and opcode(tasks[0]) == "assign" and len(flow["edges"]) == 2


def _ends(body: Sequence[Json], scalar: str, home: Touch) -> bool:
    """Whether the last block reads the scalar and writes its element, and nothing else."""
    if not body or body[-1].get("type") != "block":
        return False
    flow = body[-1]["dataflow"]
    nodes = {node["element_id"]: node for node in flow["nodes"]}
    read, wrote = False, list[Touch]()
    for edge in flow["edges"]:
        source, target = nodes[edge["src"]], nodes[edge["dst"]]
        read = read or source.get("data") == scalar
        if target["type"] == "access_node" and edge.get("subset"):
            wrote.append(Touch(target["data"], tuple(edge["subset"]), True))
        elif target.get("data") == scalar:
            return False
    return read and [_place(touch) for touch in wrote] == [_place(home)]


def _place(touch: Touch) -> tuple[str, list[str]]:
    return touch.container, [expr.normal_form(text) for text in touch.subset]


def _check_alone(region: Region, tree: LoopNode, home: Touch, body: Sequence[Json]) -> None:
    """Refuse if anything but the scalar's load and store uses its element meanwhile."""
    loops = [*region.around, tree]
    held: list[tuple[Statement, Sequence[LoopNode]]] = []
    for child in tree.children:
        if isinstance(child, LoopNode) and any(child.element is element for element in body):
            held += [(statement, [*loops, *path]) for statement, path in statements(child)]
    for element in body:
        if "indvar" not in element:
            own = [t for t in touches(element) if not (element is body[-1] and t.write)]
            held.append((Statement([element], own), loops))
    for statement, path in held:
        for touch in statement.touches:
            if touch.container == home.container and not never_meet(statement, path, home, touch):
                raise IllegalStepError(f"{home.container} may be used where the scalar stands")


def _mentions(element: Json, name: str) -> bool:
    """Whether an element or anything in it has a name in it."""
    own = {k: v for k, v in element.items() if k != "debug_info"}
    return name in expr.symbols(str(own))


def renewed(children: Sequence[Json], name: str, without: int = -1) -> bool:
    """Whether a scalar is written before it is read wherever it is used outside of one loop."""
    fresh = False
    for child in children:
        holds = any(element["element_id"] == without for element in elements(child))
        if child["element_id"] == without:
            fresh = False
        elif not holds and (fresh or not _mentions(child, name)):
            continue
        elif child.get("type") == "block":
            if not _writes_first(child, name):
                return False
            fresh = True
        else:
            own = {key: value for key, value in child.items() if key != "root"}
            if _mentions(own, name) or "root" not in child:
                return False
            if not renewed(child["root"]["children"], name, without):
                return False
            fresh = False
    return True


def _writes_first(child: Json, name: str) -> bool:
    if child.get("type") != "block":
        return False
    flow = child["dataflow"]
    targets = {edge["dst"] for edge in flow["edges"]}
    named = [node["element_id"] for node in flow["nodes"] if node.get("data") == name]
    in_indices = any(name in expr.symbols(" ".join(e.get("subset", ()))) for e in flow["edges"])
    return not in_indices and all(number in targets for number in named)


def _replace(element: Json, scalar: str, array: str, load: Json) -> None:
    """Let blocks access the element in place of the scalar."""
    for inner in elements(element):
        flow = inner.get("dataflow")
        if flow is None:
            rest = {k: v for k, v in inner.items() if k not in ("root", "children", "branches")}
            conditions = " ".join(case["condition"] for case in inner.get("branches", ()))
            if _mentions(rest, scalar) or scalar in expr.symbols(conditions):
                raise IllegalStepError(f"{scalar} is used where no array can be")
            continue
        nodes = {n["element_id"]: n for n in flow["nodes"] if n.get("data") == scalar}
        for edge in flow["edges"]:
            if scalar in expr.symbols(" ".join(edge.get("subset", ()))):
                raise IllegalStepError(f"{scalar} is used as an index")
            if edge["src"] in nodes or edge["dst"] in nodes:
                edge["subset"] = list(load["subset"])
                edge["base_type"] = copy.deepcopy(load["base_type"])
        for node in nodes.values():
            node["data"] = array
