"""Python's operators by their names in the module ``operator``.

Before::

    s = functools.reduce(operator.add, (a, b, c))

After, as if it had been written::

    s = (a + b) + c
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from loopbook.frontend import arith
from loopbook.frontend.operators import SYMBOLS, lift, negated, operate
from loopbook.frontend.registry import ELEMENTWISE, FUNCTIONS
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Value


def _of_two(kind: type[ast.operator]) -> Callable[..., Value]:
    return lambda t, a, b: operate(t, kind, a, b)


def _compared(kind: type[ast.cmpop]) -> Callable[..., Value]:
    def lowering(t: Translator, a: Value, b: Value) -> Value:
        return lift(t, lambda x, y: arith.compare(t.code, SYMBOLS[kind], x, y), a, b)

    return lowering


def _of_one(kind: type[ast.unaryop]) -> Callable[..., Value]:
    return lambda t, a: negated(t, SYMBOLS[kind], a)


for _function, _kind in (
    (operator.add, ast.Add), (operator.sub, ast.Sub), (operator.mul, ast.Mult),
    (operator.truediv, ast.Div), (operator.floordiv, ast.FloorDiv), (operator.mod, ast.Mod),
    (operator.pow, ast.Pow), (operator.matmul, ast.MatMult), (operator.and_, ast.BitAnd),
    (operator.or_, ast.BitOr), (operator.xor, ast.BitXor), (operator.lshift, ast.LShift),
    (operator.rshift, ast.RShift),
):  # fmt: skip
    FUNCTIONS[_function] = _of_two(_kind)
    if _kind is not ast.MatMult:
        ELEMENTWISE.add(_function)
for _function, _compare in (
    (operator.lt, ast.Lt), (operator.le, ast.LtE), (operator.gt, ast.Gt), (operator.ge, ast.GtE),
    (operator.eq, ast.Eq), (operator.ne, ast.NotEq),
):  # fmt: skip
    FUNCTIONS[_function] = _compared(_compare)
    ELEMENTWISE.add(_function)
for _function, _single in (
    (operator.neg, ast.USub), (operator.pos, ast.UAdd), (operator.invert, ast.Invert),
    (operator.not_, ast.Not),
):  # fmt: skip
    FUNCTIONS[_function] = _of_one(_single)
FUNCTIONS[operator.abs] = FUNCTIONS[abs]
