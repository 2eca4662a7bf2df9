"""How `join` is done.

The iterations run in the same order as before, so nothing but sameness has to be shown: both bodies
must write the same expressions to the same places, once the second loop's variable is counted from
where the first loop ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loopbook.dependence import domain, holds
from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.sdfg import affine
from loopbook.sdfg.looptree import Json, LoopNode, Statement
from loopbook.sdfg.rewrites.document import Draft, rewriting
from loopbook.sdfg.rewrites.region import Region
from loopbook.steps.join import Join


@rewriting(Join)
def join(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """``for i in a … b: S(i); for j in c … d: S(j + b - c)`` becomes one loop.

    Raises:
        IllegalStepError: the ranges do not meet, or the bodies differ, or hold loops or branches.
    """
    first_id, second_id = loops
    region = Region.of(draft, first_id)
    place = region.place(first_id)
    if region.place(second_id) != place + 1:
        raise IllegalStepError("the second loop does not follow the first one")
    first, second = region.tree(first_id), region.tree(second_id)
    if [len(b) for b in (first.highs, second.lows, second.highs)] != [1, 1, 1] or (
        first.step,
        second.step,
    ) != (1, 1):
        raise IllegalStepError("the loops do not run over simple ranges")
    gap = affine.minus(first.highs[0], second.lows[0])
    counted = affine.minus({first.variable: 1}, gap)
    if _meaning(first, {}) != _meaning(second, {second.variable: f"({affine.text(counted)})"}):
        raise IllegalStepError("the loops do not do the same")
    for low in first.lows:
        if not _reaches(region.around, low, first.highs[0]):
            raise IllegalStepError("the first loop may end before it begins")
    first.highs = [affine.plus(high, gap) for high in second.highs]
    region.put(place, 2, [first])


def _reaches(around: Sequence[LoopNode], low: affine.Linear, high: affine.Linear) -> bool:
    """Whether ``low <= high`` wherever the loops around run."""
    return holds(domain(around), affine.minus(high, low))


def _meaning(loop: LoopNode, values: Mapping[str, str]) -> list[str]:
    """What one iteration writes, in order, as text that is free of docc's temporary names."""
    written: list[str] = []
    for child in loop.children:
        if not isinstance(child, Statement):
            raise IllegalStepError("a loop to be joined holds loops")
        for element in child.elements:
            if element.get("type") != "block":
                raise IllegalStepError("a loop to be joined holds branches")
            written += _block_meaning(element["dataflow"], child, values)
    return written


def _block_meaning(flow: Json, statement: Statement, values: Mapping[str, str]) -> list[str]:
    nodes = {node["element_id"]: node for node in flow["nodes"]}
    public = {touch.container for touch in statement.touches}

    def place(node: Json, edge: Json) -> str:
        subset = (expr.normal_form(expr.substitute(s, values)) for s in edge["subset"])
        return f"{node['data']}[{', '.join(subset)}]"

    def value(node: Json, edge: Json, depth: int = 0) -> str:
        """What flows along an edge out of a node."""
        if depth > 64:
            raise IllegalStepError("an expression is too deep")
        into = [e for e in flow["edges"] if e["dst"] == node["element_id"]]
        if node["type"] == "access_node":
            if not into:
                if node["data"] not in public:
                    raise IllegalStepError("a value comes from another block")
                return place(node, edge)
            if node["data"] in public or len(into) > 1:
                raise IllegalStepError("a block reads what it has written")
            (before,) = into
            return value(nodes[before["src"]], before, depth + 1)
        if node["type"] == "constant_node":
            return str(node["data"])
        parts = sorted((e["dst_conn"], value(nodes[e["src"]], e, depth + 1)) for e in into)
        return f"{node['code']}:{node.get('name', '')}{parts}"

    writes = [
        (place(nodes[e["dst"]], e), value(nodes[e["src"]], e))
        for e in flow["edges"]
        if nodes[e["dst"]]["type"] == "access_node" and nodes[e["dst"]]["data"] in public
    ]
    if len(writes) != 1:
        raise IllegalStepError("a block writes more than one place")
    return [f"{target} = {source}" for target, source in writes]
