"""How `benchmarks.interpreter` writes what programs compute with numbers: expressions, constants,
operations, and what a place of some type makes of what is stored there."""

from __future__ import annotations

import ast

from benchmarks.interpreter_runtime import MODULUS, ROUNDED, NotInterpretedError, real
from loopbook.program import expr
from loopbook.program.dataflow import Constant, MathsCall, Operation, Tasklet
from loopbook.program.expr import Expr

_REAL = ("float", "double", "half", "bfloat")

_SINGLE = ("float", "half", "bfloat")
"""Types that numbers are rounded to."""

_BITS = {"int8": 8, "int16": 16, "int32": 32}

_UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}

_ARITHMETIC = {
    "fp_add": "({0} + {1}) % P",
    "fp_sub": "({0} - {1}) % P",
    "fp_mul": "({0} * {1}) % P",
    "fp_neg": "(-({0})) % P",
    "fp_fma": "({0} * {1} + {2}) % P",
    "fp_div": "_divided({0}, {1})",
    "fp_rem": "_any(3, {0}, {1})",
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
    "int_shl": "_wrapped({0} << {1})",
    "int_ashr": "{0} >> {1}",
    "int_smin": "min({0}, {1})",
    "int_smax": "max({0}, {1})",
    "int_umin": "min({0}, {1})",
    "int_umax": "max({0}, {1})",
    "int_abs": "abs({0})",
    "assign": "{0}",
}

_SIGNS = {"eq": "==", "ne": "!=", "ge": ">=", "gt": ">", "le": "<=", "lt": "<"}

_EXACT = ("assign", "fp_add", "fp_sub", "fp_mul", "fp_neg", "fp_fma")
"""What makes rounded numbers of rounded ones."""

_EXTREMES = ("fmax", "fmin", "max", "min")


def named(name: str) -> str:
    """What a container is called in Python."""
    return f"c_{name}"


def is_real(dtype: str) -> bool:
    return dtype in _REAL


def constant(number: Constant) -> str:
    """A constant of a block."""
    text = number.text.rstrip("fFlLuU") if "inf" not in number.text.lower() else number.text
    if not is_real(number.type.element):
        return {"true": "1", "false": "0"}.get(number.text, f"({text})")
    value = real(text)
    exact = number.type.element not in _SINGLE or "inf" in value
    return value if exact else str(int(value) * ROUNDED % MODULUS)


def computed(node: Operation, values: list[str]) -> str:
    """What an operation makes of values."""
    if isinstance(node, MathsCall):
        if node.function in _EXTREMES:
            return f"_{node.function[-3:]}({', '.join(values)})"
        return f"_any({sum(node.function.encode())}, {', '.join(values)})"
    if not isinstance(node, Tasklet):
        raise NotInterpretedError(node.op)
    if node.code in _ARITHMETIC:
        written = _ARITHMETIC[node.code].replace("P", str(MODULUS))
        return written.format(*(f"({v})" for v in values))
    sign = _SIGNS.get(node.code[-2:])
    if sign is None:
        raise NotInterpretedError(node.code)
    return f"int(({values[0]}) {sign} ({values[1]}))"


def stored(node: Operation, value: str, types: list[str], target: str) -> str:
    """What a place of the type `target` holds when what an operation makes is stored there.

    Args:
        types: of what the operation is done to.
    """
    code = node.code if isinstance(node, Tasklet) else ""
    from_real = bool(types) and is_real(types[0])
    if is_real(target):
        if isinstance(node, Tasklet) and not code.startswith("fp_") and not from_real:
            value = f"({value}) % {MODULUS}"
        if target not in _SINGLE:
            return value
        extreme = isinstance(node, MathsCall) and node.function in _EXTREMES
        if (code in _EXACT or extreme) and all(one in _SINGLE for one in types):
            return value
        return f"({value}) * {ROUNDED} % {MODULUS}"
    if code != "assign":
        plain = code.startswith(("int_s", "int_u", "int_e", "int_n", "fp_")) and code != "int_sub"
        return value if plain or not code else _fitted(value, target)
    if target == "bool":
        return f"int(({value}) != 0)"
    if from_real:
        return f"_truncated({value})"
    return value if types[0] == target else _fitted(value, target)


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
