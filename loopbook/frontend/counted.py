"""Room for arrays whose size floats among the arguments give, by way of ``int`` or ``np.ceil``, or
the greatest of an argument's whole numbers.

Before::

    x = np.zeros(int(T / dt))

After, in front of the kernel::

    size_0 = max(int(T / dt), 0) + 2
    x_0 = np.empty((size_0,), np.float64)
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from loopbook.frontend.symbols import Int

if TYPE_CHECKING:
    from loopbook.frontend.code import Code

FUNCTIONS: dict[str, Any] = {
    "math": math, "np": np, "int": int, "float": float, "min": min, "max": max, "abs": abs,
}  # fmt: skip
"""What texts of numbers call, as Python has it."""

IMPORTING = {"__import__": __import__}
"""What NumPy needs where it has not found all of its own yet."""

MOST_STEPS = 8
"""Most variables that a size is traced back through."""


def room_of(code: Code, size: Int) -> Int | None:
    """A little more than a size that numbers among the arguments and sizes of arrays give, computed
    before the loops; None where more is needed, or where the arguments at hand give none."""
    found = _Traced(code).of(size.text)
    if found is None:
        return None
    text = f"max({found}, 0) + 2"
    known = {**FUNCTIONS, **code.elements, **code.numbers, **code.facts.values}
    try:
        number = int(eval(text, {"__builtins__": IMPORTING}, known))  # text of our own
    except (ArithmeticError, ValueError, TypeError, NameError):
        return None
    return code.facts.derive(text, [], lambda: number)


class _Traced(ast.NodeTransformer):
    """Writes variables out that get their only values in front of all loops."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.steps = 0

    def of(self, text: str) -> str | None:
        try:
            return ast.unparse(self.visit(ast.parse(text, mode="eval").body))
        except LookupError:
            return None

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if name in self.code.greatest:
            return ast.parse(self.code.greatest[name], mode="eval").body
        if name in self.code.mutable:
            raise LookupError(name)
        if name in self.code.numbers or name in self.code.facts.values or name in FUNCTIONS:
            return node
        if name not in self.code.computed or self.steps == MOST_STEPS:
            raise LookupError(name)
        self.steps += 1
        return self.visit(ast.parse(self.code.computed[name], mode="eval").body)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if ast.unparse(node) not in self.code.facts.values:  # an element
            raise LookupError(ast.unparse(node))
        return node
