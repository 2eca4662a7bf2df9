"""``x if test else y``: docc keeps the value in a temporary of the test."""

from __future__ import annotations

import ast

from loopbook.sdfg.known_wrong.kinds import BOOL, FLOAT, Kind, Kinds
from loopbook.sdfg.known_wrong.source import BlockRewriter, is_size
from loopbook.syntax import walk

_SAFE = Kind(FLOAT, 0, 64)


class Conditionals(BlockRewriter):
    """docc picks a name for the value, and does not take it: the first temporary of the test gets
    the same one, and its type decides what is left of the value.

    Before: ``0.5 if n[i] > 0 else 1.5`` of whole n: docc gives 0 and 1. After: ``if n[i] > 0: t =
    0.5``, ``else: t = 1.5`` in front of the statement. Where the test begins with a double, and so
    it comes out right, it stays as it is.
    """

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds.source)
        self.kinds = kinds
        self.number = 0

    def visit_Assign(self, node: ast.stmt) -> ast.AST | list[ast.stmt]:
        before: list[ast.stmt] = []
        _Taken(self, before).visit(node)
        return [*before, node] if before else node

    visit_AugAssign = visit_Assign
    visit_Return = visit_Assign
    visit_Expr = visit_Assign

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        before: list[ast.stmt] = []
        node.test = _Taken(self, before).visit(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return [*before, node] if before else node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        before: list[ast.stmt] = []
        node.iter = _Taken(self, before).visit(node.iter)
        node.body = self.block(node.body)
        return [*before, node] if before else node

    def visit_While(self, node: ast.While) -> ast.AST:
        before: list[ast.stmt] = []
        node.test = _Taken(self, before).visit(node.test)
        if before:
            self.source.refuse(
                node, "mixes up the types of a condition", "put it into the body of the loop"
            )
        node.body = self.block(node.body)
        return node

    def right(self, node: ast.IfExp) -> bool:
        """Whether docc's temporary can hold the value."""
        held = self._first(node.test)
        values = [self.kinds.of(node.body), self.kinds.of(node.orelse)]
        if held is None:
            return values[0] == values[1]
        if held == _SAFE:
            return all(value.known and value.rank == 0 for value in values)
        return held.known and all(v.what == held.what and v.bits in (0, held.bits) for v in values)

    def _first(self, node: ast.expr) -> Kind | None:
        """The kind of the first temporary that docc makes for an expression, if it makes any."""
        if isinstance(node, ast.Constant | ast.Name | ast.Attribute):
            return None
        if isinstance(node, ast.Subscript):
            return None if is_size(node) else self.kinds.of(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return None
        for child in _parts(node):
            inner = self._first(child)
            if inner is not None:
                return inner
        if isinstance(node, ast.Call):
            return None  # it has other names for its own
        if isinstance(node, ast.Compare | ast.BoolOp):
            return Kind(BOOL)
        kind = self.kinds.of(node)
        return Kind(kind.what, kind.rank, kind.bits or 64)


class _Taken(ast.NodeTransformer):
    """Takes the values out of one expression."""

    def __init__(self, outer: Conditionals, before: list[ast.stmt]) -> None:
        self.outer, self.before = outer, before

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        nested = any(isinstance(n, ast.IfExp) for n in walk(node) if n is not node)
        if self.outer.right(node) and not nested:
            return node
        outer = self.outer
        outer.source.mend(node, "choose a value with an if statement")
        name = f"lb_value_{outer.number}"
        outer.number += 1
        branches = [
            ast.copy_location(
                ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value), value
            )
            for value in (node.body, node.orelse)
        ]
        chosen = ast.If(test=node.test, body=[branches[0]], orelse=[branches[1]])
        self.before += outer.block([ast.fix_missing_locations(ast.copy_location(chosen, node))])
        return ast.copy_location(ast.Name(id=name, ctx=ast.Load()), node)


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Call):
        return list(node.args)
    if isinstance(node, ast.BoolOp):
        return list(node.values)
    return [node.operand] if isinstance(node, ast.UnaryOp) else []
