"""``max``, ``min`` and ``sorted`` by a key: what is gone through, and a list of the keys.

Before::

    best = max(range(n), key=lambda i: gain[i] / cost[i])
    order = sorted(range(n), key=weights.__getitem__)

After, where the two functions stand for what `loopbook.frontend.constructs.keyed` does::

    best = greatest_by(range(n), [gain[i] / cost[i] for i in range(n)])
    order = sorted_by(range(n), [weights[i] for i in range(n)])
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from itertools import count

from loopbook.frontend.filled import known, nodes_of


def with_keys(body: Sequence[ast.stmt], numbers: count) -> list[ast.stmt]:
    """Statements in which the keys are written out as lists; those given stay what they are.

    Args:
        numbers: for names that nothing else has.
    """
    if not any(_is_keyed(node) for node, _ in nodes_of(body)):
        return list(body)
    writer = _Keyed(numbers)
    return [writer.visit(copy.deepcopy(node)) for node in body]


def _is_keyed(node: ast.AST) -> bool:
    """Whether it is a call by key that goes through what may as well be gone through twice."""
    match node:
        case ast.Call(func=ast.Name(id="max" | "min" | "sorted" as name), args=[through]):
            words = {word.arg for word in node.keywords}
            taken = {"key", "reverse"} if name == "sorted" else {"key"}
            return "key" in words and words <= taken and _is_lasting(through)
    return False


def _is_lasting(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Call(func=ast.Name(id="range"), keywords=[]):
            parts = (inner for end in node.args for inner in ast.walk(end))
            return not any(isinstance(inner, ast.NamedExpr | ast.Lambda) for inner in parts)
    return False


class _Keyed(ast.NodeTransformer):
    def __init__(self, numbers: count) -> None:
        self.numbers = numbers

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if not _is_keyed(node):
            return node
        assert isinstance(node.func, ast.Name)
        words = {word.arg: word.value for word in node.keywords}
        name = f"item_{next(self.numbers)}_"
        key = _called(words.pop("key"), name)
        if key is None:
            return node
        through = copy.deepcopy(node.args[0])
        part = ast.comprehension(ast.Name(name, ast.Store()), through, [], 0)
        meant = {"max": greatest_by, "min": least_by, "sorted": sorted_by}[node.func.id]
        rest = [ast.keyword(word, value) for word, value in words.items()]
        made = ast.Call(known(meant), [node.args[0], ast.ListComp(key, [part])], rest)
        return ast.fix_missing_locations(ast.copy_location(made, node))


def _called(function: ast.expr, name: str) -> ast.expr | None:
    """What a function gives of a variable; None if there is no such expression."""
    item = ast.Name(name, ast.Load())
    match function:
        case ast.Lambda(args=ast.arguments(args=[own], defaults=[], vararg=None, kwarg=None)):
            body = copy.deepcopy(function.body)
            scopes = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.NamedExpr)
            if any(isinstance(inner, scopes) for inner in ast.walk(body)):
                return None
            return _Renamed(own.arg, name).visit(body)
        case ast.Name():
            return ast.Call(function, [item], [])
        case ast.Attribute(value=ast.Name() as owner, attr="__getitem__"):
            return ast.Subscript(owner, item, ast.Load())
    return None


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.new, node.ctx) if node.id == self.old else node


def greatest_by(*_: object) -> object:
    """Stands for the first of the items whose key is the greatest."""
    raise NotImplementedError


def least_by(*_: object) -> object:
    """Stands for the first of the items whose key is the least."""
    raise NotImplementedError


def sorted_by(*_: object) -> list[object]:
    """Stands for the items in order of their keys."""
    raise NotImplementedError
