"""Looks at whole numbers where they may outgrow a word (see `loopbook.frontend.growing`)."""

from __future__ import annotations

import ast
import math

from loopbook.frontend import arith, types
from loopbook.frontend.code import bare
from loopbook.frontend.demands import is_of_arguments
from loopbook.frontend.growing import WORD
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Scalar

MOST = 9.2e18
"""What a word has room for, and a float is sure of."""


def checked(t: Translator, node: ast.BinOp) -> None:
    """A call in which a part of an expression is no word runs as Python."""
    left, right = t.expr(node.left), t.expr(node.right)
    if not isinstance(left, Scalar) or not isinstance(right, Scalar):
        return
    dtype, weak = types.promote(left.kind, right.kind)
    if dtype != types.INT or not weak or (left.value is not None and right.value is not None):
        return
    code = t.code
    if isinstance(node.op, ast.Pow | ast.LShift) and right.value is None:
        _check_places(t, node.op, left, right)
        return
    a, b = (f"({bare(arith.real_of(one).text)})" for one in (left, right))
    if isinstance(node.op, ast.LShift):
        a, b = a, str(2.0 ** float(right.value or 0))
    sign = "+" if isinstance(node.op, ast.Add) else "-" if isinstance(node.op, ast.Sub) else "*"
    code.differs = True
    code.suppose(f"math.fabs({a} {sign} {b}) < {MOST}", or_leave=True)


def _check_places(t: Translator, op: ast.operator, left: Scalar, right: Scalar) -> None:
    """Of ``b ** k`` and ``b << k``: where `b` is a number, `k` is looked at, in front of the loops
    if that can be done there."""
    code = t.code
    if left.value is None:
        size = f"math.pow(math.fabs({bare(arith.real_of(left).text)}), "
        if isinstance(op, ast.LShift):
            size = f"math.fabs({bare(arith.real_of(left).text)}) * math.pow(2.0, "
        code.differs = True
        code.suppose(f"{size}{bare(arith.real_of(right).text)}) < {MOST}")
        return
    base = abs(int(left.value))
    if isinstance(op, ast.LShift):
        most = 62 - base.bit_length() + 1 if base else WORD
    else:
        most = int(math.log(MOST) / math.log(base)) if base > 1 else WORD
    if most == WORD:
        return
    ends = None if right.whole is None else code.facts.bound(right.whole, upper=True)
    if ends is not None and ends.constant is not None and ends.constant <= most:
        return
    code.differs = True
    number = None if ends is None else code.facts.known(ends)
    if ends is not None and number is not None and number <= most:
        guard = f"{ends.operand} <= {most}"
        if is_of_arguments(code, Scalar(guard, types.BOOL)):
            code.facts.guards[guard] = None
            return
    code.suppose(f"{right.text} <= {most}")
