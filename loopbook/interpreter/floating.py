"""Floating-point numbers as C computes with them, one operation after the other.

What has no value is a fault: a division by zero, the root of what is negative, a number that is too
large for its type, an index made of one. Infinity is a number for programs that begin with it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

from loopbook.interpreter.faults import FaultError, NotInterpretedError
from loopbook.interpreter.runtime import UNSET, products
from loopbook.interpreter.spelling import is_real, kept, operation, whole
from loopbook.program.dataflow import Constant, MathsCall, Operation, Tasklet

_REAL_OPERATIONS = {
    "fp_add": "{0} + {1}",
    "fp_sub": "{0} - {1}",
    "fp_mul": "{0} * {1}",
    "fp_neg": "-{0}",
    "fp_fma": "{0} * {1} + {2}",
    "fp_div": "{0} / {1}",
    "fp_rem": "_maths['fmod']({0}, {1})",
}

_ROUNDED = {"float": "_single", "half": "_half"}

_RANGES = {
    **{f"int{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}


class Floating:
    """See `loopbook.interpreter.arithmetic.Arithmetic`."""

    def constant(self, number: Constant) -> str:
        kind = number.type.element
        if not is_real(kind):
            return whole(number.text)
        infinite = "inf" in number.text.lower()
        text = number.text if infinite else number.text.rstrip("fFlLuU")
        try:
            value = math.copysign(math.inf, -text.startswith("-") or 1) if infinite else float(text)
        except ValueError:
            raise NotInterpretedError(f"the constant {text}") from None
        if math.isnan(value):
            raise NotInterpretedError("a constant that is no number")
        if kind in _ROUNDED and not infinite:
            value = _RUNTIME[_ROUNDED[kind]](value)
        return f"float('{value!r}')" if math.isinf(value) else repr(value)

    def computed(self, node: Operation, values: list[str]) -> str:
        if isinstance(node, MathsCall):
            if node.function not in FUNCTIONS:
                raise NotInterpretedError(node.op)
            return f"_maths[{node.function!r}]({', '.join(values)})"
        if isinstance(node, Tasklet) and node.code in _REAL_OPERATIONS:
            return _REAL_OPERATIONS[node.code].format(*(f"({v})" for v in values))
        if isinstance(node, Tasklet) and node.code in ("fp_ord", "fp_uno"):
            return str(int(node.code == "fp_ord"))
        return operation(node, values)

    def stored(self, node: Operation, value: str, types: list[str], target: str) -> str:
        code = node.code if isinstance(node, Tasklet) else ""
        from_real = bool(types) and is_real(types[0])
        if is_real(target):
            if code and not code.startswith("fp_") and not from_real:
                value = f"float({value})"
            if target == "bfloat":
                raise NotInterpretedError("numbers of the type bfloat")
            moved = code == "assign" and types[0] == target
            return value if moved or target not in _ROUNDED else f"{_ROUNDED[target]}({value})"
        if target == "bool":
            return f"int(({value}) != 0)"
        if from_real and (code == "assign" or isinstance(node, MathsCall)):
            low, high = _RANGES.get(target, _RANGES["int64"])
            return f"_truncated({value}, {low}, {high})"
        return kept(code, value, types[0] if types else "", target)

    @property
    def runtime(self) -> dict[str, Any]:
        return {**_RUNTIME, "_gemm": products(lambda number: number)}


def _packed(form: str) -> Callable[[Any], Any]:
    """Rounds to a type; what is larger than all of its numbers is a fault."""
    pack, unpack = struct.Struct(form).pack, struct.Struct(form).unpack

    def rounded(value: Any) -> Any:
        if value is UNSET:
            return value
        return unpack(pack(value))[0]

    return rounded


def _truncated(value: Any, low: int, high: int) -> int:
    """C's conversion of a real number, which has no result where that has no such integer."""
    found = math.trunc(value)
    if not low <= found <= high:
        raise FaultError(f"{value:g} is no integer of its type")
    return found


def _rounded(value: float) -> float:
    """C's round: halves away from zero."""
    return math.copysign(math.floor(abs(value) + 0.5), value)


def _power(base: float, exponent: float) -> float:
    found = base**exponent
    if isinstance(found, complex):
        raise FaultError("a broken power of a negative number")
    return found


_SAME = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cos"),
    *("cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "fmod", "hypot", "lgamma", "log"),
    *("log10", "log1p", "log2", "nextafter", "remainder", "sin", "sinh", "sqrt", "tan", "tanh"),
)
"""Functions that Python has too."""

FUNCTIONS: Mapping[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in _SAME},
    "tgamma": math.gamma,
    "pow": _power,
    "exp10": lambda x: 10.0**x,
    "ceil": lambda x: float(math.ceil(x)),
    "floor": lambda x: float(math.floor(x)),
    "trunc": lambda x: float(math.trunc(x)),
    "round": _rounded,
    "lround": _rounded,
    "llround": _rounded,
    "rint": lambda x: float(round(x)),
    "nearbyint": lambda x: float(round(x)),
    "roundeven": lambda x: float(round(x)),
    "lrint": lambda x: float(round(x)),
    "llrint": lambda x: float(round(x)),
    "fmax": lambda x, y: max(x, y),
    "fmin": lambda x, y: min(x, y),
    "max": lambda x, y: max(x, y),
    "min": lambda x, y: min(x, y),
    "fdim": lambda x, y: max(x - y, 0.0),
    "fma": lambda x, y, z: x * y + z,
}
"""docc's functions of mathematics, as far as they are interpreted."""

_RUNTIME: dict[str, Any] = {
    "_maths": FUNCTIONS,
    "_single": _packed("<f"),
    "_half": _packed("<e"),
    "_truncated": _truncated,
}
