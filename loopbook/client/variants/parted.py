"""Objects that are made several at a time, and gone through, one by one.

Before::

    a, b = Layer(v), Layer(w)
    for layer in (a, b):
        layer.step()

After::

    a = Layer(v)
    b = Layer(w)
    a.step()
    b.step()
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Container, Mapping
from typing import Any

from loopbook.syntax import mentioned

MOST = 8
"""Objects that a loop is written out for."""


def one_by_one(node: ast.FunctionDef, names: Mapping[str, Any]) -> ast.FunctionDef:
    """A function, changed in place, that makes objects in statements of their own.

    Args:
        names: that it knows of outside.
    """

    class Parted(ast.NodeTransformer):
        def visit_Assign(self, one: ast.Assign) -> Any:
            match one:
                case ast.Assign(targets=[ast.Tuple(elts=to)], value=ast.Tuple(elts=values)):
                    pass
                case _:
                    return one
            own = {target.id for target in to if isinstance(target, ast.Name)}
            if len(own) < len(to) or len(to) != len(values) or own & mentioned(one.value):
                return one
            if not any(_is_made(value, names) for value in values):
                return one
            pairs = zip(to, values, strict=True)
            made = [ast.Assign([target], value) for target, value in pairs]
            return [ast.fix_missing_locations(ast.copy_location(part, one)) for part in made]

    Parted().visit(node)
    return node


def _is_made(value: ast.expr, names: Mapping[str, Any]) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name)):
            return isinstance(names.get(name), type)
    return False


def for_each(node: ast.FunctionDef, objects: Container[str]) -> None:
    """Write loops over some objects out, in place."""

    class Written(ast.NodeTransformer):
        def visit_For(self, one: ast.For) -> Any:
            self.generic_visit(one)
            match one:
                case ast.For(
                    target=ast.Name(id=name),
                    iter=ast.Tuple(elts=items) | ast.List(elts=items),
                    orelse=[],
                ) if 0 < len(items) <= MOST:
                    pass
                case _:
                    return one
            owners = [i.id for i in items if isinstance(i, ast.Name) and i.id in objects]
            leaves = (ast.Break, ast.Continue)
            if len(owners) < len(items) or any(isinstance(n, leaves) for n in ast.walk(one)):
                return one
            uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
            inside = [n for n in ast.walk(one) if isinstance(n, ast.Name) and n.id == name]
            stored = [n for n in uses if not isinstance(n.ctx, ast.Load)]
            if len(inside) < len(uses) or len(stored) > 1:
                return one
            made: list[ast.stmt] = []
            for owner in owners:
                for part in copy.deepcopy(one.body):
                    for inner in ast.walk(part):
                        if isinstance(inner, ast.Name) and inner.id == name:
                            inner.id = owner
                    made.append(part)
            return made

    Written().visit(node)
