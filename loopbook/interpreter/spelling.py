"""How expressions and operations with whole numbers are written in Python."""

from __future__ import annotations

import ast

from loopbook.interpreter.faults import NotInterpretedError
from loopbook.program import expr
from loopbook.program.dataflow import Operation, Tasklet
from loopbook.program.expr import Expr

REAL = ("float", "double", "half", "bfloat")

SINGLE = ("float", "half", "bfloat")
"""Types that numbers are rounded to."""

_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}

_UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}

_WHOLE = {
    "int_add": "{0} + {1}",
    "int_sub": "{0} - {1}",
    "int_mul": "_wrapped({0} * {1})",
    "int_sdiv": "_idiv({0}, {1})",
    "int_udiv": "_idiv({0}, {1})",
    "int_srem": "_irem({0}, {1})",
    "int_urem": "_irem({0}, {1})",
    "int_and": "{0} & {1}",
    "int_or": "{0} | {1}",
    "int_xor": "{0} ^ {1}",
    "int_shl": "_shift({0}, {1})",
    "int_ashr": "_shift({0}, -{1})",
    "int_smin": "min({0}, {1})",
    "int_smax": "max({0}, {1})",
    "int_umin": "min({0}, {1})",
    "int_umax": "max({0}, {1})",
    "int_abs": "abs({0})",
    "assign": "{0}",
}

_SIGNS = {"eq": "==", "ne": "!=", "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}

_WITHIN = ("int_s", "int_u", "int_e", "int_n", "fp_")
"""What operations are called whose results need no fitting: quotients, extremes, comparisons."""


def named(name: str) -> str:
    """What a container is called in Python."""
    return f"c_{name}"


def is_real(dtype: str) -> bool:
    return dtype in REAL


def whole(text: str) -> str:
    """A constant of a block that is a whole number or a truth."""
    return {"true": "1", "false": "0"}.get(text, f"({text.rstrip('fFlLuU')})")


def operation(node: Operation, values: list[str]) -> str:
    """What a tasklet makes of whole numbers, or says of numbers that it compares.

    Raises:
        NotInterpretedError: it is something else.
    """
    if not isinstance(node, Tasklet):
        raise NotInterpretedError(node.op)
    if node.code in _WHOLE:
        return _WHOLE[node.code].format(*(f"({v})" for v in values))
    sign = _SIGNS.get(node.code[-2:])
    if sign is None:
        raise NotInterpretedError(node.code)
    return f"int(({values[0]}) {sign} ({values[1]}))"


def kept(code: str, value: str, own: str, target: str) -> str:
    """What a place for whole numbers of type `target` holds of one of type `own`."""
    if code != "assign":
        plain = not code or (code.startswith(_WITHIN) and code not in ("int_sub", "int_shl"))
        return value if plain else _fitted(value, target)
    if target == "bool":
        return f"int(({value}) != 0)"
    return value if own == target else _fitted(value, target)


def _fitted(value: str, target: str) -> str:
    if target in _BITS:
        return f"_wrapped({value}, {_BITS[target]})"
    if target in _UNSIGNED:
        return f"_unsigned({value}, {_UNSIGNED[target]})"
    return value


def number(expression: Expr) -> str:
    """An expression of a bound, an index or a condition."""
    return spelt(expression.text)


class _Spelling(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in ("True", "False", "true", "false"):
            return ast.Constant(node.id.lower() == "true")
        return ast.Name(named(node.id))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not isinstance(node.func, ast.Name):
            raise NotInterpretedError(ast.unparse(node))
        name = node.func.id.lower().removeprefix("__daisy_")
        args = [self.visit(arg) for arg in node.args]
        match name:
            case "and" | "or":
                return ast.BoolOp(ast.And() if name == "and" else ast.Or(), args)
            case "not":
                return ast.UnaryOp(ast.Not(), args[0])
            case "min" | "max" | "idiv" | "imod" | "irem" | "abs" | "pow":
                return ast.Call(ast.Name(f"_{name}"), args, [])
            case "iabs":
                return ast.Call(ast.Name("_abs"), args, [])
            case "trunc_i32":
                return ast.Call(ast.Name("_wrapped"), [*args, ast.Constant(32)], [])
            case "zext_i64":
                return ast.Call(ast.Name("_unsigned"), [*args, ast.Constant(32)], [])
        raise NotInterpretedError(f"the function {name}")

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        left, right = self.visit(node.left), self.visit(node.right)
        match node.op:
            case ast.Div() | ast.FloorDiv():
                return ast.Call(ast.Name("_idiv"), [left, right], [])
            case ast.Mod():
                return ast.Call(ast.Name("_irem"), [left, right], [])
        return ast.BinOp(left, node.op, right)


_KNOWN: dict[str, str] = {}


def spelt(text: str) -> str:
    """An expression in docc's words, as Python."""
    if text not in _KNOWN:
        tree = _Spelling().visit(ast.parse(ast.unparse(expr.parse(text)), mode="eval").body)
        _KNOWN[text] = ast.unparse(ast.fix_missing_locations(tree))
    return _KNOWN[text]
