"""Comprehensions have names of their own.

Before::

    y = 1.0
    total = sum(y * w for y, w in zip(ys, ws)) + y

After::

    y = 1.0
    total = sum(y_1 * w_1 for y_1, w_1 in zip(ys, ws)) + y
"""

from __future__ import annotations

import ast
from typing import Any

from loopbook.syntax import mentioned, walk


def own_names(node: ast.AST) -> frozenset[str]:
    """Names that only mean something inside of a comprehension that is, or is in, `node`."""
    return frozenset(
        n.id
        for inner in walk(node)
        if isinstance(inner, ast.comprehension)
        for n in walk(inner.target)
        if isinstance(n, ast.Name)
    )


def told_apart(node: ast.FunctionDef) -> ast.FunctionDef:
    """A function whose comprehensions go through names that nothing else has, in place."""
    return _Renaming(mentioned(node)).visit(node)


class _Renaming(ast.NodeTransformer):
    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._names: dict[str, str] = {}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        outer = self._names
        parameters = {a.arg for a in walk(node.args) if isinstance(a, ast.arg)}
        node.args = self.visit(node.args)
        self._names = {name: own for name, own in outer.items() if name not in parameters}
        node.body = self.visit(node.body)
        self._names = outer
        return node

    def _comprehension(self, node: Any) -> Any:
        outer, first = self._names, node.generators[0]
        first.iter = self.visit(first.iter)  # it sees the names around the comprehension
        own = {n for generator in node.generators for n in own_names(generator)}
        self._names = outer | {name: self._fresh(name) for name in sorted(own)}
        for generator in node.generators:
            generator.target = self.visit(generator.target)
            if generator is not first:
                generator.iter = self.visit(generator.iter)
            generator.ifs = [self.visit(test) for test in generator.ifs]
        for part in ("key", "value", "elt"):
            if hasattr(node, part):
                setattr(node, part, self.visit(getattr(node, part)))
        self._names = outer
        return node

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    def _fresh(self, name: str) -> str:
        number = 1
        while f"{name}_{number}" in self._taken:
            number += 1
        self._taken.add(f"{name}_{number}")
        return f"{name}_{number}"
