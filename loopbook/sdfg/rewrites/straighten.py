"""How `straighten` is done: which branches keep the lesser or the greater of two whole numbers.

Floating-point numbers stay as they are: with one that is not a number, a minimum may be another one
than what the branch keeps.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopbook.errors import IllegalStepError
from loopbook.program import expr
from loopbook.sdfg.document import Types, opcode
from loopbook.sdfg.looptree import private_scalars
from loopbook.sdfg.rewrites.document import Draft, Json, elements, rewriting
from loopbook.steps.straighten import Straighten

COPIED = "copied_element"
"""Stands for the element that a branch copies."""

WORDS = re.compile(r"[A-Za-z_]\w*")

SIGNED = ("int8", "int16", "int32", "int64")

Places = dict[str, str]
"""Scalar to a symbol for the element that it has been loaded from, or to the scalar itself."""


@rewriting(Straighten)
def straighten(draft: Draft, loops: Sequence[int], numbers: Sequence[int]) -> None:
    """Rewrite all branches of this kind that stand directly in the innermost loops of a loop.

    Each has loaded the element that it may write before, so storing it unchanged is no new access.

    Raises:
        IllegalStepError: there is none.
    """
    private = private_scalars(draft.document)
    types = Types(draft.document["containers"])
    done = 0
    for element in elements(draft.element(loops[0])):
        if "indvar" in element:
            children: list[Json] = element["root"]["children"]
            place = 0
            while place < len(children):
                if new := _straight(
                    draft, element["indvar"], children[: place + 1], private, types
                ):
                    children[place : place + 1] = new
                    done += 1
                    place += len(new) - 1
                place += 1
    if not done:
        raise IllegalStepError("no branch is known to keep the lesser or greater of two numbers")


@dataclass(frozen=True)
class _Branch:
    """What a branch does: load scalars, compute one, store it; or copy an element.

    Attributes:
        inner: what scalars hold.
        symbol, expression: of the assignment; of a copy, a name for the element in `inner`.
        store: the memlet that writes.
        array, target: what it writes, and the element as text.
    """

    inner: Places
    symbol: str
    expression: str
    store: Json
    array: str
    target: str


def _straight(
    draft: Draft, wide: str, run: list[Json], private: frozenset[str], types: Types
) -> list[Json] | None:
    """What to put for the last element of a run; None if that is no such branch.

    Args:
        wide: a whole number that is as wide as any.
    """
    *before, last = run
    if last.get("type") != "if_else" or len(last["branches"]) != 1:
        return None
    branch = _read(last["branches"][0]["root"]["children"])
    if branch is None:
        return None
    places: Places = {}
    set_here: set[str] = set()
    condition = str(last["branches"][0]["condition"])
    first = len(before)
    while first and before[first - 1].get("type") in ("block", "if_else"):
        first -= 1
    for element in before[first:]:
        if element["type"] == "block":
            loaded = _loads(element)
            if loaded is None:
                places = {}
            elif not set_here.isdisjoint(loaded):
                return None
            else:
                places |= loaded
                set_here |= loaded.keys()
            continue
        found = _flag(element)
        set_here |= {found[0]} if found else set()
        if found is None:
            places = {}
        elif expr.normal_form(condition) == expr.normal_form(f"0 != {found[0]}"):
            condition = found[1]
        else:
            places.pop(found[0], None)
    set_here |= {*branch.inner, branch.symbol}
    if not places or not set_here.isdisjoint(
        word for place in places for word in WORDS.findall(places[place].partition("[")[2])
    ):
        return None
    if not _plain(branch, condition, places, private, types):
        return None
    operator = _operator(condition, branch, places)
    sides = _sides(condition)
    if operator is None or sides is None:
        return None
    symbol = draft.fresh_variable("kept", branch.symbol or wide)
    value = f"{operator}({sides[0]}, {sides[1]})"
    subset = tuple(branch.store["subset"])
    return [
        draft.assignment_block([(symbol, value)]),
        draft.copy_block((symbol, ()), (branch.array, subset)),
    ]


def _read(children: Sequence[Json]) -> _Branch | None:
    """A branch that loads, assigns one scalar and stores it, or that copies."""
    if not children or any("dataflow" not in c for c in (*children[:-2], children[-1])):
        return None
    *loads, last = children
    symbol = expression = ""
    if loads and loads[-1].get("type") == "assignment_block":
        assignments = loads.pop()["assignments"]
        if len(assignments) != 1:
            return None
        symbol, expression = (str(assignments[0][key]) for key in ("symbol", "expression"))
    inner: Places = {}
    for block in loads:
        loaded = _loads(block)
        if loaded is None:
            return None
        inner |= loaded
    flow = last["dataflow"]
    nodes = {node["element_id"]: node for node in flow["nodes"]}
    tasks = [node for node in nodes.values() if node["type"] != "access_node"]
    if len(tasks) != 1 or opcode(tasks[0]) != "assign" or len(flow["edges"]) != 2:
        return None
    into, out = sorted(flow["edges"], key=lambda e: nodes[e["src"]]["type"] != "access_node")
    source, target = nodes[into["src"]], nodes[out["dst"]]
    if source["type"] != "access_node" or not out.get("subset"):
        return None
    if symbol and source["data"] == symbol:
        pass
    elif not symbol and into.get("subset"):
        expression = COPIED
        inner[expression] = _place(source, into)
    else:
        return None
    indices = {s for text in out["subset"] for s in expr.symbols(text)}
    if not indices.isdisjoint({*inner, symbol}):
        return None
    return _Branch(inner, symbol, expression, out, target["data"], _place(target, out))


def _loads(block: Json) -> Places | None:
    """The places of scalars that a block loads, which does nothing else; None for other blocks."""
    flow = block.get("dataflow", {"nodes": [], "edges": []})
    nodes = {node["element_id"]: node for node in flow["nodes"]}
    found: Places = {}
    for node in nodes.values():
        if node["type"] == "access_node":
            continue
        into = [edge for edge in flow["edges"] if edge["dst"] == node["element_id"]]
        out = [edge for edge in flow["edges"] if edge["src"] == node["element_id"]]
        if opcode(node) != "assign" or len(into) != 1 or len(out) != 1 or out[0].get("subset"):
            return None
        source, target = nodes[into[0]["src"]], nodes[out[0]["dst"]]
        if source["type"] != "access_node" or target["type"] != "access_node":
            return None
        if not into[0].get("subset") or target["data"] in found:
            return None
        found[target["data"]] = _place(source, into[0])
    indices = {s for edge in flow["edges"] for text in edge["subset"] for s in expr.symbols(text)}
    return found if found and indices.isdisjoint(found) else None


def _place(node: Json, edge: Json) -> str:
    return f"{node['data']}[{', '.join(expr.normal_form(text) for text in edge['subset'])}]"


def _flag(element: Json) -> tuple[str, str] | None:
    """A flag that two branches set, and the condition that it stands for."""
    if len(element["branches"]) != 2:
        return None
    values: list[tuple[str, str]] = []
    for branch in element["branches"]:
        children = branch["root"]["children"]
        if len(children) != 1 or len(children[0].get("assignments", ())) != 1:
            return None
        only = children[0]["assignments"][0]
        values.append((str(only["symbol"]), str(only["expression"])))
    (flag, one), (other, zero) = values
    conditions = [str(branch["condition"]) for branch in element["branches"]]
    sides = [_sides(condition) for condition in conditions]
    if flag != other or (one, zero) != ("1", "0") or None in sides:
        return None
    (lesser, greater, strict), (least, most, also) = (side for side in sides if side)
    return (flag, conditions[0]) if (lesser, greater, strict) == (most, least, not also) else None


def _sides(condition: str) -> tuple[str, str, bool] | None:
    """``a < b`` or ``a <= b``: a, b, and whether they may not be equal."""
    match expr.parse(condition):
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            a, b = (expr.normal_form(ast.unparse(side)) for side in (left, right))
            if isinstance(op, ast.Lt | ast.LtE):
                return a, b, isinstance(op, ast.Lt)
            if isinstance(op, ast.Gt | ast.GtE):
                return b, a, isinstance(op, ast.Gt)
    return None


def _plain(
    branch: _Branch, condition: str, places: Places, private: frozenset[str], types: Types
) -> bool:
    """Whether the branch computes with signed numbers of one type that have been loaded already,
    in scalars that nothing else reads."""
    own = {*branch.inner, branch.symbol} - {COPIED, ""}
    used = {*expr.symbols(condition), *expr.symbols(branch.expression)} - {COPIED}
    dtype = types.dtype(branch.array)
    loaded = {*places.values(), *branch.inner.values()}
    if not own <= private or not set(branch.inner.values()) <= set(places.values()):
        return False
    if dtype not in SIGNED or not used <= {*places, *branch.inner}:
        return False
    wide = SIGNED[SIGNED.index(dtype) :]
    return (
        branch.target in places.values()
        and (not branch.symbol or types.dtype(branch.symbol) in wide)
        and all(types.dtype(name) == dtype for name in used)
        and all(types.dtype(place.partition("[")[0]) == dtype for place in loaded)
    )


def _operator(condition: str, branch: _Branch, places: Mapping[str, str]) -> str | None:
    """``min`` or ``max`` if the condition compares the branch's value with what it replaces."""
    sides = _sides(condition)
    if sides is None:
        return None
    inside = {**places, **branch.inner}
    names = {place: f"element_{n}" for n, place in enumerate(sorted(set(inside.values())))}

    def meaning(text: str, places: Mapping[str, str]) -> str | None:
        symbols = set(expr.symbols(text))
        if not symbols <= places.keys():
            return None
        return expr.normal_form(expr.substitute(text, {s: names[places[s]] for s in symbols}))

    lesser, greater = (meaning(side, places) for side in sides[:2])
    value, kept = meaning(branch.expression, inside), names[branch.target]
    if value is None or value == kept:
        return None
    if (lesser, greater) == (value, kept):
        return "min"
    return "max" if (lesser, greater) == (kept, value) else None
