"""Arrays of one dimension as lists of Python's numbers.

Before::

    for a, b in zip(left.tolist(), right.tolist()):

After::

    for a, b in zip([v.item() for v in left], [v.item() for v in right]):
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from itertools import count

from loopbook.frontend.filled import nodes_of


def with_items(body: Sequence[ast.stmt], numbers: count) -> list[ast.stmt]:
    """Statements in which ``tolist`` is written out; those given stay what they are.

    Args:
        numbers: for names that nothing else has.
    """
    if not any(_is_asked(node) for node, _ in nodes_of(body)):
        return list(body)
    writer = _Lists(numbers)
    return [writer.visit(copy.deepcopy(node)) for node in body]


def _is_asked(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="tolist"), args=[], keywords=[]):
            return True
    return False


class _Lists(ast.NodeTransformer):
    def __init__(self, numbers: count) -> None:
        self.numbers = numbers

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not _is_asked(node) or not isinstance(node.func, ast.Attribute):
            return node
        name = f"item_{next(self.numbers)}_"
        number = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "item", ast.Load()), [], [])
        part = ast.comprehension(ast.Name(name, ast.Store()), node.func.value, [], 0)
        made = ast.ListComp(number, [part])
        return ast.fix_missing_locations(ast.copy_location(made, node))
