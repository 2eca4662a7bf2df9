"""One way out of a function: early returns become branches.

Before::

    if n == 0:
        return a
    b = a * 2
    return b

After::

    if n == 0:
        RETURNED = a
    else:
        b = a * 2
        RETURNED = b
"""

from __future__ import annotations

import ast
import copy

from loopbook.errors import LoweringError

RETURNED = "returned_"


def single_exit(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements with every ``return`` an assignment to `RETURNED`.

    Raises:
        LoweringError: for a return inside a loop.
    """
    return _lift(_without_docstring(body))


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        return body[1:]
    return body


def _lift(body: list[ast.stmt]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for place, node in enumerate(body):
        if isinstance(node, ast.Return):
            target = ast.Name(RETURNED, ast.Store())
            value = node.value or ast.Constant(None)
            made = ast.Assign([target], value)
            ast.copy_location(made, node)
            ast.copy_location(target, node)
            ast.copy_location(value, node)
            return [*result, made]
        if isinstance(node, ast.If) and _returns(node):
            rest = body[place + 1 :]
            then, other = list(node.body), list(node.orelse)
            if not _always(then):
                then += copy.deepcopy(rest)
            if not _always(other):
                other += rest
            made = ast.If(node.test, _lift(then), _lift(other))
            return [*result, ast.copy_location(made, node)]
        if isinstance(node, ast.For | ast.While) and _returns(node):
            raise LoweringError(
                "return inside a loop; leave the loop with break and return after it", node.lineno
            )
        result.append(node)
    return result


def _returns(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Return) for inner in ast.walk(node))


def _always(body: list[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        return _always(last.body) and _always(last.orelse)
    return isinstance(last, ast.Return | ast.Raise)
