"""Operators that a class has of its own: calls of its methods.

Before::

    class Vector(NamedTuple):
        x: float
        y: float

        def __add__(self, other):
            return Vector(self.x + other.x, self.y + other.y)

    position = position + velocity

After: as ``position = Vector.__add__(position, velocity)``; the named tuples are not put together
into one of four items.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from types import FunctionType

from loopbook.frontend.records import Fields
from loopbook.frontend.translate import Translator
from loopbook.frontend.values import Value

BINARY: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.BitAnd: "and", ast.BitOr: "or",
    ast.BitXor: "xor", ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip
UNARY: dict[type, str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
COMPARED: dict[type, tuple[str, str]] = {
    ast.Lt: ("__lt__", "__gt__"), ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"), ast.Eq: ("__eq__", "__eq__"), ast.NotEq: ("__ne__", "__ne__"),
}  # fmt: skip


def method(value: Value, name: str) -> FunctionType | None:
    """A method of the class that a value is an object of, if it was written for that class."""
    if not isinstance(value, Fields):
        return None
    found = inspect.getattr_static(value.kind, name, None)
    if not isinstance(found, FunctionType) or found.__code__.co_filename == "<string>":
        return None  # a dataclass's own
    return found


def binary(t: Translator, operator: type, left: Value, right: Value) -> Value | None:
    """``left op right`` by a method of one of their classes; None where neither has one."""
    name = BINARY[operator]
    return _first(t, ((left, f"__{name}__", right), (right, f"__r{name}__", left)))


def binary_in_place(t: Translator, operator: type, left: Value, right: Value) -> Value | None:
    """``left op= right``, the same."""
    if method(left, f"__i{BINARY[operator]}__"):
        raise t.code.fail("an operator in place that a class has of its own")
    return binary(t, operator, left, right)


def compared(t: Translator, operator: type, left: Value, right: Value) -> Value | None:
    """A comparison, the same."""
    if operator not in COMPARED:
        return None
    name, other = COMPARED[operator]
    if operator is ast.NotEq and method(left, "__ne__") is None and method(left, "__eq__"):
        raise t.code.fail("!= by way of __eq__ of a class; write not ... == ...")
    return _first(t, ((left, name, right), (right, other, left)))


def unary(t: Translator, operator: type, value: Value) -> Value | None:
    """``-value`` and the like, the same."""
    return _called(t, value, UNARY[operator])


def _first(t: Translator, ways: Sequence[tuple[Value, str, Value]]) -> Value | None:
    for owner, name, other in ways:
        if method(owner, name):
            return _called(t, owner, name, other)
    return None


def _called(t: Translator, owner: Value, name: str, *others: Value) -> Value | None:
    from loopbook.frontend.inline import inline

    function = method(owner, name)
    return None if function is None else inline(t, function, [owner, *others], {})


__all__ = ["binary", "binary_in_place", "compared", "method", "unary"]
