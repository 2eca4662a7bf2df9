"""Indices that are negative when the program runs."""

from __future__ import annotations

import ast
import copy

from loopbook.sdfg.known_wrong.kinds import Kinds, assigned, indices
from loopbook.sdfg.known_wrong.source import BlockRewriter, expression, integer


class Negative(BlockRewriter):
    """docc counts from the end where it sees a minus sign in front, and nowhere else.

    Before: ``A[i - 1]`` of a loop from 0, ``A[-i]``, ``k = -1`` and ``A[k]``: docc reads in front
    of the array. After: ``A[(i - 1) % A.shape[0]]``. Only what is negative on every way to it is
    recognised: an index under an ``if`` may be protected by it, and what comes from data or
    arguments cannot be known.
    """

    def __init__(self, kinds: Kinds) -> None:
        super().__init__(kinds.source)
        self.kinds = kinds
        self.lowest: dict[str, int] = {}
        fixed: dict[str, list[int | None]] = {}
        for name, value in assigned(kinds.source.body):
            known = None if isinstance(value, ast.For) else integer(value, kinds.source.names)
            fixed.setdefault(name, []).append(known)
        for name, values in fixed.items():
            if name not in kinds.parameters and None not in values:
                self.lowest[name] = min(value for value in values if value is not None)
        self.sheltered = 0

    def visit_For(self, node: ast.For) -> ast.AST:
        name = node.target.id if isinstance(node.target, ast.Name) else ""
        outer = self.lowest.get(name)
        self.lowest.pop(name, None)
        least = self._first(node)
        if least is not None:
            self.lowest[name] = least
        node = self.generic_visit(node)  # type: ignore[assignment]
        self.lowest.pop(name, None)
        if outer is not None:
            self.lowest[name] = outer
        return node

    def _first(self, node: ast.For) -> int | None:
        """The smallest value of a loop's variable, where that is a number."""
        if not isinstance(node.iter, ast.Call):
            return None
        given = node.iter.args
        if len(given) == 1:
            return 0
        step = 1 if len(given) == 2 else integer(given[2], self.source.names)
        if step is None or step == 0:
            return None
        if step > 0:
            return integer(given[0], self.source.names)
        last = integer(given[1], self.source.names)
        return None if last is None or step != -1 else last + 1

    def _protected(self, node: ast.AST) -> ast.AST:
        self.sheltered += 1
        node = self.generic_visit(node)
        self.sheltered -= 1
        return node

    visit_If = _protected
    visit_While = _protected
    visit_IfExp = _protected
    visit_BoolOp = _protected

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node = self.generic_visit(node)  # type: ignore[assignment]
        parts = indices(node)
        if self.kinds.of(node.value).rank < 1 or any(isinstance(p, ast.Slice) for p in parts):
            for part in parts:
                for bound in (part.lower, part.upper) if isinstance(part, ast.Slice) else ():
                    if bound is not None and _turned(bound) and self.kinds.of(bound).scalar:
                        self.source.refuse(
                            node, "does not count from the end here", "write the bound out"
                        )
            return node
        made = [self._index(node, axis, part) for axis, part in enumerate(parts)]
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = made
        else:
            node.slice = made[0]
        return node

    def _index(self, node: ast.Subscript, axis: int, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.UnaryOp) and integer(index) == 0:
            self.source.mend(index, "write -0 as 0")
            return expression("0", index)
        if integer(index, self.source.names) is not None or not self.kinds.of(index).scalar:
            return index
        lowest = self._lowest(index)
        surely = lowest is not None and lowest < 0 and not self.sheltered
        if not surely and not _turned(index):
            return index
        if not isinstance(node.value, ast.Name):
            self.source.refuse(node, "reads in front of the array here", "index it at once")
        self.source.mend(node, "count a negative index from the end")
        array = copy.deepcopy(node.value)
        array.ctx = ast.Load()
        return expression(f"(i) % a.shape[{axis}]", index, i=index, a=array)

    def _lowest(self, node: ast.expr) -> int | None:
        value = integer(node, self.source.names)
        if value is not None:
            return value
        if isinstance(node, ast.Name):
            return self.lowest.get(node.id)
        if isinstance(node, ast.BinOp):
            left, right = self._lowest(node.left), self._lowest(node.right)
            if isinstance(node.op, ast.Add) and left is not None and right is not None:
                return left + right
            fixed = integer(node.right, self.source.names)
            if isinstance(node.op, ast.Sub) and left is not None and fixed is not None:
                return left - fixed
            if isinstance(node.op, ast.Mult) and left is not None and (fixed or 0) > 0:
                return left * (fixed or 1)
        return None


def _turned(node: ast.expr | None) -> bool:
    """Whether a variable stands behind a minus sign."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and integer(node) is None
