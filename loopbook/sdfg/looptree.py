"""Part of an SDFG document as a tree of loops and statements, for rewritings that check an order.

A statement is a run of neighbouring elements without loops in them (blocks, assignments, branches):
it is moved as one. Accesses are read conservatively: all that a branch may do counts as done.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from loopbook.dependence import linear
from loopbook.dependence.model import Linear
from loopbook.errors import IllegalStepError, SdfgError
from loopbook.program import expr
from loopbook.program.bounds import bounds
from loopbook.program.expr import Expr
from loopbook.sdfg.document import Types
from loopbook.sdfg.updates import updates

Json = dict[str, Any]

LEAVES = ("block", "assignment_block", "if_else")
NODES = ("access_node", "constant_node", "tasklet")

Subset = tuple[str, ...]
"""Where in a container, one text for each dimension."""


@dataclass(frozen=True)
class Touch:
    """One access.

    Attributes:
        container: what is accessed.
        subset: where, in docc's text, one for each dimension; none: a scalar.
        update: the operator if it is part of an update; see `loopbook.sdfg.updates`.
        hidden: whether the subset says nothing, since a scalar in it has another value each time.
    """

    container: str
    subset: tuple[str, ...]
    write: bool
    update: str = ""
    hidden: bool = False

    @property
    def place(self) -> Subset:
        """The subset in normal form."""
        return _place(self.subset)

    @property
    def indices(self) -> tuple[expr.Polynomial | None, ...]:
        """The subset as polynomials, None for what is not known."""
        return (None,) * len(self.subset) if self.hidden else _indices(self.subset)


@lru_cache(maxsize=16384)
def _place(subset: Subset) -> Subset:
    return expr.normal_forms(subset)


@lru_cache(maxsize=16384)
def _indices(subset: Subset) -> tuple[expr.Polynomial | None, ...]:
    return tuple(map(_index, subset))


def _index(text: str) -> expr.Polynomial | None:
    try:
        return expr.polynomial(text)
    except SdfgError:
        return None


@dataclass(eq=False)
class Statement:
    """What happens as one.

    Attributes:
        elements: docc's elements, in order.
        touches: what they read and write, without private scalars.
    """

    elements: list[Json]
    touches: list[Touch] = field(default_factory=list)


@dataclass(eq=False)
class LoopNode:
    """A counted loop ``for (v = max(lows); v < each of highs; v += step)``."""

    element: Json
    variable: str
    lows: list[Linear]
    highs: list[Linear]
    step: int
    children: list[LoopNode | Statement]


Tree = LoopNode | Statement


def read_header(element: Json, variables: frozenset[str]) -> LoopNode:
    """A loop without what is in it.

    Args:
        variables: the variables of the loops around it.

    Raises:
        IllegalStepError: it does not count up, or its bounds are not affine.
    """
    if "indvar" not in element:
        raise IllegalStepError("a loop without a counter cannot be rewritten")
    variable = str(element["indvar"])
    header = (Expr(str(element[key])) for key in ("init", "condition", "update"))
    try:
        found = bounds(variable, *header)
        lows: list[Linear] = [linear.from_polynomial(low, variables) for low in found.lows]
        highs: list[Linear] = [linear.from_polynomial(high, variables) for high in found.highs]
    except SdfgError as error:
        raise IllegalStepError(str(error)) from None
    if found.step is None or found.step < 1 or not highs:
        raise IllegalStepError(f"the loop over {variable} does not count up to a bound")
    return LoopNode(element, variable, lows, highs, found.step, [])


def read_loop(
    element: Json, variables: frozenset[str], private: frozenset[str], types: Types
) -> LoopNode:
    """The tree of one loop.

    Args:
        variables: the variables of the loops around it.
        private: scalars that no statement takes from another one (`private_scalars`).
        types: of all containers.

    Raises:
        IllegalStepError: something is not affine, jumps, or is not understood.
    """
    node = read_header(element, variables)
    known = variables | {node.variable}
    children = node.children
    for child in element["root"]["children"]:
        if "indvar" in child:
            children.append(read_loop(child, known, private, types))
        elif child.get("type") not in LEAVES:
            raise IllegalStepError(f"a {child.get('type')} cannot be moved")
        elif children and isinstance(children[-1], Statement):
            children[-1].elements.append(child)
        else:
            children.append(Statement([child]))
    for child in children:
        if isinstance(child, Statement):
            operators = updates(child.elements, types)
            for leaf in child.elements:
                found = (
                    t for t in touches(leaf, operators) if t.subset or t.container not in private
                )
                child.touches += (_seen(t, private) for t in found if t.container not in known)
    return node


def _seen(touch: Touch, private: frozenset[str]) -> Touch:
    """The access as it is seen from other statements, which do not know private scalars."""
    hidden = any(name in private for text in touch.subset for name in expr.symbols(text))
    return replace(touch, hidden=True) if hidden else touch


def statements(
    tree: LoopNode | Statement, path: tuple[LoopNode, ...] = ()
) -> Iterator[tuple[Statement, tuple[LoopNode, ...]]]:
    """All statements in program order, each with the loops around it from `tree` on."""
    if isinstance(tree, Statement):
        yield tree, path
        return
    for child in tree.children:
        yield from statements(child, (*path, tree))


def touches(element: Json, operators: Mapping[int, str] | None = None) -> Iterator[Touch]:
    """What an element without loops reads and writes.

    Args:
        operators: of updates, by memlet.

    Raises:
        IllegalStepError: it jumps, calls a library, or moves pointers.
    """
    kind = element.get("type")
    if kind == "block":
        yield from _flow_touches(element["dataflow"], operators or {})
    elif kind == "assignment_block":
        for assignment in element["assignments"]:
            for name in expr.symbols(str(assignment["expression"])):
                yield Touch(name, (), False)
            yield Touch(assignment["symbol"], (), True)
    elif kind == "if_else":
        for branch in element["branches"]:
            for name in expr.symbols(branch["condition"]):
                yield Touch(name, (), False)
        for branch in element["branches"]:
            for child in branch["root"]["children"]:
                yield from touches(child, operators)
    else:
        raise IllegalStepError(f"a {kind} cannot be moved")


def private_scalars(document: Json) -> frozenset[str]:
    """Scalars that carry no value from one statement to another one, anywhere in the program."""
    exposed = set(document["arguments"]) | set(document.get("externals", ()))
    written: set[str] = set()
    waiting: list[Sequence[Json]] = [document["root"]["children"]]
    while waiting:
        defined: set[str] = set()
        for element in waiting.pop():
            if element.get("type") in LEAVES:
                _scan(element, defined, exposed, written)
                continue
            defined = set()
            own = {k: v for k, v in element.items() if k not in ("root", "debug_info")}
            exposed.update(expr.symbols(str(own)))
            if "root" in element:
                waiting.append(element["root"]["children"])
    return frozenset(written - exposed)


def _scan(element: Json, defined: set[str], exposed: set[str], written: set[str]) -> None:
    """Note which scalars an element reads that nothing before it has written."""
    if element["type"] == "if_else":
        ends = []
        for branch in element["branches"]:
            exposed.update(set(expr.symbols(branch["condition"])) - defined)
            inside = set(defined)
            for child in branch["root"]["children"]:
                if child.get("type") in LEAVES:
                    _scan(child, inside, exposed, written)
                else:
                    exposed.update(expr.symbols(str(child)))
            ends.append(inside)
        if len(ends) > 1 and _covers_all([str(b["condition"]) for b in element["branches"]]):
            defined |= set.intersection(*ends)
        return
    if element["type"] == "assignment_block":
        for assignment in element["assignments"]:
            exposed.update(set(expr.symbols(str(assignment["expression"]))) - defined)
            defined.add(assignment["symbol"])
            written.add(assignment["symbol"])
        return
    flow = element["dataflow"]
    targets = {edge["dst"] for edge in flow["edges"]}
    for edge in flow["edges"]:
        exposed.update(set(expr.symbols(" ".join(edge.get("subset", ())))) - defined)
    names = [node for node in flow["nodes"] if node["type"] == "access_node"]
    for node in names:
        if node["element_id"] not in targets and node["data"] not in defined:
            exposed.add(node["data"])
    for node in flow["nodes"]:
        if node["type"] not in NODES:
            exposed.update(expr.symbols(str(node)))
    new = {node["data"] for node in names if node["element_id"] in targets}
    defined |= new
    written |= new


def _covers_all(conditions: list[str]) -> bool:
    """Whether two conditions are each other's opposite: ``a < b`` and ``b <= a``."""
    if len(conditions) != 2:
        return False
    first, second = conditions
    opposite = _negated(expr.parse(first))
    return bool(opposite) and expr.normal_form(opposite) == expr.normal_form(second)


def _negated(condition: ast.expr) -> str:
    """The opposite of a condition, or nothing if it is of an unusual form."""
    match condition:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            sides = ast.unparse(left), ast.unparse(right)
            match op:
                case ast.Lt():
                    return f"{sides[1]} <= {sides[0]}"
                case ast.LtE():
                    return f"{sides[1]} < {sides[0]}"
                case ast.Eq():
                    return f"{sides[0]} != {sides[1]}"
                case ast.NotEq():
                    return f"{sides[0]} == {sides[1]}"
        case ast.Call(func=ast.Name(id="And" | "Or" as name), args=args):
            parts = [_negated(part) for part in args]
            return f"{'Or' if name == 'And' else 'And'}({', '.join(parts)})" if all(parts) else ""
    return ""


def _flow_touches(flow: Json, operators: Mapping[int, str]) -> Iterator[Touch]:
    nodes = {node["element_id"]: node for node in flow["nodes"]}
    for node in nodes.values():
        if node["type"] not in NODES and not str(node.get("code", "")).startswith("CMath"):
            raise IllegalStepError(f"a {node.get('code', node['type'])} cannot be moved")
    for write in (False, True):
        for edge in flow["edges"]:
            ends = nodes[edge["src"]], nodes[edge["dst"]]
            if all(end["type"] == "access_node" for end in ends):
                raise IllegalStepError("pointers that are moved cannot be followed")
            end = ends[write]
            if end["type"] == "access_node":
                operator = operators.get(edge["element_id"], "")
                yield Touch(end["data"], tuple(edge.get("subset", ())), write, operator)
