"""Variables that are whole numbers of 32 bits for NumPy, and words of 64 bits for docc."""

from __future__ import annotations

import ast

from loopbook.sdfg.known_wrong.kinds import INT, Kind, Kinds, assigned

SHORT = Kind(INT, 0, 32)

_GROWING = ast.Add | ast.Sub | ast.Mult | ast.LShift
"""What may give more bits than its operands have."""

_MODULAR = ast.Add | ast.Sub | ast.Mult | ast.BitAnd | ast.BitOr | ast.BitXor
"""What may as well be wrapped around afterwards."""


def check(kinds: Kinds) -> None:
    """docc adds up in 64 bits what NumPy wraps around at 32.

    After ``s = 0`` and ``s += a[i] * b[i]`` of int32, ``s >> 15`` is of the whole sum; so are
    ``s // n``, comparisons, floats made of it and elements that it is the index of. Refused where
    more is done with it than to add, to multiply, and to store it into 32 bits again.
    """
    if any(kind.what == INT and kind.bits == 32 for kind in kinds.parameters.values()):
        _Sums(kinds).check()


class _Sums:
    """Which variables may be more than NumPy's are."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        given = [(n, v) for n, v in assigned(kinds.source.body) if isinstance(v, ast.expr)]
        self.given = [(n, v) for n, v in given if kinds.variables.get(n) == SHORT]
        self.more = set[str]()
        before = -1
        while before != len(self.more):
            before = len(self.more)
            self.more |= {name for name, value in self.given if self._is_more(value)}

    def check(self) -> None:
        for node in self.kinds.source.walk() if self.more else ():
            if any(self._is_more(one) for one in self._taken_whole(node)):
                self.kinds.source.refuse(
                    node, "adds up in 64 bits what NumPy has 32 of", "take arrays of int64"
                )

    def _is_more(self, node: ast.expr) -> bool:
        """Whether docc may have more bits of an expression than 32."""
        if isinstance(node, ast.Name):
            return node.id in self.more
        if isinstance(node, ast.UnaryOp):
            return self._is_more(node.operand)
        if not isinstance(node, ast.BinOp) or self.kinds.of(node) != SHORT:
            return False
        sides = (node.left, node.right)
        if isinstance(node.op, _GROWING) and any(map(self._is_variable, sides)):
            return True
        return isinstance(node.op, _MODULAR | ast.LShift) and any(map(self._is_more, sides))

    def _is_variable(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self.kinds.variables.get(node.id) == SHORT

    def _taken_whole(self, node: ast.AST) -> list[ast.expr]:
        """The parts of a node of which all bits count."""
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                plain = isinstance(op, _MODULAR) and self.kinds.of(node) == SHORT
                return [right] if isinstance(op, ast.LShift) else [] if plain else [left, right]
            case ast.AugAssign(target=ast.expr() as left, op=op, value=right):
                plain = isinstance(op, _MODULAR) and self.kinds.of(left) == SHORT
                whole = [] if plain or isinstance(op, ast.LShift) else [left, right]
                return [one for one in whole if not isinstance(one, ast.Subscript)]
            case ast.Assign(targets=targets, value=value):
                return [] if all(self.kinds.of(one) == SHORT for one in targets) else [value]
            case ast.Compare(left=left, comparators=others):
                return [left, *others]
            case ast.BoolOp(values=values):
                return values
            case ast.Call(args=given):
                return given
            case ast.If(test=test) | ast.While(test=test):
                return [test]
            case ast.IfExp(test=test):
                return [test]
            case ast.Subscript(slice=ast.Tuple(elts=indices)):
                return indices
            case ast.Subscript(slice=index):
                return [index]
        return []
