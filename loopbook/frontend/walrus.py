"""Assignments in expressions, as statements before them.

Before::

    while (error := norm(r)) > tol:
        r = step(r)

After::

    while True:
        error = norm(r)
        if not error > tol:
            break
        r = step(r)

What is assigned behind an ``and`` is so in a branch or behind a ``break`` of its own.

Before::                                 After::

    if v > 0 and (s := f(v)) < 2:            if v > 0:
        k += s                                   if (s := f(v)) < 2:
                                                     k += s
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

MOST_COPIED = 60
"""How many nodes an ``else`` may have that is written at two places."""


def apart(node: ast.stmt) -> ast.stmt | None:
    """A branch or loop with an assignment behind an ``and`` of its test, as one that tests part by
    part; None for another statement."""
    if not isinstance(node, ast.If | ast.While):
        return None
    test = node.test
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return None
    place = next((n for n, value in enumerate(test.values) if n and _assigns(value)), 0)
    if not place:
        return None
    first, second = _all_of(test.values[:place]), _all_of(test.values[place:])
    made: ast.stmt
    if isinstance(node, ast.If):
        if sum(1 for one in node.orelse for _ in ast.walk(one)) > MOST_COPIED:
            return None
        inner = ast.copy_location(ast.If(second, node.body, node.orelse), node)
        made = ast.If(first, [inner], copy.deepcopy(node.orelse))
    elif node.orelse:
        return None
    else:
        stops = [ast.If(ast.UnaryOp(ast.Not(), one), [ast.Break()], []) for one in (first, second)]
        at_test = [ast.copy_location(stop, test) for stop in stops]
        made = ast.While(ast.Constant(True), [*at_test, *node.body], [])
    return ast.fix_missing_locations(ast.copy_location(made, node))


def _assigns(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node))


def _all_of(parts: list[ast.expr]) -> ast.expr:
    if len(parts) == 1:
        return parts[0]
    return ast.copy_location(ast.BoolOp(ast.And(), parts), parts[0])


def hoisted(expression: ast.expr) -> tuple[list[ast.stmt], ast.expr]:
    """Assignments that are made whatever else is in an expression, and what is left of it.

    Those that depend on something, or on a name that is read before, stay where they are.
    """
    found = list(_first(expression))
    names = {inner.target.id for inner in found}
    order = [name for name in _in_order(expression) if name.id in names]
    begins = {name.id: name.ctx for name in reversed(order)}
    stored = [name for name in order if isinstance(name.ctx, ast.Store)]
    if len(stored) != len(names) or any(isinstance(c, ast.Load) for c in begins.values()):
        return [], expression
    made = []
    for inner in found:
        value = _Reading(names).visit(copy.deepcopy(inner.value))
        statement = ast.Assign([ast.Name(inner.target.id, ast.Store())], value)
        made.append(ast.fix_missing_locations(ast.copy_location(statement, inner)))
    return made, _Reading(names).visit(copy.deepcopy(expression)) if names else expression


def _in_order(node: ast.AST) -> list[ast.Name]:
    """Names by place: a value's own are read before it is assigned."""
    if isinstance(node, ast.Name):
        return [node]
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.NamedExpr):
        children = [node.value, node.target]
    return [name for child in children for name in _in_order(child)]


def _first(node: ast.AST) -> Iterator[ast.NamedExpr]:
    """Assignments in an expression that are made in any case, inner ones first."""
    match node:
        case ast.BoolOp():
            yield from _first(node.values[0])
        case ast.IfExp():
            yield from _first(node.test)
        case ast.Compare() if len(node.ops) > 1:
            yield from _first(node.left)
            yield from _first(node.comparators[0])
        case ast.Lambda() | ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _first(child)
    if isinstance(node, ast.NamedExpr):
        yield node


class _Reading(ast.NodeTransformer):
    """Names in place of what they have been assigned."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        if node.target.id not in self._names:
            return node
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
