"""What conditions of branches leave out."""

from __future__ import annotations

import ast

from loopbook.program import expr
from loopbook.program.expr import Expr


def covers_all(conditions: list[Expr]) -> bool:
    """Whether two conditions are each other's opposite: ``a < b`` and ``b <= a``."""
    if len(conditions) != 2:
        return False
    first, second = (condition.text for condition in conditions)
    opposite = _negated(expr.parse(first))
    return bool(opposite) and expr.normal_form(opposite) == expr.normal_form(second)


def _negated(condition: ast.expr) -> str:
    """The opposite of a condition, or nothing if it is of an unusual form."""
    match condition:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            sides = ast.unparse(left), ast.unparse(right)
            match op:
                case ast.Lt():
                    return f"{sides[1]} <= {sides[0]}"
                case ast.LtE():
                    return f"{sides[1]} < {sides[0]}"
                case ast.Eq():
                    return f"{sides[0]} != {sides[1]}"
                case ast.NotEq():
                    return f"{sides[0]} == {sides[1]}"
        case ast.Call(func=ast.Name(id="And" | "Or" as name), args=args):
            parts = [_negated(part) for part in args]
            return f"{'Or' if name == 'And' else 'And'}({', '.join(parts)})" if all(parts) else ""
    return ""
