"""Which branches keep the lesser or the greater of two whole numbers.

Floating-point numbers stay as they are: with one that is not a number, a minimum may be another one
than what the branch keeps.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loopbook.program import expr
from loopbook.program.copies import as_copy, task_as_copy
from loopbook.program.dataflow import AccessNode, Block, Memlet
from loopbook.program.expr import Expr
from loopbook.program.tree import Assignments, Branch, Node
from loopbook.program.types import Type, type_of

COPIED = "copied_element"
"""Stands for the element that a branch copies."""

WORDS = re.compile(r"[A-Za-z_]\w*")

SIGNED = ("int8", "int16", "int32", "int64")

Places = dict[str, str]
"""Scalar to a symbol for the element that it has been loaded from, or to the scalar itself."""


@dataclass(frozen=True)
class Extreme:
    """What a branch leaves in an element.

    Attributes:
        value: a minimum or a maximum of two scalars.
        symbol: that the branch computes it in; none if it copies an element.
        array, subset: the element.
    """

    value: str
    symbol: str
    array: str
    subset: tuple[Expr, ...]


@dataclass(frozen=True)
class _Keeping:
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
    store: Memlet
    array: str
    target: str


def extreme(
    node: Node, before: Sequence[Node], private: frozenset[str], types: Mapping[str, Type]
) -> Extreme | None:
    """What a branch keeps, if that is the lesser or the greater of two whole numbers.

    Args:
        before: what stands in front of it. The branch must be known to have loaded there the
            element that it may write: storing it unchanged is no new access then.
        private: scalars that no statement takes from another one.
        types: of all containers.
    """
    if not isinstance(node, Branch) or len(node.cases) != 1:
        return None
    (case,) = node.cases
    branch = _read(case.body.children)
    if branch is None:
        return None
    found = _known(case.condition.text, before)
    if found is None:
        return None
    condition, places, set_here = found
    set_here |= {*branch.inner, branch.symbol}
    if not places or not set_here.isdisjoint(
        word for place in places.values() for word in WORDS.findall(place.partition("[")[2])
    ):
        return None
    if not _plain(branch, condition, places, private, types):
        return None
    operator, sides = _operator(condition, branch, places), _sides(condition)
    if operator is None or sides is None:
        return None
    value = f"{operator}({sides[0]}, {sides[1]})"
    return Extreme(value, branch.symbol, branch.array, branch.store.subset)


def _known(condition: str, before: Sequence[Node]) -> tuple[str, Places, set[str]] | None:
    """What a branch's condition says, what scalars hold there, and all that is set for it.

    None if a scalar is set twice.
    """
    places: Places = {}
    set_here: set[str] = set()
    first = len(before)
    while first and isinstance(before[first - 1], Block | Branch):
        first -= 1
    for node in before[first:]:
        if isinstance(node, Block):
            loaded = _loads(node)
            if loaded is None:
                places = {}
            elif not set_here.isdisjoint(loaded):
                return None
            else:
                places |= loaded
                set_here |= loaded.keys()
        elif isinstance(node, Branch):
            flag = _flag(node)
            if flag is None:
                places = {}
                continue
            name, meaning = flag
            set_here.add(name)
            if expr.normal_form(condition) == expr.normal_form(f"0 != {name}"):
                condition = meaning
            else:
                places.pop(name, None)
    return condition, places, set_here


def _read(nodes: Sequence[Node]) -> _Keeping | None:
    """A branch that loads, assigns one scalar and stores it, or that copies."""
    store = as_copy(nodes[-1]) if nodes else None
    if store is None:
        return None
    loads = list(nodes[:-1])
    symbol = expression = ""
    if loads and isinstance(only := loads[-1], Assignments):
        loads.pop()
        if len(only.assignments) != 1:
            return None
        symbol, expression = only.assignments[0].symbol, only.assignments[0].expression.text
    inner: Places = {}
    for node in loads:
        loaded = _loads(node)
        if loaded is None:
            return None
        inner |= loaded
    subset = store.written.subset
    if not subset:
        return None
    if symbol and store.source == symbol:
        pass
    elif not symbol and store.read.subset:
        expression = COPIED
        inner[expression] = _place(store.source, store.read)
    else:
        return None
    if any(not index.symbols.isdisjoint({*inner, symbol}) for index in subset):
        return None
    target = _place(store.target, store.written)
    return _Keeping(inner, symbol, expression, store.written, store.target, target)


def _loads(block: Node) -> Places | None:
    """The places of scalars that a block loads, which does nothing else; None for other nodes."""
    if not isinstance(block, Block):
        return None
    found: Places = {}
    for place, node in enumerate(block.nodes):
        if isinstance(node, AccessNode):
            continue
        load = task_as_copy(block, place)
        if load is None or load.written.subset or not load.read.subset or load.target in found:
            return None
        found[load.target] = _place(load.source, load.read)
    indices = {
        name for memlet in block.memlets for index in memlet.subset for name in index.symbols
    }
    return found if found and indices.isdisjoint(found) else None


def _place(container: str, memlet: Memlet) -> str:
    return f"{container}[{', '.join(expr.normal_forms(index.text for index in memlet.subset))}]"


def _flag(branch: Branch) -> tuple[str, str] | None:
    """A flag that two branches set, and the condition that it stands for."""
    if len(branch.cases) != 2:
        return None
    values: list[tuple[str, str]] = []
    for case in branch.cases:
        match case.body.children:
            case (Assignments(assignments=(only,)),):
                values.append((only.symbol, only.expression.text))
            case _:
                return None
    (flag, one), (other, zero) = values
    condition, otherwise = (_sides(case.condition.text) for case in branch.cases)
    if flag != other or (one, zero) != ("1", "0") or condition is None or otherwise is None:
        return None
    (lesser, greater, strict), (least, most, also) = condition, otherwise
    if (lesser, greater, strict) != (most, least, not also):
        return None
    return flag, branch.cases[0].condition.text


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
    branch: _Keeping,
    condition: str,
    places: Places,
    private: frozenset[str],
    types: Mapping[str, Type],
) -> bool:
    """Whether the branch computes with signed numbers of one type that have been loaded already,
    in scalars that nothing else reads."""

    def dtype(name: str) -> str:
        return type_of(name, types).element

    own = {*branch.inner, branch.symbol} - {COPIED, ""}
    used = {*expr.symbols(condition), *expr.symbols(branch.expression)} - {COPIED}
    kind = dtype(branch.array)
    loaded = {*places.values(), *branch.inner.values()}
    if not own <= private or not set(branch.inner.values()) <= set(places.values()):
        return False
    if kind not in SIGNED or not used <= {*places, *branch.inner}:
        return False
    wide = SIGNED[SIGNED.index(kind) :]
    return (
        branch.target in places.values()
        and (not branch.symbol or dtype(branch.symbol) in wide)
        and all(dtype(name) == kind for name in used)
        and all(dtype(place.partition("[")[0]) == kind for place in loaded)
    )


def _operator(condition: str, branch: _Keeping, places: Mapping[str, str]) -> str | None:
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
