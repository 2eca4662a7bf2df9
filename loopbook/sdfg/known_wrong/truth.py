"""Truth: ``not``, ``and``, ``or``, chains of comparisons, arithmetic with truth values; signs."""

from __future__ import annotations

import ast
from itertools import pairwise

from loopbook.sdfg.known_wrong.kinds import BOOL, FLOAT, INT, Kinds
from loopbook.sdfg.known_wrong.source import BlockRewriter, expression, same

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


class Truth(BlockRewriter):
    """docc's ``not`` turns the lowest bit round; its ``and`` and ``or`` give truth values only.

    - ``not n`` of a number: docc computes ``n ^ 1``. After: ``n == 0``.
    - ``a < b < c``: docc parses none. After: ``a < b and b < c``.
    - ``a or b`` as a number: docc gives 1. Refused.
    - ``x != x``: docc's symbolic engine says never, also of a NaN. Refused.
    - ``-a[i]`` of 32 bits: docc writes an instruction for floats. After: ``0 - a[i]``.
    - ``(a > 0) + (b > 0)``: NumPy's truth values give 1 at most, docc's 2. Refused.
    """

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds.source)
        self.kinds = kinds

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        node.test = self._tested(node.test)
        for field in ("body", "orelse"):
            inner = getattr(node, field)
            if isinstance(inner, list):
                setattr(node, field, [self.visit(part) for part in inner])
            else:
                setattr(node, field, self.visit(inner))
        return node

    visit_While = visit_If
    visit_IfExp = visit_If

    def _tested(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth matters."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._tested(value) for value in node.values]
            return node
        return self.visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        if any(self.kinds.of(value).what != BOOL for value in node.values):
            word = "and" if isinstance(node.op, ast.And) else "or"
            self.source.refuse(
                node, f"makes a truth value of '{word}'", "write 'x if … else y' for a number"
            )
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        kind = self.kinds.of(node.operand)
        if isinstance(node.op, ast.Not):
            node.operand = self._tested(node.operand)
            if kind.scalar and kind.what in (INT, FLOAT):
                self.source.mend(node, "write 'not' of a number as a comparison with 0")
                return expression("x == 0", node, x=node.operand)
            if kind.rank > 0 or (not kind.known and not isinstance(node.operand, ast.BoolOp)):
                self.source.refuse(node, "may negate bits with 'not'", "compare with 0 instead")
            return node
        if kind.what == BOOL and isinstance(node.op, ast.USub | ast.Invert) and kind.scalar:
            self.source.refuse(node, "takes a truth value for a number here", "use 'not'")
        if isinstance(node.op, ast.USub) and kind.scalar and kind.what == INT and kind.bits % 64:
            self.source.mend(node, "subtract a whole number of less than 64 bits from 0")
            return self.generic_visit(expression("0 - x", node, x=node.operand))
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        parts = [node.left, *node.comparators]
        for left, right in pairwise(parts):
            if same(left, right) and not isinstance(left, ast.Constant):
                self.source.refuse(
                    node, "takes a value for equal to itself, also a NaN", "test for NaN outside"
                )
        if len(node.ops) == 1:
            return self.generic_visit(node)
        self.source.mend(node, "write a chain of comparisons one by one")
        links: list[ast.expr] = []
        for left, operator, right in zip(parts, node.ops, parts[1:], strict=False):
            link = ast.Compare(left=left, ops=[operator], comparators=[right])
            links.append(ast.copy_location(link, node))
        chain = ast.copy_location(ast.BoolOp(op=ast.And(), values=links), node)
        return self.generic_visit(chain)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        left, right = self.kinds.of(node.left), self.kinds.of(node.right)
        if isinstance(node.op, ARITHMETIC) and left.what == right.what == BOOL:
            self.source.refuse(
                node, "adds truth values as numbers, NumPy does not", "write '1 if … else 0'"
            )
        return self.generic_visit(node)
