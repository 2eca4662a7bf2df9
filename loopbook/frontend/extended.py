"""Lists that several items are added to at once: one after the other.

Before::

    stack.extend([(r + 1, c), (r - 1, c)])       found.extend(x[i:j])

After::

    stack.append((r + 1, c))                     for item_0_ in x[i:j]:
    stack.append((r - 1, c))                         found.append(item_0_)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Sequence
from itertools import count
from typing import TypeGuard

from loopbook.frontend.filled import nodes_of
from loopbook.frontend.liveness import loads


def with_appends(body: Sequence[ast.stmt], numbers: count) -> list[ast.stmt]:
    """Statements in which items come to lists one by one; those given stay what they are.

    Args:
        numbers: for names that nothing else has.
    """
    lists = _names_of_lists(body)
    if not any(_added(node, lists) for node, _ in nodes_of(body)):
        return list(body)
    writer = _Extended(lists, numbers)
    made = [writer.visit(copy.deepcopy(node)) for node in body]
    return [one for found in made for one in (found if isinstance(found, list) else [found])]


def _added(node: ast.AST, lists: Collection[str]) -> tuple[str, ast.expr] | None:
    """The list of ``name.extend(items)``, or ``name += items``, and the items; None for another
    node, or if the items are of what the list holds.

    Args:
        lists: names that hold lists and nothing else.
    """
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="extend"),
                args=[items],
                keywords=[],
            )
        ):
            pass
        case ast.AugAssign(
            target=ast.Name(id=name),
            op=ast.Add(),
            value=(ast.List() | ast.Tuple() | ast.ListComp()) as items,  # of an array it is a sum
        ) if name in lists:
            pass
        case _:
            return None
    return None if name in loads(items) else (name, items)


class _Extended(ast.NodeTransformer):
    def __init__(self, lists: Collection[str], numbers: count) -> None:
        self.lists, self.numbers = lists, numbers

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        return self._instead(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        return self._instead(node)

    def _instead(self, node: ast.stmt) -> ast.AST | list[ast.stmt]:
        found = _added(node, self.lists)
        if found is None:
            return node
        name, items = found
        made: list[ast.stmt]
        if _is_written_out(items):
            made = [_append(name, item) for item in items.elts] or [ast.Pass()]
        else:
            own = f"item_{next(self.numbers)}_"
            body: list[ast.stmt] = [_append(name, ast.Name(own, ast.Load()))]
            made = [ast.For(ast.Name(own, ast.Store()), items, body, [])]
        return [ast.fix_missing_locations(ast.copy_location(one, node)) for one in made]


def _is_written_out(items: ast.expr) -> TypeGuard[ast.List | ast.Tuple]:
    several = isinstance(items, ast.List | ast.Tuple)
    return several and not any(isinstance(item, ast.Starred) for item in items.elts)


def _append(name: str, item: ast.expr) -> ast.Expr:
    method = ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load())
    return ast.Expr(ast.Call(method, [item], []))


def _names_of_lists(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names that statements give new lists to, each by its own, and add to, but nothing else."""
    made: set[str] = set()
    others: set[str] = set()
    for node, parents in nodes_of(body):
        if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Load):
            continue
        match parents[0] if parents else None:
            case ast.Assign(targets=[_], value=ast.List() | ast.ListComp()):
                made.add(node.id)
            case ast.AugAssign(op=ast.Add()):
                pass
            case _:
                others.add(node.id)
    return frozenset(made - others)
