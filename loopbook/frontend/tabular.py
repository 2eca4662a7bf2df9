"""Tables of numbers, lists of lists of a known length, as arrays of several axes.

Before::

    best = [[0] * (m + 1) for _ in range(n + 1)]
    best[i + 1][j + 1] = best[i][j] + 1

After, as if it had been written so, but that elements are Python's numbers::

    best = np.full((n + 1, m + 1), 0)
    best[i + 1, j + 1] = best[i, j] + 1

A table that anything else is done with than to read and store numbers, to count its rows and
columns, or to sum a row up, is left as it is: a row by itself may become one of another table.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from loopbook.frontend.filled import READING, is_several, known, nodes_of


def with_tables(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A function's statements with tables as arrays; the statements themselves stay."""
    wanted = _tables(body)
    if not wanted:
        return list(body)
    return [_Rewritten(wanted).visit(copy.deepcopy(statement)) for statement in body]


def _tables(body: Sequence[ast.stmt]) -> dict[str, int]:
    """The names that always hold such tables, and how many axes those have."""
    found: dict[str, int] = {}
    spoilt: set[str] = set()
    for node, parents in nodes_of(body):
        if not isinstance(node, ast.Name):
            continue
        if isinstance(node.ctx, ast.Store):
            parent = parents[0]
            made = _made(parent.value) if isinstance(parent, ast.Assign) else None
            alone = isinstance(parent, ast.Assign) and parent.targets == [node]
            if made is None or not alone or found.setdefault(node.id, len(made[1])) != len(made[1]):
                spoilt.add(node.id)
    for node, parents in nodes_of(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in found:
            inside = any(isinstance(p, ast.FunctionDef | ast.Lambda) for p in parents)
            if inside or not _is_plain_use(parents, node, found[node.id]):
                spoilt.add(node.id)
    return {name: axes for name, axes in found.items() if name not in spoilt}


def _made(value: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    """The number that fills a new table, and how long it is along each axis; None if it is none."""
    counts: list[ast.expr] = []
    variables: set[str] = set()
    while (level := _level(value)) is not None:
        value, count, names = level
        counts.append(count)
        variables |= names
    if len(counts) < 2 or is_several(value):
        return None
    used = {n.id for part in (value, *counts) for n in ast.walk(part) if isinstance(n, ast.Name)}
    calls = any(isinstance(n, ast.Call) and not _is_known(n) for n in ast.walk(value))
    return None if calls or used & variables else (value, counts)


def _level(value: ast.expr) -> tuple[ast.expr, ast.expr, set[str]] | None:
    """What a list consists of, how many times, and the variables that count it."""
    match value:
        case ast.ListComp(
            elt=item,
            generators=[
                ast.comprehension(
                    target=ast.Name(id=name),
                    iter=ast.Call(func=ast.Name(id="range"), args=[count], keywords=[]),
                    ifs=[],
                    is_async=0,
                )
            ],
        ):
            return item, count, {name}
        case ast.BinOp(op=ast.Mult(), left=ast.List(elts=[item]), right=count) if not isinstance(
            item, ast.List | ast.ListComp | ast.BinOp
        ):
            return item, count, set()
    return None


def _is_known(call: ast.Call) -> bool:
    """Whether it is a number such as ``float("inf")``."""
    of_type = isinstance(call.func, ast.Name) and call.func.id in ("float", "int", "bool")
    return of_type and all(isinstance(argument, ast.Constant) for argument in call.args)


def _is_plain_use(parents: Sequence[ast.AST], node: ast.AST, axes: int) -> bool:
    """Whether a number is read or stored, or rows or numbers in a row are counted or summed up."""
    depth = 0
    for parent in parents:
        if not isinstance(parent, ast.Subscript) or parent.value is not node:
            break
        if isinstance(parent.slice, ast.Slice | ast.Tuple):
            return False
        node, depth = parent, depth + 1
        if depth == axes:
            return not isinstance(parent.ctx, ast.Del)
    match parents[depth]:
        case ast.Call(func=ast.Name(id="len"), args=[argument]):
            return argument is node
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            return name in READING and argument is node and depth == axes - 1
    return False


class _Rewritten(ast.NodeTransformer):
    """Calls of `tabled` where tables are made, and places of several numbers in them."""

    def __init__(self, tables: dict[str, int]) -> None:
        self.tables = tables

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        target, found = node.targets[0], None
        if isinstance(target, ast.Name) and target.id in self.tables:
            found = _made(node.value)
        if found is None:
            return self.generic_visit(node)
        value = node.value
        key = known((value.lineno, value.col_offset))
        made = ast.Call(known(tabled), [key, found[0], *found[1]], [])
        node.value = ast.fix_missing_locations(ast.copy_location(made, value))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        places: list[ast.expr] = []
        base: ast.expr = node
        while isinstance(base, ast.Subscript):
            places.append(base.slice)
            base = base.value
        if not isinstance(base, ast.Name) or base.id not in self.tables:
            return self.generic_visit(node)
        own = [self.visit(place) for place in reversed(places)]
        index = own[0] if len(own) == 1 else ast.Tuple(own, ast.Load())
        made = ast.Subscript(base, index, node.ctx)
        return ast.fix_missing_locations(ast.copy_location(made, node))


def tabled(*_: object) -> list[object]:
    """Stands for making a table, which `loopbook.frontend.constructs.listed` does."""
    raise NotImplementedError
